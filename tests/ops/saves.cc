// `saves` is enough: with every other input and output overwritten by NaN after the forward run,
// gradients come out the same. `saves` is not too much, either: without any one entry, some
// sample's rule fails.

#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/backward.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/storage.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"
#include "tests/ops/on_device.h"

namespace firn::testing {
namespace {

bool IsSaved(const OpDef& op, Saved::Kind kind, size_t i) {
  const size_t last = op.inputs.size() - 1;
  const size_t declared = kind == Saved::kInput && op.variadic() && i > last ? last : i;
  for (const Saved& s : op.saves) {
    if (s.kind == kind && static_cast<size_t>(s.index) == declared) return true;
  }
  return false;
}

// A recorded call on its own copies of the inputs.
struct Recorded {
  std::vector<Tensor> inputs, leaves, roots, outputs, seeds;

  Recorded(const OpDef& op, const Call& call) : inputs(CopiesOf(call.inputs)) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].defined() || !IsFloating(inputs[i].dtype()) || DeclOf(op, i).inout) continue;
      leaves.push_back(inputs[i].SetRequiresGrad());
    }
    for (Tensor& t : Apply(op, RefsOf(inputs), call.attrs.ref())) outputs.push_back(std::move(t));
    for (const Tensor& y : outputs) {
      if (!y.requires_grad()) continue;
      roots.push_back(y);
      seeds.push_back(CopyOf(Uniform(y.shape(), -1, 1, 7)).To(y.dtype()).To(y.device()));
    }
  }
  std::vector<Tensor> Gradients() const {
    return Grad(roots, leaves, {.seeds = seeds, .allow_unused = true});
  }
  bool Holds(const Storage* storage, const OpDef& op) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].defined() && inputs[i].impl()->storage.get() == storage &&
          IsSaved(op, Saved::kInput, i)) {
        return true;
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].impl()->storage.get() == storage && IsSaved(op, Saved::kOutput, i))
        return true;
    }
    return false;
  }
};

// Overwrites elements without a change of version, so that the tape does not notice.
void Poison(const Tensor& t) {
  if (!t.defined()) return;
  Storage& storage = *t.impl()->storage;
  WriteBytes(t.device(), storage.data(), std::vector<unsigned char>(storage.bytes(), 0xff));
}

void CheckSufficient(const OpDef& op, const Call& call) {
  const Recorded plain(op, call), poisoned(op, call);
  if (plain.roots.empty()) return;
  const std::vector<Tensor> want = plain.Gradients();
  for (const std::vector<Tensor>* tensors : {&poisoned.inputs, &poisoned.outputs}) {
    for (const Tensor& t : *tensors) {
      if (t.defined() && !poisoned.Holds(t.impl()->storage.get(), op)) Poison(t);
    }
  }
  const std::vector<Tensor> got = poisoned.Gradients();
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(SameBits(got[i], want[i])) << "gradient " << i << " reads what is not saved";
  }
}

bool FailsWithout(const OpDef& op, size_t entry, const Call& call) {
  OpDef less = op;
  less.saves.erase(less.saves.begin() + static_cast<std::ptrdiff_t>(entry));
  const Recorded r(less, call);
  if (r.roots.empty()) return false;
  try {
    r.Gradients();
  } catch (const Error& e) {
    return e.code() == absl::StatusCode::kInternal;
  }
  return false;
}

}  // namespace

void CheckSaves(const Subject& subject, const Samples& samples) {
  if (subject.composite()) return;
  const OpDef& op = subject;
  if (op.grad == nullptr) {
    EXPECT_TRUE(op.saves.empty()) << "saves without a gradient rule";
    return;
  }
  std::vector<bool> needed(op.saves.size(), false);
  for (const Sample& sample : samples.samples) {
    const std::optional<Call> call = InF64(op, sample);
    if (!call) continue;
    SCOPED_TRACE(call->name);
    if (!op.random) CheckSufficient(op, *call);
    for (size_t s = 0; s < needed.size(); ++s) {
      if (!needed[s]) needed[s] = FailsWithout(op, s, *call);
    }
  }
  for (size_t s = 0; s < needed.size(); ++s) {
    EXPECT_TRUE(needed[s]) << (op.saves[s].kind == Saved::kInput ? "input " : "output ")
                           << op.saves[s].index << " is saved but no sample's gradient reads it";
  }
}

}  // namespace firn::testing

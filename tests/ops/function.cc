// Compares functions that users call with Apply, on equal inputs, with and without wanted
// gradients: the results, inputs written in place and the gradients must be the same bits. A
// function may return only the first of an operation's results. This finds a function that runs
// another operation, drops an option or does not record.

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "firn/autograd/backward.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/convert.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace firn::testing {
namespace {

constexpr size_t kAll = kMaxOutputs;

// Everything that a call leaves behind.
struct Effects {
  std::string error;
  std::vector<Tensor> inputs, results, gradients;
};

Tensor SeedFor(const Tensor& y) {
  NoGradScope no_grad;
  return Cast(CopyOf(Uniform(y.shape(), -1, 1, 7)), y.dtype());
}

// The effects of body(inputs), where `wanted` inputs want gradients of the first `count` results.
template <class Body>
Effects EffectsOf(const OpDef& op, const Call& call, const std::vector<size_t>& wanted,
                  size_t count, const Body& body) {
  Effects e;
  std::vector<Tensor> leaves, roots;
  GradOptions options{.allow_unused = true};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& t = call.inputs[i];
    e.inputs.push_back(!t.defined() || !DeclOf(op, i).inout ? t : CopyOf(t));
  }
  for (size_t i : wanted) {
    e.inputs[i] = e.inputs[i].Detach();
    leaves.push_back(e.inputs[i].SetRequiresGrad());
  }
  try {
    for (Tensor& t : body(e.inputs)) {
      if (e.results.size() < count) e.results.push_back(std::move(t));
    }
    for (const Tensor& y : e.results) {
      if (!y.requires_grad()) continue;
      roots.push_back(y);
      options.seeds.push_back(SeedFor(y));
    }
    if (!roots.empty()) {
      for (Tensor& g : Grad(roots, leaves, options)) e.gradients.push_back(std::move(g));
    }
  } catch (const Error& error) {
    e.error = error.what();
  }
  return e;
}

void ExpectSameBits(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                    const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what << "s";
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(SameBits(got[i], want[i])) << what << " " << i;
    if (!got[i].defined() || !want[i].defined()) continue;
    EXPECT_EQ(got[i].requires_grad(), want[i].requires_grad()) << what << " " << i;
  }
}

void Compare(const OpDef& op, const TestedFunction& function, const Call& call,
             const std::vector<size_t>& wanted) {
  const Effects got = EffectsOf(op, call, wanted, kAll, [&](const std::vector<Tensor>& in) {
    return function(In(in), call.attrs.ref());
  });
  const bool all = got.results.empty() || !got.error.empty();
  const Effects want =
      EffectsOf(op, call, wanted, all ? kAll : got.results.size(),
                [&](const std::vector<Tensor>& in) { return Subject(op)(in, call.attrs.ref()); });
  EXPECT_EQ(got.error.empty(), want.error.empty()) << got.error << want.error;
  if (!got.error.empty() || !want.error.empty()) return;
  ExpectSameBits(got.results, want.results, "result");
  ExpectSameBits(got.inputs, want.inputs, "input");
  ExpectSameBits(got.gradients, want.gradients, "gradient");
}

}  // namespace

void CheckFunction(const Subject& subject, const Samples& samples) {
  if (subject.composite() || samples.functions.empty()) return;
  const OpDef& op = subject;
  int checked = 0;
  for (const Sample& sample : samples.samples) {
    if (!sample.check_function) continue;
    // Functions may refuse to lose a gradient that the operation does not know about.
    const bool recorded = op.grad != nullptr || !op.any_inout;
    const std::vector<size_t> wanted =
        recorded ? WantedGradients(op, sample) : std::vector<size_t>();
    for (const Call& call : DTypeVariants(op, sample)) {
      for (size_t f = 0; f < samples.functions.size(); ++f) {
        SCOPED_TRACE(absl::StrCat(call.name, ", function ", f));
        Compare(op, samples.functions[f], call, {});
        if (!wanted.empty()) Compare(op, samples.functions[f], call, wanted);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 0) << "no sample is one that the function can be called for";
}

}  // namespace firn::testing

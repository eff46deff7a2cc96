// Judging calls that may be wrong.

#include "tests/ops/mutants.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "firn/autograd/backward.h"
#include "firn/device/cpu_allocator.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"
#include "tests/ops/compare.h"

namespace firn::testing {
namespace {

constexpr size_t kLimit = size_t{256} << 20;
constexpr int64_t kMaxSeed = 1 << 20;  // a view can be far larger than memory

// A crash says nothing about the call that made it; with this set the last line printed does.
// FIRN_CONFORMANCE_VERBOSE: set to anything, each wrong call is printed before it is made.
bool Verbose() {
  static const bool verbose = std::getenv("FIRN_CONFORMANCE_VERBOSE") != nullptr;
  return verbose;
}

void ExpectSpecs(const OpDef& op, const Call& call, const TensorList& out) {
  std::vector<TensorSpec> specs(op.outputs.size());
  const std::vector<TensorRef> refs = RefsOf(call.inputs);
  InferContext c(refs, call.attrs.ref(), absl::MakeSpan(specs));
  for (const Tensor& t : call.inputs) {
    if (t.defined()) c.device = t.device();
  }
  const absl::Status status = op.infer(c);
  ASSERT_TRUE(status.ok()) << status;
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i].shape(), specs[i].shape);
    EXPECT_EQ(out[i].dtype(), specs[i].dtype);
  }
}

// Runs backward through it, too, then with incoming gradients that do not fit.
void RunBackward(const Call& call, const TensorList& out) {
  std::vector<Tensor> leaves;
  for (const Tensor& t : call.inputs) {
    if (t.requires_grad()) leaves.push_back(t);
  }
  for (const Tensor& y : out) {
    if (!y.requires_grad() || leaves.empty() || y.num_elements() > kMaxSeed) continue;
    Dims longer = y.shape().dims();
    if (longer.rank == 0) longer.push_back(1);
    ++longer[0];
    const absl::StatusOr<Shape> wrong = Shape::Make(longer.span());
    if (wrong.ok() && wrong->num_elements() <= kMaxSeed) {
      const Tensor seed = *AllocateTensor(TensorSpec::Contiguous(y.dtype(), *wrong, y.device()));
      EXPECT_THROW(Grad({y}, leaves, {.seeds = {seed}, .retain_graph = true}), Error);
    }
    const Tensor seed = *AllocateTensor(TensorSpec::Contiguous(y.dtype(), y.shape(), y.device()));
    std::fill_n(seed.impl()->data, seed.spec().bytes(), char{0});
    for (const Tensor& g : Grad({y}, leaves, {.seeds = {seed}, .allow_unused = true})) {
      EXPECT_TRUE(!g.defined() || IsFloating(g.dtype()));
    }
  }
}

}  // namespace

MemoryLimit::MemoryLimit() { CpuAllocator().SetLimit(kLimit); }
MemoryLimit::~MemoryLimit() { CpuAllocator().SetLimit(std::nullopt); }

void ExpectRefusedOrRight(const Subject& subject, const Call& call) {
  SCOPED_TRACE(call.name);
  if (Verbose()) std::cerr << subject->name << ": " << call.name << std::endl;
  const Outcome plain = Run(subject, call);  // nothing but firn::Error may come out
  Call recorded{call.name, CopiesOf(call.inputs), call.attrs};
  for (size_t i = 0; i < recorded.inputs.size(); ++i) {
    Tensor& t = recorded.inputs[i];
    if (t.defined() && IsFloating(t.dtype()) && !DeclOf(subject, i).inout) t.SetRequiresGrad();
  }
  const std::vector<Tensor> before = CopiesOf(recorded.inputs);
  try {
    const TensorList out = subject(recorded.inputs, recorded.attrs.ref());
    EXPECT_TRUE(plain.status.ok()) << plain.error;
    if (!subject.composite()) ExpectSpecs(subject, recorded, out);
    if (subject.differentiable()) RunBackward(recorded, out);
  } catch (const Error&) {
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (DeclOf(subject, i).inout) continue;
    EXPECT_TRUE(SameBits(recorded.inputs[i], before[i])) << "input " << i << " was changed";
  }
}

}  // namespace firn::testing

// mean: the sum over dimensions, divided by how many elements make one result.

#include "tensor/ops/mean.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/reduce.h"
#include "tensor/op.h"
#include "tensor/ops/mean_fn.h"
#include "tensor/ops/mul.h"
#include "tensor/reduction.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) { return InferReduction(c, c.dtype(0)); }

absl::Status Run(KernelContext& k) {
  const int64_t count = ReducedCount(k.in_spec(0).shape, k.attrs<ReduceAttrs>());
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::Reduce<T, T>(k, MeanReducer<AccumulatorOf<T>>(count));
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const ReduceAttrs& a = g.attrs<ReduceAttrs>();
  const double count = static_cast<double>(ReducedCount(g.input_shape(0), a));
  g.set_grad_input(0, SpreadReduced(Mul(g.grad_output(), 1 / count), a, g.input_shape(0)));
}

FIRN_REGISTER_OP(mean) {
  return {
      .name = "mean",
      .doc = "The mean over dims (empty: all).",
      .inputs = {{.name = "x", .dtypes = kFloating}},
      .outputs = {{.name = "mean"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = {cpu::ReductionKernel(Run)},
  };
}

}  // namespace

Tensor Mean(const Tensor& x, const DimList& dims, bool keepdim) {
  static const OpDef& op = Op("mean");
  return Apply1(op, {x}, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

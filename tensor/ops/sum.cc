// sum over dimensions.

#include "tensor/ops/sum.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/reduce.h"
#include "tensor/kernels/cpu/reducers.h"
#include "tensor/op.h"
#include "tensor/ops/expand.h"
#include "tensor/ops/reshape.h"
#include "tensor/reduction.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const DType in = c.dtype(0);
  return InferReduction(c, IsFloating(in) ? in : DType::kI64);
}

absl::Status Run(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    cpu::Reduce<Out, T>(k, cpu::SumReducer<AccumulatorOf<T>>());
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  g.set_grad_input(0, SpreadReduced(g.grad_output(), g.attrs<ReduceAttrs>(), g.input_shape(0)));
}

FIRN_REGISTER_OP(sum) {
  return {
      .name = "sum",
      .doc = "The sum over dims (empty: all).",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "sum"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = {cpu::ReductionKernel(Run)},
  };
}

}  // namespace

Tensor Sum(const Tensor& x, const DimList& dims, bool keepdim) {
  static const OpDef& op = Op("sum");
  return Apply1(op, {x}, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

// sum over dimensions.
//
// mean: the sum over dimensions, divided by how many elements make one result.
//
// sum_to: composed of sum and reshape; not an operation of its own.

#include "tensor/ops/reduce/sum.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/reduce.h"
#include "tensor/kernels/reducers.h"
#include "tensor/op.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/reduce/reduction.h"
#include "tensor/ops/reduce/sum_fn.h"
#include "tensor/ops/shape/expand.h"
#include "tensor/ops/shape/views.h"

namespace firn {
namespace {

absl::Status InferSum(InferContext& c) {
  const DType in = c.dtype(0);
  return InferReduction(c, IsFloating(in) ? in : DType::kI64);
}

absl::Status RunSum(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    cpu::Reduce<Out, T>(k, SumReducer<AccumulatorOf<T>>());
  });
  return absl::OkStatus();
}

void GradSum(GradContext& g) {
  g.set_grad_input(0, SpreadReduced(g.grad_output(), g.attrs<ReduceAttrs>(), g.input_shape(0)));
}

FIRN_REGISTER_OP(sum) {
  return {
      .doc = "The sum over dims (empty: all).",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "sum"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = InferSum,
      .grad = GradSum,
      .kernels = {cpu::ReductionKernel(RunSum)},
  };
}

absl::Status InferMean(InferContext& c) { return InferReduction(c, c.dtype(0)); }

absl::Status RunMean(KernelContext& k) {
  const int64_t count = ReducedCount(k.in_spec(0).shape, k.attrs<ReduceAttrs>());
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::Reduce<T, T>(k, MeanReducer<AccumulatorOf<T>>(count));
  });
  return absl::OkStatus();
}

void GradMean(GradContext& g) {
  const ReduceAttrs& a = g.attrs<ReduceAttrs>();
  const double count = static_cast<double>(ReducedCount(g.input_shape(0), a));
  g.set_grad_input(0, SpreadReduced(Mul(g.grad_output(), 1 / count), a, g.input_shape(0)));
}

FIRN_REGISTER_OP(mean) {
  return {
      .doc = "The mean over dims (empty: all).",
      .inputs = {{.name = "x", .dtypes = kFloating}},
      .outputs = {{.name = "mean"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = InferMean,
      .grad = GradMean,
      .kernels = {cpu::ReductionKernel(RunMean)},
  };
}

}  // namespace

Tensor Sum(const Tensor& x, const DimList& dims, bool keepdim) {
  return Apply1(TheOp<"sum">(), {x}, ReduceAttrs{dims, keepdim});
}

Tensor Mean(const Tensor& x, const DimList& dims, bool keepdim) {
  return Apply1(TheOp<"mean">(), {x}, ReduceAttrs{dims, keepdim});
}

Tensor SumTo(const Tensor& x, const Shape& shape) {
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), "sum_to");
  if (x.shape() == shape) return x;
  if (!BroadcastsTo(shape, x.shape())) {
    RaiseStatus(
        InvalidArgument("x ", x.shape().ToString(), " was not broadcast from ", shape.ToString()),
        "sum_to");
  }
  const int lead = x.rank() - shape.rank();
  DimList dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < lead || (shape[i - lead] == 1 && x.shape()[i] != 1)) dims.push_back(i);
  }
  return Reshape(dims.empty() ? x : Sum(x, dims, true), shape);
}

}  // namespace firn

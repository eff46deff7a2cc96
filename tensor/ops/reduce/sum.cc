// sum and mean over dimensions.
//
// sum_to: composed of sum and reshape; not an operation of its own.

#include "firn/tensor/ops/reduce/sum.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/reduction_ops.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

void GradSum(GradContext& g) {
  g.set_grad_input(0, SpreadReduced(g.grad_output(), g.attrs<ReduceAttrs>(), g.input_shape(0)));
}

// Of matrices; other sums over all dimensions but the channels' are channel_sum's.
bool SumsChannels(AttrsRef attrs, const Shape& x) {
  const DimList& dims = attrs.get<ReduceAttrs>().dims;
  return x.rank() == 2 && dims.size() == 1 && (dims[0] == 0 || dims[0] == -2);
}
constexpr GraphTraits kSumTraits = {.sums_channels = SumsChannels};

FIRN_REGISTER_OP(sum) {
  return WithTraits(kSumTraits,
                    cpu::ReductionOp<SumReducer>("The sum over dims (empty: all).", GradSum));
}

void GradMean(GradContext& g) {
  const ReduceAttrs& a = g.attrs<ReduceAttrs>();
  const double count = static_cast<double>(ReducedCount(g.input_shape(0), a));
  g.set_grad_input(0, SpreadReduced(MulInFloat(g.grad_output(), 1 / count), a, g.input_shape(0)));
}

FIRN_REGISTER_OP(mean) {
  return cpu::ReductionOp<MeanReducer>("The mean over dims (empty: all).", GradMean);
}

}  // namespace

Tensor Sum(const Tensor& x, const DimList& dims, Flag keepdim) {
  return Apply1(TheOp<"sum">(), {x}, ReduceAttrs{dims, keepdim});
}

Tensor Mean(const Tensor& x, const DimList& dims, Flag keepdim) {
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

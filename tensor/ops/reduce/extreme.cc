// amax and amin: the largest and the smallest element over dimensions. See reduction.h for how ties
// share the gradient.
//
// max and min along a dimension: argmax or argmin, and the elements gathered there.

#include "firn/tensor/ops/reduce/extreme.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/reduction_ops.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/reduce/reduction.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(amax) {
  return cpu::ReductionOp<MaxReducer>("The largest element over dims (empty: all).", GradOfExtreme,
                                      {Saved::Input(0), Saved::Output(0)});
}

FIRN_REGISTER_OP(amin) {
  return cpu::ReductionOp<MinReducer>("The smallest element over dims (empty: all).", GradOfExtreme,
                                      {Saved::Input(0), Saved::Output(0)});
}

}  // namespace

Tensor Amax(const Tensor& x, const DimList& dims, Flag keepdim) {
  return Apply1(TheOp<"amax">(), {x}, ReduceAttrs{dims, keepdim});
}

Tensor Amin(const Tensor& x, const DimList& dims, Flag keepdim) {
  return Apply1(TheOp<"amin">(), {x}, ReduceAttrs{dims, keepdim});
}

ValuesAndIndices Max(const Tensor& x, Integer dim, Flag keepdim) {
  return PickedAlong(x, Argmax(x, dim, true), dim, keepdim);
}

ValuesAndIndices Min(const Tensor& x, Integer dim, Flag keepdim) {
  return PickedAlong(x, Argmin(x, dim, true), dim, keepdim);
}

}  // namespace firn

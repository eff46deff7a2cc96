// all and any: the logical and and or over dimensions.

#include "firn/tensor/ops/reduce/truth.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/reduction_ops.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(all) {
  return cpu::ReductionOp<AllReducer>(
      "Whether no element over dims (empty: all) is zero. Not differentiable.");
}

FIRN_REGISTER_OP(any) {
  return cpu::ReductionOp<AnyReducer>(
      "Whether any element over dims (empty: all) is not zero. Not differentiable.");
}

}  // namespace

Tensor All(const Tensor& x, const DimList& dims, Flag keepdim) {
  return Apply1(TheOp<"all">(), {x}, ReduceAttrs{dims, keepdim});
}

Tensor Any(const Tensor& x, const DimList& dims, Flag keepdim) {
  return Apply1(TheOp<"any">(), {x}, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

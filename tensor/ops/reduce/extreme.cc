// amax: the largest element over dimensions. See reduction.h for how ties share the gradient.
//
// amin: the smallest element over dimensions. See reduction.h for how ties share the gradient.
//
// max along a dimension: argmax, and the elements gathered there.
//
// min along a dimension: argmin, and the elements gathered there.

#include "tensor/ops/reduce/extreme.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/extreme.h"
#include "tensor/op.h"
#include "tensor/ops/reduce/position.h"
#include "tensor/ops/reduce/reduction.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(amax) {
  return {
      .doc = "The largest element over dims (empty: all).",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "max"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = InferExtreme,
      .grad = GradOfExtreme,
      .saves = {Saved::Input(0), Saved::Output(0)},
      .kernels = {cpu::ReductionKernel(cpu::RunExtreme<true>)},
  };
}

FIRN_REGISTER_OP(amin) {
  return {
      .doc = "The smallest element over dims (empty: all).",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "min"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = InferExtreme,
      .grad = GradOfExtreme,
      .saves = {Saved::Input(0), Saved::Output(0)},
      .kernels = {cpu::ReductionKernel(cpu::RunExtreme<false>)},
  };
}

}  // namespace

Tensor Amax(const Tensor& x, const DimList& dims, bool keepdim) {
  return Apply1(TheOp<"amax">(), {x}, ReduceAttrs{dims, keepdim});
}

Tensor Amin(const Tensor& x, const DimList& dims, bool keepdim) {
  return Apply1(TheOp<"amin">(), {x}, ReduceAttrs{dims, keepdim});
}

ValuesAndIndices Max(const Tensor& x, int64_t dim, bool keepdim) {
  return PickedAlong(x, Argmax(x, dim, true), dim, keepdim);
}

ValuesAndIndices Min(const Tensor& x, int64_t dim, bool keepdim) {
  return PickedAlong(x, Argmin(x, dim, true), dim, keepdim);
}

}  // namespace firn

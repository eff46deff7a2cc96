// amax: the largest element over dimensions. See reduction.h for how ties share the gradient.

#include "tensor/ops/amax.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/extreme.h"
#include "tensor/op.h"
#include "tensor/reduction.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(amax) {
  return {
      .name = "amax",
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

}  // namespace

Tensor Amax(const Tensor& x, const DimList& dims, bool keepdim) {
  static const OpDef& op = Op("amax");
  return Apply1(op, {x}, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

// amin: the smallest element over dimensions. See reduction.h for how ties share the gradient.

#include "tensor/ops/amin.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/extreme.h"
#include "tensor/op.h"
#include "tensor/reduction.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(amin) {
  return {
      .name = "amin",
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

Tensor Amin(const Tensor& x, const DimList& dims, bool keepdim) {
  static const OpDef& op = Op("amin");
  return Apply1(op, {x}, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

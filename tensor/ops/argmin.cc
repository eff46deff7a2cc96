// argmin: where the smallest element stands. See kernels/cpu/arg_reduce.h.

#include "tensor/ops/argmin.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/arg_reduce.h"
#include "tensor/op.h"
#include "tensor/reduction.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(argmin) {
  return {
      .name = "argmin",
      .doc = "The index of the first smallest element. Not differentiable.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "index"}},
      .attrs = AttrsOf<ArgReduceAttrs>(),
      .infer = InferArgReduction,
      .kernels = {{.name = "loop",
                   .workspace = cpu::ArgReduceWorkspace,
                   .run = cpu::RunArgReduce<false>}},
  };
}

const OpDef& ArgMinOp() {
  static const OpDef& op = Op("argmin");
  return op;
}

}  // namespace

Tensor Argmin(const Tensor& x) { return Apply1(ArgMinOp(), {x}, ArgReduceAttrs{}); }
Tensor Argmin(const Tensor& x, int64_t dim, bool keepdim) {
  return Apply1(ArgMinOp(), {x}, ArgReduceAttrs{dim, false, keepdim});
}

}  // namespace firn

// argmax: where the largest element stands. See kernels/cpu/arg_reduce.h.

#include "tensor/ops/argmax.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/arg_reduce.h"
#include "tensor/op.h"
#include "tensor/reduction.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(argmax) {
  return {
      .name = "argmax",
      .doc = "The index of the first largest element. Not differentiable.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "index"}},
      .attrs = AttrsOf<ArgReduceAttrs>(),
      .infer = InferArgReduction,
      .kernels = {{.name = "loop",
                   .workspace = cpu::ArgReduceWorkspace,
                   .run = cpu::RunArgReduce<true>}},
  };
}

const OpDef& ArgMaxOp() {
  static const OpDef& op = Op("argmax");
  return op;
}

}  // namespace

Tensor Argmax(const Tensor& x) { return Apply1(ArgMaxOp(), {x}, ArgReduceAttrs{}); }
Tensor Argmax(const Tensor& x, int64_t dim, bool keepdim) {
  return Apply1(ArgMaxOp(), {x}, ArgReduceAttrs{dim, false, keepdim});
}

}  // namespace firn

// argmax: the place of the largest element. See kernels/cpu/arg_reduce.h. argmin: the place of the
// smallest element. See kernels/cpu/arg_reduce.h.

#include "firn/tensor/ops/reduce/position.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/arg_reduce.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/reduce/reduction.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(argmax) {
  return {
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

const OpDef& ArgMaxOp() { return TheOp<"argmax">(); }

FIRN_REGISTER_OP(argmin) {
  return {
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

const OpDef& ArgMinOp() { return TheOp<"argmin">(); }

}  // namespace

Tensor Argmax(const Tensor& x) { return Apply1(ArgMaxOp(), {x}, ArgReduceAttrs{}); }
Tensor Argmax(const Tensor& x, Integer dim, Flag keepdim) {
  return Apply1(ArgMaxOp(), {x}, ArgReduceAttrs{dim, false, keepdim});
}

Tensor Argmin(const Tensor& x) { return Apply1(ArgMinOp(), {x}, ArgReduceAttrs{}); }
Tensor Argmin(const Tensor& x, Integer dim, Flag keepdim) {
  return Apply1(ArgMinOp(), {x}, ArgReduceAttrs{dim, false, keepdim});
}

}  // namespace firn

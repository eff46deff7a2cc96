// logical_and, logical_or and logical_xor combine x != 0 and y != 0.
//
// logical_not: x == 0. NaN is not 0.

#include "firn/tensor/ops/compare/logical.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/compare/logical_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(logical_and) {
  return cpu::BinaryPredicateOp<LogicalAndFn>(
      "Whether x and y are both not 0. Not differentiable.");
}

FIRN_REGISTER_OP(logical_or) {
  return cpu::BinaryPredicateOp<LogicalOrFn>("Whether x or y is not 0. Not differentiable.");
}

FIRN_REGISTER_OP(logical_xor) {
  return cpu::BinaryPredicateOp<LogicalXorFn>(
      "Whether just one of x and y is not 0. Not differentiable.");
}

FIRN_REGISTER_OP(logical_not) {
  return cpu::UnaryPredicateOp<LogicalNotFn>("x == 0. Not differentiable.");
}

}  // namespace

Tensor LogicalAnd(const Tensor& x, const Tensor& y) {
  return ApplyCompared(TheOp<"logical_and">(), x, y);
}

Tensor LogicalOr(const Tensor& x, const Tensor& y) {
  return ApplyCompared(TheOp<"logical_or">(), x, y);
}

Tensor LogicalXor(const Tensor& x, const Tensor& y) {
  return ApplyCompared(TheOp<"logical_xor">(), x, y);
}

Tensor LogicalNot(const Tensor& x) { return Apply1(TheOp<"logical_not">(), {x}); }

}  // namespace firn

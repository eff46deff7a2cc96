// eq: x == y.
//
// ne: x != y.
//
// lt: x < y.
//
// le: x <= y.
//
// gt: x > y.
//
// ge: x >= y.

#include "firn/tensor/ops/compare/compare.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/compare/compare_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(eq) {
  return cpu::BinaryPredicateOp<EqFn>("x == y, broadcast. Not differentiable.");
}

FIRN_REGISTER_OP(ne) {
  return cpu::BinaryPredicateOp<NeFn>("x != y, broadcast. Not differentiable.");
}

FIRN_REGISTER_OP(lt) {
  return cpu::BinaryPredicateOp<LtFn>("x < y, broadcast. Not differentiable.");
}

FIRN_REGISTER_OP(le) {
  return cpu::BinaryPredicateOp<LeFn>("x <= y, broadcast. Not differentiable.");
}

FIRN_REGISTER_OP(gt) {
  return cpu::BinaryPredicateOp<GtFn>("x > y, broadcast. Not differentiable.");
}

FIRN_REGISTER_OP(ge) {
  return cpu::BinaryPredicateOp<GeFn>("x >= y, broadcast. Not differentiable.");
}

}  // namespace

Tensor Eq(const Tensor& x, const Tensor& y) { return ApplyCompared(TheOp<"eq">(), x, y); }

Tensor Ne(const Tensor& x, const Tensor& y) { return ApplyCompared(TheOp<"ne">(), x, y); }

Tensor Lt(const Tensor& x, const Tensor& y) { return ApplyCompared(TheOp<"lt">(), x, y); }

Tensor Le(const Tensor& x, const Tensor& y) { return ApplyCompared(TheOp<"le">(), x, y); }

Tensor Gt(const Tensor& x, const Tensor& y) { return ApplyCompared(TheOp<"gt">(), x, y); }

Tensor Ge(const Tensor& x, const Tensor& y) { return ApplyCompared(TheOp<"ge">(), x, y); }

}  // namespace firn

// The operations on bits: on integers and, where no bits move, on bool.

#include "firn/tensor/ops/elementwise/bits.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/elementwise/bits_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(bitwise_not) {
  return cpu::BitOp<BitwiseNotFn>("Every bit turned over. Not differentiable.");
}

FIRN_REGISTER_OP(bitwise_and) {
  return cpu::BinaryBitOp<BitwiseAndFn>(
      "The bits set in both x and y, broadcast. Not differentiable.");
}

FIRN_REGISTER_OP(bitwise_or) {
  return cpu::BinaryBitOp<BitwiseOrFn>("The bits set in x or y, broadcast. Not differentiable.");
}

FIRN_REGISTER_OP(bitwise_xor) {
  return cpu::BinaryBitOp<BitwiseXorFn>(
      "The bits set in just one of x and y, broadcast. Not differentiable.");
}

FIRN_REGISTER_OP(bitwise_left_shift) {
  return cpu::BinaryIntegerOp<BitwiseLeftShiftFn>("x * 2^y, broadcast. Not differentiable.");
}

FIRN_REGISTER_OP(bitwise_right_shift) {
  return cpu::BinaryIntegerOp<BitwiseRightShiftFn>(
      "floor(x / 2^y), broadcast. Not differentiable.");
}

}  // namespace

Tensor BitwiseNot(const Tensor& x) { return Apply1(TheOp<"bitwise_not">(), {x}); }
Tensor BitwiseAnd(const Tensor& x, const Tensor& y) {
  return ApplyPromoted(TheOp<"bitwise_and">(), x, y);
}
Tensor BitwiseOr(const Tensor& x, const Tensor& y) {
  return ApplyPromoted(TheOp<"bitwise_or">(), x, y);
}
Tensor BitwiseXor(const Tensor& x, const Tensor& y) {
  return ApplyPromoted(TheOp<"bitwise_xor">(), x, y);
}
Tensor BitwiseLeftShift(const Tensor& x, const Tensor& y) {
  return ApplyPromoted(TheOp<"bitwise_left_shift">(), x, y);
}
Tensor BitwiseRightShift(const Tensor& x, const Tensor& y) {
  return ApplyPromoted(TheOp<"bitwise_right_shift">(), x, y);
}

}  // namespace firn

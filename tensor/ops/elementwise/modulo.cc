// Between its jumps a remainder falls by the quotient, rounded, for each unit of y, and rises with
// x.

#include "tensor/ops/elementwise/modulo.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/elementwise/modulo_fn.h"
#include "tensor/ops/elementwise/sign.h"

namespace firn {
namespace {

template <class F>
absl::Status Run(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(cpu::CheckDivisor(k));
  return cpu::RunNumeric<F, 2>(k);
}

template <DivRounding kRounding>
void Grad(GradContext& g) {
  const Tensor& dz = g.grad_output();
  g.set_grad_input(0, dz);
  if (g.needs(1)) g.set_grad_input(1, Neg(Mul(dz, Div(g.input(0), g.input(1), kRounding))));
}

template <class F, DivRounding kRounding>
OpDef ModuloOp(std::string_view doc) {
  OpDef op = cpu::BinaryNumericOp<F>(doc, Grad<kRounding>, {Saved::Input(0), Saved::Input(1)});
  op.kernels = {cpu::ElementwiseKernel(Run<F>)};
  return op;
}

FIRN_REGISTER_OP(remainder) {
  return ModuloOp<RemainderFn, DivRounding::kFloor>("x - y * floor(x / y), broadcast.");
}

FIRN_REGISTER_OP(fmod) {
  return ModuloOp<FmodFn, DivRounding::kTrunc>("x - y * trunc(x / y), broadcast.");
}

}  // namespace

Tensor Remainder(const Tensor& x, const Tensor& y) {
  return ApplyPromoted(TheOp<"remainder">(), x, y);
}
Tensor Fmod(const Tensor& x, const Tensor& y) { return ApplyPromoted(TheOp<"fmod">(), x, y); }

}  // namespace firn

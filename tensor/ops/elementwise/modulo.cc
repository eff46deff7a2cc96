// Between its jumps a remainder falls by the quotient, rounded, for each unit of y, and rises with
// x. The gradient to y is one pass, and linear in dz.

#include "firn/tensor/ops/elementwise/modulo.h"

#include <string_view>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/modulo_fn.h"

namespace firn {
namespace {

template <class F>
absl::Status Run(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(cpu::CheckDivisor(k));
  return cpu::RunNumeric<F, 2>(k);
}

template <OpName kGrad>
Tensor GradToDivisor(const Tensor& dz, const Tensor& x, const Tensor& y) {
  return Apply1(TheOp<kGrad>(), {dz, x, y});
}

template <OpName kGrad>
void Grad(GradContext& g) {
  const Tensor& dz = g.grad_output();
  g.set_grad_input(0, dz);
  if (g.needs(1)) g.set_grad_input(1, GradToDivisor<kGrad>(dz, g.input(0), g.input(1)));
}

template <OpName kGrad>
void GradOfGrad(GradContext& g) {
  const Tensor& d = g.grad_output();
  if (g.needs(0)) g.set_grad_input(0, GradToDivisor<kGrad>(d, g.input(1), g.input(2)));
  for (int i : {1, 2}) {
    if (g.needs(i)) g.set_grad_input(i, ZerosLike(d));
  }
}

template <class F, OpName kGrad>
OpDef ModuloOp(std::string_view doc) {
  OpDef op = cpu::BinaryNumericOp<F>(doc, Grad<kGrad>, {Saved::Input(0), Saved::Input(1)});
  op.kernels = {cpu::ElementwiseKernel(Run<F>)};
  return op;
}

template <class F, OpName kGrad>
OpDef ModuloGradOp(std::string_view doc) {
  return {
      .doc = doc,
      .inputs = {{.name = "dz", .dtypes = kFloating},
                 {.name = "x", .same_dtype_as = "dz"},
                 {.name = "y", .same_dtype_as = "dz"}},
      .outputs = {{.name = "dy"}},
      .infer = InferBroadcast,
      .grad = GradOfGrad<kGrad>,
      .saves = {Saved::Input(1), Saved::Input(2)},
      .may_reuse = {{0, 0}},
      .kernels = {cpu::ElementwiseKernel(cpu::RunFloat<F, 3>)},
      .elementwise = cpu::ElementwiseOf<F>(),
  };
}

FIRN_REGISTER_OP(remainder) {
  return ModuloOp<RemainderFn, "remainder_grad">("x - y * floor(x / y), broadcast.");
}
FIRN_REGISTER_OP(remainder_grad) {
  return ModuloGradOp<RemainderGradFn, "remainder_grad">(
      "-dz * floor(x / y): the gradient of remainder to y.");
}

FIRN_REGISTER_OP(fmod) { return ModuloOp<FmodFn, "fmod_grad">("x - y * trunc(x / y), broadcast."); }
FIRN_REGISTER_OP(fmod_grad) {
  return ModuloGradOp<FmodGradFn, "fmod_grad">("-dz * trunc(x / y): the gradient of fmod to y.");
}

}  // namespace

Tensor Remainder(const Tensor& x, const Tensor& y) {
  return ApplyPromoted(TheOp<"remainder">(), x, y);
}
Tensor Fmod(const Tensor& x, const Tensor& y) { return ApplyPromoted(TheOp<"fmod">(), x, y); }

}  // namespace firn

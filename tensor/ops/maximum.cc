// maximum and its gradient, which minimum shares with its operands exchanged.

#include "tensor/ops/maximum.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/full.h"
#include "tensor/ops/maximum_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  const Tensor &dz = g.grad_output(), &x = g.input(0), &y = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, MaximumGrad(dz, x, y));
  if (g.needs(1)) g.set_grad_input(1, MaximumGrad(dz, y, x));
}

void GradOfGrad(GradContext& g) {
  if (g.needs(0)) {
    g.set_grad_input(0, MaximumGrad(g.grad_output(), g.input(1), g.input(2)));
  }
  for (int i : {1, 2}) {
    if (g.needs(i)) g.set_grad_input(i, ZerosLike(g.grad_output()));
  }
}

FIRN_REGISTER_OP(maximum) {
  return cpu::BinaryAnyOp<MaximumFn>("maximum", "The larger of x and y, broadcast.", Grad,
                                     {Saved::Input(0), Saved::Input(1)});
}
FIRN_REGISTER_OP(maximum_grad) {
  return {
      .name = "maximum_grad",
      .doc = "The gradient of maximum to its first operand.",
      .inputs = {{.name = "dz", .dtypes = kFloating},
                 {.name = "x", .same_dtype_as = "dz"},
                 {.name = "y", .same_dtype_as = "dz"}},
      .outputs = {{.name = "dx"}},
      .infer = InferBroadcast,
      .grad = GradOfGrad,
      .saves = {Saved::Input(1), Saved::Input(2)},
      .may_reuse = {{0, 0}},
      .kernels = {cpu::ElementwiseKernel(cpu::RunTernaryFloat<MaximumGradFn>)},
  };
}

}  // namespace

Tensor Maximum(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("maximum");
  return ApplyPromoted(op, x, y);
}
Tensor inner::MaximumGrad(const Tensor& dz, const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("maximum_grad");
  return Apply1(op, {dz, x, y});
}

}  // namespace firn

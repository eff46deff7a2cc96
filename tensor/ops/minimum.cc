// minimum: the gradient goes to x where y would be the maximum.

#include "tensor/ops/minimum.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/maximum.h"
#include "tensor/ops/minimum_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  const Tensor &dz = g.grad_output(), &x = g.input(0), &y = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, MaximumGrad(dz, y, x));
  if (g.needs(1)) g.set_grad_input(1, MaximumGrad(dz, x, y));
}

FIRN_REGISTER_OP(minimum) {
  return cpu::BinaryAnyOp<MinimumFn>("minimum", "The smaller of x and y, broadcast.", Grad,
                                     {Saved::Input(0), Saved::Input(1)});
}

}  // namespace

Tensor Minimum(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("minimum");
  return ApplyPromoted(op, x, y);
}

}  // namespace firn

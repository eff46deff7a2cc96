// hardtanh: x between two bounds.

#include "tensor/ops/hardtanh.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/full.h"
#include "tensor/ops/hardtanh_fn.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const HardtanhAttrs& a = c.attrs<HardtanhAttrs>();
  FIRN_RETURN_IF(!(a.min <= a.max),
                 InvalidArgument("min ", a.min, " must not be above max ", a.max));
  return InferLikeInput(c);
}

void Grad(GradContext& g) {
  g.set_grad_input(0, HardtanhGrad(g.grad_output(), g.input(0), g.attrs<HardtanhAttrs>()));
}

void GradOfGrad(GradContext& g) {
  if (g.needs(0)) {
    g.set_grad_input(0, HardtanhGrad(g.grad_output(), g.input(1), g.attrs<HardtanhAttrs>()));
  }
  if (g.needs(1)) g.set_grad_input(1, ZerosLike(g.grad_output()));
}

FIRN_REGISTER_OP(hardtanh) {
  OpDef op =
      cpu::FloatOp<HardtanhFn>("hardtanh", "x cut off at min and max.", Grad, {Saved::Input(0)});
  op.infer = Infer;
  return op;
}
FIRN_REGISTER_OP(hardtanh_grad) {
  return cpu::GradOp<HardtanhGradFn>("hardtanh_grad",
                                     "dy where min < x < max, else 0: the gradient of hardtanh.",
                                     "x", GradOfGrad, {Saved::Input(1)});
}

}  // namespace

Tensor Hardtanh(const Tensor& x, double min, double max) {
  static const OpDef& op = Op("hardtanh");
  return ApplyFloating(op, x, HardtanhAttrs{min, max});
}
Tensor inner::HardtanhGrad(const Tensor& dy, const Tensor& x, const HardtanhAttrs& attrs) {
  static const OpDef& op = Op("hardtanh_grad");
  return Apply1(op, {dy, x}, attrs);
}

}  // namespace firn

// Arcs: the inverses of sine, cosine and tangent. Their gradients are the textbook's, like those of
// trigonometry.cc. atan2: the gradient is homogeneous. It is computed for points in units of their
// own size where squares, also in higher derivatives, would leave the range. At (0, 0) it is 0. A
// gradient that is not recorded is computed by a kernel, atan2_grad.

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/elementwise/trigonometry.h"
#include "firn/tensor/ops/elementwise/trigonometry_fn.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn {
namespace {

Tensor GradAsin(const Tensor& dy, const Tensor& x) {
  return Mul(dy, Rsqrt(Mul(Sub(1, x), Add(x, 1))));
}
FIRN_REGISTER_OP(asin) {
  return InFullPrecision(cpu::FloatOp<AsinFn>("The arc sine of x.", cpu::FromInput<GradAsin>()));
}

Tensor GradAcos(const Tensor& dy, const Tensor& x) { return Neg(GradAsin(dy, x)); }
FIRN_REGISTER_OP(acos) {
  return InFullPrecision(cpu::FloatOp<AcosFn>("The arc cosine of x.", cpu::FromInput<GradAcos>()));
}

Tensor GradAtan(const Tensor& dy, const Tensor& x) { return Div(dy, Add(Square(x), 1)); }
FIRN_REGISTER_OP(atan) {
  return cpu::FloatOp<AtanFn>("The arc tangent of x.", cpu::FromInput<GradAtan>());
}

void GradAtan2(GradContext& g) {
  const Tensor &dz = g.grad_output(), &up = g.input(0), &side = g.input(1);
  if (!GradEnabled()) {
    const OpDef& op = TheOp<"atan2_grad">();
    if (g.needs(0)) g.set_grad_input(0, Apply1(op, {dz, side, up}));
    if (g.needs(1)) g.set_grad_input(1, Neg(Apply1(op, {dz, up, side})));
    return;
  }
  const DType dtype = up.dtype(), compute = ComputeDType(dtype);
  const Tensor in_y = AsDType(up, compute), in_x = AsDType(side, compute);
  const Tensor size = Maximum(Abs(Detach(in_y)), Abs(Detach(in_x)));
  // They need not be exact, only normal numbers.
  const double most = compute == DType::kF64 ? 0x1p1022 : 0x1p126;
  const Tensor far = LogicalOr(Lt(size, 0x1p-8), Gt(size, 0x1p8));
  const Tensor unit = Where(far, Clamp(Reciprocal(size), 1 / most, most), 1.0);
  const Tensor y = Mul(in_y, unit), x = Mul(in_x, unit);
  // 0 at the origin, which has no angle, like hypot's gradient there.
  const Tensor squares = Where(Eq(size, 0), 1.0, Add(Square(x), Square(y)));
  const Tensor scaled = Div(AsDType(dz, compute), squares);
  if (g.needs(0)) g.set_grad_input(0, AsDType(Mul(Mul(scaled, x), unit), dtype));
  if (g.needs(1)) g.set_grad_input(1, AsDType(Neg(Mul(Mul(scaled, y), unit)), dtype));
}
FIRN_REGISTER_OP(atan2) {
  OpDef op = cpu::BinaryFloatOp<Atan2Fn>("The angle of the point (x, y), broadcast.", GradAtan2,
                                         {Saved::Input(0), Saved::Input(1)});
  op.inputs = {{.name = "y", .dtypes = kFloating}, {.name = "x", .same_dtype_as = "y"}};
  return op;
}

FIRN_REGISTER_OP(atan2_grad) {
  return {
      .doc = "dz a / (a^2 + b^2), broadcast: the gradient of atan2. Not differentiable.",
      .inputs = {{.name = "dz", .dtypes = kFloating},
                 {.name = "a", .same_dtype_as = "dz"},
                 {.name = "b", .same_dtype_as = "dz"}},
      .outputs = {{.name = "da"}},
      .infer = InferBroadcast,
      .may_reuse = {{0, 0}},
      .kernels = {cpu::ElementwiseKernel(cpu::RunFloat<Atan2GradFn, 3>)},
      .elementwise = cpu::ElementwiseOf<Atan2GradFn>(),
  };
}

}  // namespace

Tensor Asin(const Tensor& x) { return FloatUnary<"asin">(x); }
Tensor Acos(const Tensor& x) { return FloatUnary<"acos">(x); }
Tensor Atan(const Tensor& x) { return FloatUnary<"atan">(x); }
Tensor Atan2(const Tensor& y, const Tensor& x) { return FloatBinary<"atan2">(y, x); }

}  // namespace firn

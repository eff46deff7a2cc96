// relu: max(x, 0). The gradient needs only the result, which the next layer keeps anyway.
//
// leaky_relu: two slopes. The input is kept, not the result, whose sign says nothing when alpha is
// negative.
//
// hardtanh: x between two bounds.
//
// elu and its scaled forms (selu, celu), one pass each way. The input is kept: the result does not
// tell the sides apart when alpha is negative.
//
// selu: elu with two constants; not an operation of its own.

#include "tensor/ops/activation/rectifiers.h"

#include "device/inner.h"
#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/activation/rectifiers_fn.h"
#include "tensor/ops/compare/compare.h"
#include "tensor/ops/create/constant.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/elementwise/choose.h"
#include "tensor/ops/elementwise/exponential.h"
#include "tensor/ops/elementwise/extremes.h"

namespace firn {
namespace {

void GradRelu(GradContext& g) { g.set_grad_input(0, ReluGrad(g.grad_output(), g.output(0))); }

void GradOfGradRelu(GradContext& g) {
  if (g.needs(0)) g.set_grad_input(0, ReluGrad(g.grad_output(), g.input(1)));
  if (g.needs(1)) g.set_grad_input(1, ZerosLike(g.grad_output()));
}

FIRN_REGISTER_OP(relu) {
  return cpu::NumericOp<ReluFn>("max(x, 0).", GradRelu, {Saved::Output(0)});
}
FIRN_REGISTER_OP(relu_grad) {
  return cpu::GradOp<ReluGradFn>("dy where y > 0, else 0: the gradient of relu.", "y",
                                 GradOfGradRelu, {Saved::Input(1)});
}

void GradLeakyRelu(GradContext& g) {
  g.set_grad_input(0, LeakyReluGrad(g.grad_output(), g.input(0), g.attrs<LeakyReluAttrs>()));
}

void GradOfGradLeakyRelu(GradContext& g) {
  if (g.needs(0)) {
    g.set_grad_input(0, LeakyReluGrad(g.grad_output(), g.input(1), g.attrs<LeakyReluAttrs>()));
  }
  if (g.needs(1)) g.set_grad_input(1, ZerosLike(g.grad_output()));
}

FIRN_REGISTER_OP(leaky_relu) {
  return cpu::FloatOp<LeakyReluFn>("x where x > 0, else alpha * x.", GradLeakyRelu,
                                   {Saved::Input(0)});
}
FIRN_REGISTER_OP(leaky_relu_grad) {
  return cpu::GradOp<LeakyReluGradFn>(
      "dy where x > 0, else alpha * dy: the gradient of leaky_relu.", "x", GradOfGradLeakyRelu,
      {Saved::Input(1)});
}

absl::Status Infer(InferContext& c) {
  const HardtanhAttrs& a = c.attrs<HardtanhAttrs>();
  FIRN_RETURN_IF(!(a.min <= a.max),
                 InvalidArgument("min ", a.min, " must not be above max ", a.max));
  return InferLikeInput(c);
}

void GradHardtanh(GradContext& g) {
  g.set_grad_input(0, HardtanhGrad(g.grad_output(), g.input(0), g.attrs<HardtanhAttrs>()));
}

void GradOfGradHardtanh(GradContext& g) {
  if (g.needs(0)) {
    g.set_grad_input(0, HardtanhGrad(g.grad_output(), g.input(1), g.attrs<HardtanhAttrs>()));
  }
  if (g.needs(1)) g.set_grad_input(1, ZerosLike(g.grad_output()));
}

FIRN_REGISTER_OP(hardtanh) {
  OpDef op = cpu::FloatOp<HardtanhFn>("x cut off at min and max.", GradHardtanh, {Saved::Input(0)});
  op.infer = Infer;
  return op;
}
FIRN_REGISTER_OP(hardtanh_grad) {
  return cpu::GradOp<HardtanhGradFn>("dy where min < x < max, else 0: the gradient of hardtanh.",
                                     "x", GradOfGradHardtanh, {Saved::Input(1)});
}

void GradElu(GradContext& g) {
  g.set_grad_input(0, EluGrad(g.grad_output(), g.input(0), g.attrs<EluAttrs>()));
}

// On the left e^(c x) has the derivative c e^(c x), on the right the slope is constant. The clamp
// keeps e^(c x) finite on the right, where it is not used.
void GradOfGradElu(GradContext& g) {
  const EluAttrs& a = g.attrs<EluAttrs>();
  const Tensor& x = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, EluGrad(g.grad_output(), x, a));
  if (!g.needs(1)) return;
  const double factor = a.scale * a.alpha * a.input_scale * a.input_scale;
  const Tensor e = Exp(Mul(Clamp(x, {}, 0.0), a.input_scale));
  const Tensor left = Mul(Mul(Mul(g.grad_output(), g.input(0)), factor), e);
  g.set_grad_input(1, Where(Le(x, 0), left, 0.0));
}

FIRN_REGISTER_OP(elu) {
  return cpu::FloatOp<EluFn>("scale * (x where x > 0, else alpha * (e^(x * input_scale) - 1)).",
                             GradElu, {Saved::Input(0)});
}
FIRN_REGISTER_OP(elu_grad) {
  return cpu::GradOp<EluGradFn>("The gradient of elu.", "x", GradOfGradElu,
                                {Saved::Input(0), Saved::Input(1)});
}

}  // namespace

Tensor Relu(const Tensor& x) { return Apply1(TheOp<"relu">(), {x}); }
Tensor inner::ReluGrad(const Tensor& dy, const Tensor& y) {
  return Apply1(TheOp<"relu_grad">(), {dy, y});
}

Tensor LeakyRelu(const Tensor& x, double alpha) {
  return ApplyFloating(TheOp<"leaky_relu">(), x, LeakyReluAttrs{alpha});
}
Tensor inner::LeakyReluGrad(const Tensor& dy, const Tensor& x, const LeakyReluAttrs& attrs) {
  return Apply1(TheOp<"leaky_relu_grad">(), {dy, x}, attrs);
}

Tensor Hardtanh(const Tensor& x, double min, double max) {
  return ApplyFloating(TheOp<"hardtanh">(), x, HardtanhAttrs{min, max});
}
Tensor inner::HardtanhGrad(const Tensor& dy, const Tensor& x, const HardtanhAttrs& attrs) {
  return Apply1(TheOp<"hardtanh_grad">(), {dy, x}, attrs);
}

Tensor Elu(const Tensor& x, double alpha) { return ScaledElu(x, {.alpha = alpha}); }
Tensor inner::ScaledElu(const Tensor& x, const EluAttrs& attrs) {
  return ApplyFloating(TheOp<"elu">(), x, attrs);
}
Tensor inner::EluGrad(const Tensor& dy, const Tensor& x, const EluAttrs& attrs) {
  return Apply1(TheOp<"elu_grad">(), {dy, x}, attrs);
}

Tensor Selu(const Tensor& x) {
  return ScaledElu(x, {.alpha = 1.6732632423543772, .scale = 1.0507009873554805});
}

}  // namespace firn

// relu: max(x, 0). The gradient needs only the result, which the next layer keeps anyway.
//
// leaky_relu: two slopes. The input is kept, not the result, whose sign says nothing when alpha is
// negative.
//
// prelu: the same with learnt slopes. The operation broadcasts; the function puts the slopes along
// dimension 1.
//
// hardtanh: x between two bounds. Its gradient and hardsigmoid's are 0 at the ends.
//
// elu and its scaled forms (selu, celu), one pass each way. The input is kept: the result does not
// tell the sides apart when alpha is negative.
//
// rrelu, concat_elu, concat_relu: made of operations. An x of 0 counts as below 0, as in PyTorch.

#include "firn/tensor/ops/activation/rectifiers.h"

#include <cmath>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/activation/rectifiers_fn.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

constexpr GraphTraits kRelu = {.activation = FusedActivation::kRelu};
FIRN_REGISTER_OP(relu) {
  return WithTraits(
      kRelu, cpu::NumericOp<ReluFn>("max(x, 0).", cpu::FromOutput<cpu::GradBy<"relu_grad">>()));
}
FIRN_REGISTER_OP(relu_grad) {
  return cpu::GradOp<ReluGradFn>("dy where y > 0, else 0: the gradient of relu.", "y",
                                 cpu::OfGradient<cpu::GradBy<"relu_grad">>());
}

FIRN_REGISTER_OP(leaky_relu) {
  return cpu::FloatOp<LeakyReluFn>(
      "x where x > 0, else alpha * x.",
      cpu::FromInput<cpu::GradBy<"leaky_relu_grad", LeakyReluAttrs>>());
}
FIRN_REGISTER_OP(leaky_relu_grad) {
  return cpu::GradOp<LeakyReluGradFn>(
      "dy where x > 0, else alpha * dy: the gradient of leaky_relu.", "x",
      cpu::OfGradient<cpu::GradBy<"leaky_relu_grad", LeakyReluAttrs>>());
}

void GradPrelu(GradContext& g) {
  const Tensor &dy = g.grad_output(), &x = g.input(0), &weight = g.input(1);
  const Tensor positive = Gt(x, 0);
  if (g.needs(0)) g.set_grad_input(0, Where(positive, dy, Mul(dy, weight)));
  if (g.needs(1)) g.set_grad_input(1, Where(positive, 0.0, Mul(dy, x)));
}
FIRN_REGISTER_OP(prelu) {
  OpDef op = cpu::BinaryFloatOp<PreluFn>("x where x > 0, else weight * x, broadcast.", GradPrelu,
                                         {Saved::Input(0), Saved::Input(1)});
  op.inputs[1].name = "weight";
  return op;
}

FIRN_REGISTER_OP(threshold) {
  return cpu::FloatOp<ThresholdFn>("x where x > threshold, else value.",
                                   cpu::FromInput<cpu::GradBy<"threshold_grad", ThresholdAttrs>>());
}
FIRN_REGISTER_OP(threshold_grad) {
  return cpu::GradOp<ThresholdGradFn>(
      "dy where x > threshold, else 0: the gradient of threshold.", "x",
      cpu::OfGradient<cpu::GradBy<"threshold_grad", ThresholdAttrs>>());
}

absl::Status InferHardtanh(InferContext& c) {
  const HardtanhAttrs& a = c.attrs<HardtanhAttrs>();
  FIRN_RETURN_IF(!(a.min <= a.max),
                 InvalidArgument("min ", a.min, " must not be above max ", a.max));
  return InferLikeInput(c);
}
FIRN_REGISTER_OP(hardtanh) {
  OpDef op = cpu::FloatOp<HardtanhFn>(
      "x cut off at min and max.", cpu::FromInput<cpu::GradBy<"hardtanh_grad", HardtanhAttrs>>());
  op.infer = InferHardtanh;
  return op;
}
FIRN_REGISTER_OP(hardtanh_grad) {
  return cpu::GradOp<HardtanhGradFn>(
      "dy where min < x < max, else 0: the gradient of hardtanh.", "x",
      cpu::OfGradient<cpu::GradBy<"hardtanh_grad", HardtanhAttrs>>());
}

FIRN_REGISTER_OP(hardsigmoid) {
  return cpu::FloatOp<HardsigmoidFn>(
      "alpha * x + beta, cut off at 0 and 1.",
      cpu::FromInput<cpu::GradBy<"hardsigmoid_grad", HardsigmoidAttrs>>());
}
FIRN_REGISTER_OP(hardsigmoid_grad) {
  return cpu::GradOp<HardsigmoidGradFn>(
      "alpha * dy where 0 < alpha * x + beta < 1, else 0: the gradient of hardsigmoid.", "x",
      cpu::OfGradient<cpu::GradBy<"hardsigmoid_grad", HardsigmoidAttrs>>());
}

// The slope (2 x + 3) / 6 between -3 and 3 is 0 and 1 beyond.
Tensor CurveOfHardswish(const Tensor& x) { return Where(Lt(Abs(x), 3), 1.0 / 3, ZerosLike(x)); }
FIRN_REGISTER_OP(hardswish) {
  return cpu::FloatOp<HardswishFn>("x * hardsigmoid(x).",
                                   cpu::FromInput<cpu::GradBy<"hardswish_grad">>());
}
FIRN_REGISTER_OP(hardswish_grad) {
  return cpu::GradOp<HardswishGradFn>(
      "dy * (2 x + 3) / 6 where -3 < x < 3, 0 below, dy above: the gradient of hardswish.", "x",
      cpu::OfGradient<cpu::GradBy<"hardswish_grad">, CurveOfHardswish>());
}

// On the left e^(c x) has the derivative c e^(c x), on the right the slope is constant. The clamp
// keeps e^(c x) finite on the right, where it is not used.
Tensor CurveOfElu(const Tensor& x, const EluAttrs& a) {
  const double factor = a.scale * a.alpha * a.input_scale * a.input_scale;
  return Where(Le(x, 0), Mul(Exp(Mul(Clamp(x, {}, 0.0), a.input_scale)), factor), 0.0);
}
FIRN_REGISTER_OP(elu) {
  return cpu::FloatOp<EluFn>("scale * (x where x > 0, else alpha * (e^(x * input_scale) - 1)).",
                             cpu::FromInput<cpu::GradBy<"elu_grad", EluAttrs>>());
}
FIRN_REGISTER_OP(elu_grad) {
  return cpu::GradOp<EluGradFn>("The gradient of elu.", "x",
                                cpu::OfGradient<cpu::GradBy<"elu_grad", EluAttrs>, CurveOfElu>());
}

}  // namespace

Tensor Relu(const Tensor& x) { return Apply1(TheOp<"relu">(), {x}); }

Tensor LeakyRelu(const Tensor& x, Real alpha) {
  return FloatUnary<"leaky_relu">(x, LeakyReluAttrs{alpha});
}

Tensor Prelu(const Tensor& x, const Tensor& weight) {
  CheckDefined(x, "prelu", "x");
  CheckDefined(weight, "prelu", "weight");
  const int64_t channels = x.rank() > 1 ? x.size(1) : 1;
  if (weight.rank() > 1 || (weight.num_elements() != 1 && weight.num_elements() != channels)) {
    RaiseStatus(InvalidArgument("weight must have 1 element or ", channels, ", as dim 1 of x ",
                                x.shape().ToString(), ", got ", weight.shape().ToString()),
                "prelu");
  }
  Dims sizes(1, weight.num_elements());
  for (int d = 2; d < x.rank(); ++d) sizes.push_back(1);
  return FloatBinary<"prelu">(x, Reshape(weight, Shape(sizes.span())));
}

Tensor Threshold(const Tensor& x, Real threshold, Real value) {
  return FloatUnary<"threshold">(x, ThresholdAttrs{threshold, value});
}

Tensor Hardtanh(const Tensor& x, Real min, Real max) {
  return FloatUnary<"hardtanh">(x, HardtanhAttrs{min, max});
}

Tensor Relu6(const Tensor& x) { return Hardtanh(x, 0, 6); }

Tensor Hardsigmoid(const Tensor& x, Real alpha, Real beta) {
  return FloatUnary<"hardsigmoid">(x, HardsigmoidAttrs{alpha, beta});
}

Tensor Hardswish(const Tensor& x) { return FloatUnary<"hardswish">(x); }

Tensor Elu(const Tensor& x, Real alpha) { return ScaledElu(x, {.alpha = alpha}); }
Tensor inner::ScaledElu(const Tensor& x, const EluAttrs& attrs) {
  return FloatUnary<"elu">(x, attrs);
}

Tensor Selu(const Tensor& x) {
  return ScaledElu(x, {.alpha = 1.6732632423543772, .scale = 1.0507009873554805});
}

void inner::CheckCeluAlpha(double alpha, const char* where) {
  if (alpha == 0) RaiseStatus(InvalidArgument("alpha must not be 0"), where);
}

Tensor Celu(const Tensor& x, Real alpha) {
  CheckCeluAlpha(alpha, "celu");
  return ScaledElu(x, {.alpha = alpha, .input_scale = 1 / alpha});
}

void inner::RreluAttrs::Check(const char* where) const {
  if (lower <= upper && std::isfinite(lower) && std::isfinite(upper)) return;
  RaiseStatus(
      InvalidArgument("lower ", lower, " must not be above upper ", upper, ", and both finite"),
      where);
}

Tensor Rrelu(const Tensor& x, Real lower, Real upper, Flag training, RandomGenerator* generator) {
  CheckDefined(x, "rrelu");
  RreluAttrs{lower, upper}.Check("rrelu");
  if (!training || lower == upper) return LeakyRelu(x, lower + (upper - lower) / 2);
  const Tensor given = IsFloating(x.dtype()) ? x : Cast(x, DType::kF32);
  const RandomOptions options{.device = x.device(), .generator = generator};
  const Tensor slopes = Rand(x.shape(), lower, upper, given.dtype(), options);
  return Where(Le(given, 0), Mul(given, slopes), given);
}

Tensor ConcatElu(const Tensor& x, Real alpha, Integer dim) {
  const Tensor given = Elu(x, alpha);  // checks x
  return Concat({given, Elu(Neg(AsDType(x, given.dtype())), alpha)}, dim);
}

Tensor ConcatRelu(const Tensor& x, Integer dim) { return Concat({Relu(x), Relu(Neg(x))}, dim); }

}  // namespace firn

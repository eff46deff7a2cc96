// fixed_point_quantize: in steps of delta, so that the ends are whole numbers and rounding needs no
// case for them.
//
// pow2_quantize: the power of two is found in the bits of the number and not by a logarithm, whose
// last digit would decide where the threshold is.

#include "firn/tensor/ops/quantize/levels.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/quantize/levels_fn.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

absl::Status InferFixedPoint(InferContext& c) {
  const auto& a = c.attrs<FixedPointAttrs>();
  const int64_t least = a.sign ? 2 : 1;
  FIRN_RETURN_IF(a.n < least || a.n > 32,
                 InvalidArgument("n must be between ", least, " and 32 bits, got ", a.n));
  // The step in the compute type; if that rounds it to 0, 0 / 0 would turn every zero into NaN.
  const double delta = c.dtype(0) == DType::kF64 ? a.delta : static_cast<float>(a.delta);
  FIRN_RETURN_IF(!(delta > 0) || std::isinf(delta),
                 InvalidArgument("delta must be a number above 0, got ", a.delta));
  return InferLikeInput(c);
}

Tensor GradFixedPoint(const Tensor& dy, const Tensor& x, const FixedPointAttrs& a) {
  if (!a.ste_fine_grained) return dy;
  const FixedPointFn range(a);
  const auto bound = [&](double v) { return AsDType(Tensor(v), x.dtype(), x.device()); };
  return ClampGrad(dy, x, bound(range.least * a.delta), bound(range.most * a.delta));
}

FIRN_REGISTER_OP(fixed_point_quantize) {
  OpDef op = cpu::FloatOp<FixedPointFn>("x rounded to a multiple of delta, within n bits.",
                                        cpu::FromInput<GradFixedPoint>());
  op.infer = InferFixedPoint;
  return op;
}

// Powers that f32 holds, also where numbers are computed in double: one rule for all dtypes.
absl::Status CheckPow2(const Pow2Attrs& a) {
  const int64_t spent = (a.sign ? 1 : 0) + (a.with_zero ? 1 : 0);
  FIRN_RETURN_IF(a.n < spent + 1 || a.n > spent + 10,
                 InvalidArgument("n must be between ", spent + 1, " and ", spent + 10,
                                 " bits, of which sign and zero take ", spent, ", got ", a.n));
  const int64_t powers = int64_t{1} << Pow2Fn::bits(a);
  FIRN_RETURN_IF(a.m > 127 || a.m < powers - 127,
                 InvalidArgument("m must be between ", powers - 127, " and 127 for ", powers,
                                 " powers of two, got ", a.m));
  return absl::OkStatus();
}

absl::Status InferPow2(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckPow2(c.attrs<Pow2Attrs>()));
  return InferLikeInput(c);
}

FIRN_REGISTER_OP(pow2_quantize_grad) {
  OpDef op =
      cpu::GradOp<Pow2GradFn>("dy within the range of pow2_quantize, else 0.", "x",
                              cpu::OfGradient<cpu::GradBy<"pow2_quantize_grad", Pow2Attrs>>());
  op.infer = [](InferContext& c) -> absl::Status {
    FIRN_RETURN_IF_ERROR(CheckPow2(c.attrs<Pow2Attrs>()));
    return InferBroadcast(c);
  };
  return op;
}

Tensor GradPow2(const Tensor& dy, const Tensor& x, const Pow2Attrs& a) {
  return a.ste_fine_grained ? Apply1(TheOp<"pow2_quantize_grad">(), {dy, x}, a) : dy;
}

FIRN_REGISTER_OP(pow2_quantize) {
  OpDef op = cpu::FloatOp<Pow2Fn>("x as the nearest power of two.", cpu::FromInput<GradPow2>());
  op.infer = InferPow2;
  return op;
}

absl::Status InferPowerOfTwo(InferContext& c) {
  const double up = c.attrs<PowerOfTwoAttrs>().up;
  FIRN_RETURN_IF(!(up > 1 && up <= 2),
                 InvalidArgument("up must be above 1 and at most 2, got ", up));
  return InferLikeInput(c);
}

FIRN_REGISTER_OP(power_of_two) {
  OpDef op = cpu::FloatOp<PowerOfTwoFn>(
      "|x| as a power of two. The gradient is 0.",
      [](GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); });
  op.infer = InferPowerOfTwo;
  return op;
}

}  // namespace

Tensor FixedPointQuantize(const Tensor& x, const FixedPointOptions& options) {
  return FloatUnary<"fixed_point_quantize">(x, options);
}
Tensor Pow2Quantize(const Tensor& x, const Pow2Options& options) {
  return FloatUnary<"pow2_quantize">(x, options);
}
Tensor inner::PowerOfTwo(const Tensor& x, const PowerOfTwoAttrs& attrs) {
  return Apply1(TheOp<"power_of_two">(), {x}, attrs);
}

}  // namespace firn

// Values of two levels, whose gradient is that of the straight line between them: both functions
// have one, binary_grad, of which binary_sigmoid takes half.
//
// binarize: signs and scale are computed outside of the gradient, which ignores them.

#include "firn/tensor/ops/quantize/binary.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/activation/straight_through.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/quantize/binary_fn.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(binary_grad) {
  return cpu::GradOp<BinaryGradFn>("dy where |x| < 1, else 0: the gradient of binary_tanh.", "x",
                                   cpu::OfGradient<cpu::GradBy<"binary_grad">>());
}

FIRN_REGISTER_OP(binary_tanh) {
  return cpu::FloatOp<BinaryTanhFn>("1 where x > 0, else -1.",
                                    cpu::FromInput<cpu::GradBy<"binary_grad">>());
}

Tensor GradSigmoid(const Tensor& dy, const Tensor& x) {
  return Mul(Apply1(TheOp<"binary_grad">(), {dy, x}), 0.5);
}
FIRN_REGISTER_OP(binary_sigmoid) {
  return cpu::FloatOp<BinarySigmoidFn>("1 where x > 0, else 0.", cpu::FromInput<GradSigmoid>());
}

// mean(|w|) for each index of `dim`, in w's rank.
Tensor ScaleOf(const Tensor& w, int64_t dim) {
  const absl::StatusOr<int> kept = NormalizeDim(dim, w.shape());
  if (!kept.ok()) RaiseStatus(kept.status(), "binarize");
  DimList others;
  for (int i = 0; i < w.rank(); ++i) {
    if (i != *kept) others.d[others.rank++] = i;
  }
  return others.empty() ? Abs(w) : Mean(Abs(w), others, true);
}

}  // namespace

Tensor BinarySigmoid(const Tensor& x) { return FloatUnary<"binary_sigmoid">(x); }
Tensor BinaryTanh(const Tensor& x) { return FloatUnary<"binary_tanh">(x); }

Tensor Binarize(const Tensor& w, const BinarizeOptions& options) {
  CheckDefined(w, "binarize", "w");
  if (!IsFloating(w.dtype())) {
    RaiseStatus(InvalidArgument("w must be f32, f64, f16 or bf16, got ", w.spec().ToString()),
                "binarize");
  }
  const Tensor held = w.Detach();
  const Tensor signs = Where(Ne(held, held), held, Sign(held));  // NaN has no sign
  Tensor y = Where(Eq(held, 0), options.zero_to, signs);
  if (options.scale_dim) y = Mul(y, ScaleOf(held, *options.scale_dim));
  return StraightThrough(y, w);
}

}  // namespace firn

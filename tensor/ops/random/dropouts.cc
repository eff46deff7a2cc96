// Composites: x times a dropout of ones, with one element for each group that is dropped together.

#include "firn/tensor/ops/random/dropouts.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/conv/channels.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

void Check(const Tensor& x, double p, std::string_view op) {
  CheckDefined(x, op);
  if (!IsFloating(x.dtype())) {
    RaiseStatus(InvalidArgument("x must be f32, f64, f16 or bf16, got ", x.spec().ToString()), op);
  }
  if (!(p >= 0 && p <= 1)) RaiseStatus(InvalidArgument("p ", p, " is outside [0, 1]"), op);
}

// x's shape with all sizes 1 from dimension `kept` on.
Shape ShapeOfGroups(const Tensor& x, int kept) {
  Dims sizes = x.shape().dims();
  for (int i = kept; i < sizes.rank; ++i) sizes[i] = 1;
  return Shape(sizes.span());
}

void CheckChannels(const Tensor& x, std::string_view op) {
  if (x.rank() >= 2) return;
  RaiseStatus(InvalidArgument("x must be [n, c, ...], got ", x.shape().ToString()), op);
}

// x, or 0, for each group of elements that differ only in dimensions from `kept` on.
Tensor DropGroups(const Tensor& x, int kept, double p, RandomGenerator* generator) {
  const Tensor ones = Ones(ShapeOfGroups(x, kept), x.dtype(), x.device());
  return Mul(x, Dropout(ones, p, true, generator));
}

}  // namespace

Tensor FeatureDropout(const Tensor& x, Real p, Flag training, RandomGenerator* generator) {
  Check(x, p, "feature_dropout");
  CheckChannels(x, "feature_dropout");
  return !training || p == 0 ? x : DropGroups(x, 2, p, generator);
}

Tensor AlphaDropout(const Tensor& x, Real p, Flag training, Flag per_channel,
                    RandomGenerator* generator) {
  Check(x, p, "alpha_dropout");
  if (per_channel) CheckChannels(x, "alpha_dropout");
  if (!training || p == 0) return x;
  if (p == 1) return Mul(x, 0);
  constexpr double kLeast = -1.7580993408473766;  // Selu at minus infinity
  const double scale = 1 / std::sqrt((1 - p) * (1 + p * kLeast * kLeast));
  const Shape groups = per_channel ? ShapeOfGroups(x, 2) : x.shape();
  const Tensor keeps = Ge(
      Rand(groups, 0, 1, DType::kF32, {.device = x.device(), .generator = generator}), double{p});
  const double shift = -scale * p * kLeast;
  if (!per_channel) return Add(Mul(Where(keeps, x, kLeast), scale), shift);
  // One pass each way: the choice is two numbers for each channel of each sample.
  const DType numbers = x.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto chosen = [&](double kept, double dropped) {
    const auto of = [&](double v) { return Full({}, v, numbers, x.device()); };
    return Flatten(Where(keeps, of(kept), of(dropped)));
  };
  const Tensor channels = Unsqueeze(Flatten(x, 0, 1), 0);
  const Tensor y = ChannelAffine(channels, chosen(scale, 0), chosen(shift, kLeast * scale + shift));
  return Reshape(y, x.shape());
}

Tensor StochasticDepth(const Tensor& x, Real p, Flag per_row, Flag training,
                       RandomGenerator* generator) {
  Check(x, p, "stochastic_depth");
  return !training || p == 0 ? x : DropGroups(x, per_row ? 1 : 0, p, generator);
}

}  // namespace firn

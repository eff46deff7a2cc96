// Composites: an instance norm is a group norm with one channel per group, a local response norm an
// average pool over squares whose windows lie along the channels. The squares have a type that
// holds those of all elements: f16 does not hold the square of 300, nor f32 that of 1e20.

#include "firn/tensor/ops/norm/channel_norms.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/conv/channels.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/norm/group_norm.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {

Tensor InstanceNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, Real eps) {
  CheckDefined(x, "instance_norm");
  const bool sized =
      x.rank() >= 2 && (x.num_elements() == 0 || x.num_elements() > x.shape()[0] * x.shape()[1]);
  if (!sized) {
    RaiseStatus(InvalidArgument("x must be [n, c, ...] with more than one value per channel, got ",
                                x.shape().ToString()),
                "instance_norm");
  }
  if (x.num_elements() == 0) return ChannelAffine(x, weight, bias);
  return GroupNorm(x, x.shape()[1], weight, bias, eps);
}

Tensor LocalResponseNorm(const Tensor& x, Integer size, const LocalResponseNormOptions& options) {
  CheckDefined(x, "local_response_norm");
  if (x.rank() < 3) {
    RaiseStatus(InvalidArgument("x must have at least 3 dimensions, got ", x.spec().ToString()),
                "local_response_norm");
  }
  if (size < 1) {
    RaiseStatus(InvalidArgument("size must be 1 or more, got ", size), "local_response_norm");
  }
  const double k = options.k, alpha = options.alpha;
  if (x.num_elements() == 0) return Mul(x, 1);
  const DType wide = x.dtype() == DType::kF16 ? DType::kF32 : DType::kF64;
  const int64_t n = x.shape()[0], c = x.shape()[1];
  const int64_t window = size, before = window / 2, after = (window - 1) / 2;
  // Zeros are written out: a pool pads by half a window at most, on both sides alike.
  const Tensor elements = Cast(x, wide);
  const Tensor squares = Reshape(Square(elements), {n, 1, c, x.num_elements() / (n * c)});
  const Tensor means = AvgPool2d(Pad(squares, {0, 0, before, after}),
                                 AvgPool2dOptions{.kernel = {window, 1}, .stride = 1});
  const Tensor base = Add(Mul(Reshape(means, x.shape()), alpha), k);
  return Cast(Div(elements, Pow(base, options.beta)), x.dtype());
}

Tensor MeanSubtraction(const Tensor& x, const Tensor& running_mean, const Tensor& count,
                       const MeanSubtractionOptions& options) {
  CheckDefined(x, "mean_subtraction");
  CheckDefined(running_mean, "mean_subtraction", "running_mean");
  CheckDefined(count, "mean_subtraction", "count");
  const int64_t base = options.base_dim;
  bool fits = base >= 0 && base <= x.rank() && running_mean.rank() == x.rank() - base;
  for (int64_t i = base; fits && i < x.rank(); ++i) {
    fits = x.size(i) == running_mean.size(i - base);
  }
  if (!fits) {
    RaiseStatus(
        InvalidArgument("running_mean ", running_mean.shape().ToString(), " does not fit x ",
                        x.shape().ToString(), " from dimension ", base, " on"),
        "mean_subtraction");
  }
  if (!IsFloating(x.dtype()) || running_mean.dtype() != x.dtype() || count.dtype() != DType::kI64 ||
      count.num_elements() != 1) {
    RaiseStatus(
        InvalidArgument("x must be floating, running_mean have its dtype and count be i64 of "
                        "one element, got ",
                        x.spec().ToString(), ", ", running_mean.spec().ToString(), " and ",
                        count.spec().ToString()),
        "mean_subtraction");
  }
  // An empty batch has no mean to move to.
  if (!options.training || x.num_elements() == 0) return Sub(x, running_mean);
  DimList batch;
  for (int64_t i = 0; i < base; ++i) batch.d[batch.rank++] = i;
  const Tensor mean = base == 0 ? x : Mean(x, batch);
  const Tensor grown = Add(count, 1);
  const Tensor part = Cast(Reshape(grown, {}), x.dtype());
  const Tensor moved = Add(running_mean, Div(Sub(mean, running_mean), part));
  const Tensor y = Sub(x, moved);
  Assign(running_mean, moved.Detach());
  Assign(count, grown);
  return y;
}

}  // namespace firn

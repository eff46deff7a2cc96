// The range is kept and not the scale, because ranges can be averaged. Scale and zero point follow
// from it by operations, as QuantizationOf has them, so that frozen steps move them too.

#include "firn/nn/quantized/fake_quantize.h"

#include <limits>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/nn/quantized/weights.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::nn::quantized {
namespace {

constexpr char kLayer[] = "nn::quantized::FakeQuantize";

FakeQuantizeOptions Checked(const FakeQuantizeOptions& o) {
  internal::CheckInputDType(o.dtype, kLayer);
  if (!(o.averaging > 0 && o.averaging <= 1)) {
    RaiseStatus(InvalidArgument("averaging must lie in (0, 1], got ", o.averaging), kLayer);
  }
  return o;
}

}  // namespace

FakeQuantize::FakeQuantize(const Options& options)
    : LayerWithOptions(Checked(options)),
      low_(AddBuffer("low", Zeros({}))),
      high_(AddBuffer("high", Zeros({}))),
      num_batches_tracked_(AddBuffer("num_batches_tracked", Zeros({}, DType::kI64))) {}

void FakeQuantize::Follow(const Tensor& x) {
  if (x.num_elements() == 0) return;
  const NoGradScope no_grad;
  const Tensor wide = Cast(x, DType::kF32), first = Eq(num_batches_tracked_, 0);
  const auto move = [&](Tensor& range, const Tensor& seen) {
    const double c = options().averaging;
    Assign(range, Where(first, seen, firn::Add(Mul(range, 1 - c), Mul(seen, c))));
  };
  move(low_, Amin(wide));
  move(high_, Amax(wide));
  Accumulate(num_batches_tracked_, OnesLike(num_batches_tracked_));
}

FakeQuantize::Grid FakeQuantize::grid() const {
  const NoGradScope no_grad;
  const Tensor low = Minimum(low_, 0), high = Maximum(high_, 0);
  const Tensor span = options().symmetric ? Maximum(Neg(low), high) : Sub(high, low);
  const Tensor step = Div(span, options().symmetric ? 127 : 255);
  // A number below the smallest one of f32 becomes 0 there.
  const Tensor scale = Where(Eq(span, 0), 1.0, Maximum(step, std::numeric_limits<float>::min()));
  const Tensor zero = options().symmetric ? Full({}, 128, DType::kF32, scale.device())
                                          : Clamp(Round(Div(Neg(low), scale)), 0, 255);
  return {scale, Cast(firn::Add(zero, static_cast<double>(least())), DType::kI32)};
}

Quantization FakeQuantize::quantization() const {
  const Grid g = grid();
  return {g.scale.Item<double>(), g.zero_point.Item<int64_t>(), options().dtype};
}

Tensor FakeQuantize::Forward(const Tensor& x) {
  if (training()) Follow(x.Detach());
  const Grid g = grid();
  return firn::FakeQuantize(x, g.scale, g.zero_point, least(), least() + 255);
}

}  // namespace firn::nn::quantized

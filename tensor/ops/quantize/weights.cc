// Quantization is symmetric, so that sums need no zero point, and without -128, so that both signs
// have the same range.

#include "firn/tensor/ops/quantize/weights.h"

#include <limits>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {

Tensor inner::WeightScales(const Tensor& w) {
  const NoGradScope no_grad;
  const Tensor wide = Cast(w, DType::kF32);
  const Tensor most = Amax(Abs(Reshape(wide, {w.size(0), -1})), 1);
  // Scales below the smallest number of f32 would be 0 there.
  const Tensor steps = Maximum(Div(most, 127), std::numeric_limits<float>::min());
  return Where(Eq(most, 0), 1.0, steps);
}

Tensor inner::QuantizeWeights(const Tensor& w, const Tensor& scales) {
  const NoGradScope no_grad;
  return QuantizeLinear(Cast(w, DType::kF32), scales, {}, {.dim = 0, .narrow_range = true});
}

Tensor FakeQuantizeWeights(const Tensor& w) {
  CheckDefined(w, "fake_quantize_weights", "w");
  if (!IsFloating(w.dtype()) || w.rank() == 0 || w.num_elements() == 0) {
    RaiseStatus(
        InvalidArgument("w must be floating [out, ...] and not empty, got ", w.spec().ToString()),
        "fake_quantize_weights");
  }
  return FakeQuantize(w, WeightScales(w), 0, -127, 127, 0);
}

}  // namespace firn

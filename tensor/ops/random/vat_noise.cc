// A composite over Normalize: all dimensions but the first.

#include "firn/tensor/ops/random/vat_noise.h"

#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/norm/normalize.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn {

Tensor VatNoise(const Tensor& noise, Real xi) {
  CheckDefined(noise, "vat_noise", "noise");
  if (!IsFloating(noise.dtype()) || noise.rank() < 2) {
    RaiseStatus(InvalidArgument("noise must be [n, ...] of f32, f64, f16 or bf16, got ",
                                noise.spec().ToString()),
                "vat_noise");
  }
  if (!std::isfinite(double{xi})) {
    RaiseStatus(InvalidArgument("xi must be finite, got ", double{xi}), "vat_noise");
  }
  DimList dims;
  for (int i = 1; i < noise.rank(); ++i) dims.d[dims.rank++] = i;
  // Normalize's own eps would leave gradients of a small step shorter than xi.
  const DType wide = ComputeDType(noise.dtype());
  const double least =
      wide == DType::kF64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  return Cast(Mul(Normalize(Cast(noise, wide), 2, dims, least), double{xi}), noise.dtype());
}

}  // namespace firn

// Checks of the layers' arguments; tensor/ops/quantize/weights.h quantizes the weights.

#include "firn/nn/quantized/weights.h"

#include <cmath>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/quantize/weights.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::nn::quantized::internal {

Weights WeightsOf(const Tensor& w, const char* layer) {
  const Tensor scale = WeightScales(w);
  for (const float v : scale.ToVector<float>()) {
    if (!std::isfinite(v)) RaiseStatus(InvalidArgument("takes finite weights, got ", v), layer);
  }
  return {QuantizeWeights(w, scale), scale};
}

void CheckInputDType(DType dtype, const char* layer) {
  if (dtype == DType::kI8 || dtype == DType::kU8) return;
  RaiseStatus(InvalidArgument("dtype must be i8 or u8, got ", DTypeName(dtype)), layer);
}

void CheckTaken(const Tensor& from, const Tensor& to, const char* what, const char* layer) {
  const bool same = from.defined() == to.defined() && (!to.defined() || from.shape() == to.shape());
  if (same) return;
  RaiseStatus(
      InvalidArgument("takes ", what, to.defined() ? " " + to.shape().ToString() : " absent",
                      ", got ", from.defined() ? from.shape().ToString() : "none"),
      layer);
}

void CheckTaken(const Quantization& input, DType dtype, const char* layer) {
  const int64_t least = dtype == DType::kU8 ? 0 : -128, zero = input.zero_point;
  const bool held = zero >= least && zero <= least + 255;
  const auto kept = static_cast<float>(input.scale);  // as the buffer has it
  if (input.dtype == dtype && kept > 0 && std::isfinite(kept) && held) return;
  RaiseStatus(InvalidArgument("takes a quantization to ", DTypeName(dtype),
                              " by a scale above 0 with a zero point of it, got ",
                              DTypeName(input.dtype), ", ", input.scale, " and ", zero),
              layer);
}

Tensor ScaleOf(const Tensor& weight_scale, const Tensor& input_scale) {
  const DType dtype = ComputeDType(weight_scale.dtype());
  return Mul(Cast(weight_scale, dtype), Cast(input_scale, dtype));
}

void Write(Tensor& buffer, const Tensor& values) {
  if (!buffer.defined()) return;
  const NoGradScope no_grad;
  Assign(buffer, values);
}

}  // namespace firn::nn::quantized::internal

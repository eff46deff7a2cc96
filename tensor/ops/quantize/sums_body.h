#ifndef FIRN_TENSOR_OPS_QUANTIZE_SUMS_BODY_H_
#define FIRN_TENSOR_OPS_QUANTIZE_SUMS_BODY_H_

// The operations on the sums of a quantized convolution, on the CPU: dequantize_linear, additions,
// relu and quantize_linear, with the operations' own bits. A tile goes through one after the other:
// in a single expression a product and a sum might become one instruction, with other bits.

#include <algorithm>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/ops/quantize/affine_body.h"

namespace firn::cpu {

// y = sum * scale + bias + other, or relu of that. Elements lie as [pixels, channels].
struct NumbersOfSums {
  const float *scale, *bias;  // of channels; no bias: null
  const float* other;         // as the sums; none: null
  bool relu;
  float* y;  // null: only bytes are wanted
};

// y quantized.
template <class Q>
struct BytesOfNumbers {
  QuantizeElement<float, Q> element;
  float scale;
  int32_t zero;
  Q* bytes;  // null: only numbers are wanted
};

class SumTiles {
 public:
  SumTiles(const NumbersOfSums& numbers, int64_t channels)
      : to_(numbers),
        channels_(channels),
        period_(std::max<int64_t>(1, kTile / channels) * channels) {
    if (channels > kTile) return;
    for (int64_t i = 0; i < period_; ++i) scales_[i] = numbers.scale[i % channels];
    for (int64_t i = 0; numbers.bias != nullptr && i < period_; ++i) {
      biases_[i] = numbers.bias[i % channels];
    }
  }

  // Elements [begin, end) of the result, whose sums begin at `sums`. Requires: `begin` is the start
  // of a pixel.
  template <class Q>
  void Run(int64_t begin, int64_t end, const int32_t* sums, const BytesOfNumbers<Q>& bytes) {
    const bool spread = channels_ <= kTile;
    for (int64_t i = begin; i < end;) {
      const int64_t at = (i - begin) % period_;
      const int64_t n = std::min({kTile, period_ - at, end - i});
      float* const y = to_.y == nullptr ? tile_ : to_.y + i;
      Numbers(sums + (i - begin), (spread ? scales_ : to_.scale) + at,
              to_.bias == nullptr ? nullptr : (spread ? biases_ : to_.bias) + at,
              to_.other == nullptr ? nullptr : to_.other + i, n, y);
      if (bytes.bytes != nullptr) Bytes(y, n, bytes, bytes.bytes + i);
      i += n;
    }
  }

 private:
  static constexpr int64_t kTile = 512;  // all operands' tiles lie in the nearest cache

  void Numbers(const int32_t* sums, const float* scale, const float* bias, const float* other,
               int64_t n, float* y) const {
    FIRN_INDEPENDENT_STEPS
    for (int64_t j = 0; j < n; ++j) y[j] = static_cast<float>(sums[j]) * scale[j];
    if (bias != nullptr) Add(bias, n, y);
    if (other != nullptr) Add(other, n, y);
    if (!to_.relu) return;
    FIRN_INDEPENDENT_STEPS
    for (int64_t j = 0; j < n; ++j) y[j] = y[j] < 0 ? 0 : y[j];
  }
  static void Add(const float* x, int64_t n, float* y) {
    FIRN_INDEPENDENT_STEPS
    for (int64_t j = 0; j < n; ++j) y[j] += x[j];
  }
  template <class Q>
  static void Bytes(const float* y, int64_t n, const BytesOfNumbers<Q>& how, Q* to) {
    const QuantizeElement<float, Q> element = how.element;
    const float scale = how.scale;
    const int32_t zero = how.zero;
    FIRN_INDEPENDENT_STEPS
    for (int64_t j = 0; j < n; ++j) to[j] = element(y[j], scale, zero);
  }

  const NumbersOfSums to_;
  const int64_t channels_, period_;
  float scales_[kTile], biases_[kTile], tile_[kTile];
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_QUANTIZE_SUMS_BODY_H_

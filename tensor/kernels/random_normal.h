#ifndef FIRN_TENSOR_KERNELS_RANDOM_NORMAL_H_
#define FIRN_TENSOR_KERNELS_RANDOM_NORMAL_H_

// Normal numbers from random words, on every device: G. E. P. Box and M. E. Muller, "A note on the
// generation of random normal deviates", 1958, in straight-line code. An angle is a share of a
// turn, so that quarters are taken off exactly, by the words' upper bits.

#include "firn/device/philox.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/math_trig.h"

namespace firn {

// Two independent standard normal numbers. The logarithm's argument is in (0, 1], so results are
// finite: at most 5.77 in absolute value. `a` gives the radius and `b` the angle, 24 bits of each.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE NormalPair<float> NormalFloatsFrom(uint32_t a, uint32_t b) {
  const float radius = std::sqrt(-2.0f * math::Log(1.0f - UniformFloat(a)));
  const uint32_t quadrant = (b + 0x20000000u) >> 30;
  // In [-1/8, 1/8) of a turn, as 24 bits; the difference is exact.
  const auto rest = static_cast<int32_t>((b & 0xffffff00u) - (quadrant << 30));
  const float r = static_cast<float>(rest) * (0x1p-32f * 6.283185307179586f);
  return {radius * math::internal::SineOf(r, quadrant + 1u),
          radius * math::internal::SineOf(r, quadrant)};
}

// The same with 53 bits of two words each: at most 8.57.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE NormalPair<double> NormalDoublesFrom(uint32_t a_high,
                                                                         uint32_t a_low,
                                                                         uint32_t b_high,
                                                                         uint32_t b_low) {
  // Converted in parts of 32 and 21 bits, for machines that cannot convert longer ones.
  const auto low_bits = [](uint32_t low) {
    return static_cast<double>(static_cast<int32_t>(low >> 11)) * 0x1p-53;
  };
  const double above = static_cast<double>(static_cast<int32_t>(a_high >> 1)) * 0x1p-31 +
                       static_cast<double>(static_cast<int32_t>(a_high & 1u)) * 0x1p-32;
  const double radius = std::sqrt(-2.0 * math::Log(1.0 - (above + low_bits(a_low))));
  const uint32_t quadrant = (b_high + 0x20000000u) >> 30;
  const double turn =
      static_cast<double>(static_cast<int32_t>(b_high - (quadrant << 30))) * 0x1p-32 +
      low_bits(b_low);
  const math::internal::TrigReductionF64 t{turn * 6.283185307179586477, 0.0, quadrant};
  return {radius * math::internal::SineOf(t, t.quadrant + 1u),
          radius * math::internal::SineOf(t, t.quadrant)};
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_RANDOM_NORMAL_H_

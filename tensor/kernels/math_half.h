#ifndef FIRN_TENSOR_KERNELS_MATH_HALF_H_
#define FIRN_TENSOR_KERNELS_MATH_HALF_H_

// Functions of floats to about 2^-17 of themselves, which is enough where the result is rounded to
// a half type. math_test.cc holds them to 2^-16 for all numbers of both half types.

#include "tensor/kernels/math.h"
#include "tensor/kernels/math_tail.h"

namespace firn::math {
namespace internal {

// 2^(x + lift), a normal number; `lift` is an integer.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float RoughPowerOf2(float x, int lift) {
  const float shifted = x + kShift, r = x - (shifted - kShift);
  const uint32_t exponent = std::bit_cast<uint32_t>(shifted) + static_cast<uint32_t>(127 + lift);
  return std::bit_cast<float>(exponent << 23) *
         Polynomial(r, 0.999999262f, 0.693121816f, 0.240247440f, 0.0559178603f, 0.00957013778f);
}

}  // namespace internal

// As Sigmoid: everything is 2^-64 of itself.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float SigmoidOfHalf(float x) {
  const float size = Abs(x), in_range = size > 104.0f ? 104.0f : size;
  const float y = 0x1p-64f / (0x1p-64f + internal::RoughPowerOf2(in_range * 1.44269504f, -64));
  return x < 0.0f ? y : 1.0f - y;
}

// z^2 is exact for x of a half type.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float GeluOfHalf(float x) {
  const float size = Abs(x), z = size > 14.6f ? 14.6f : size;
  const float u = 1.0f / (4.0f + z);
  const float power = internal::RoughPowerOf2(-0.721347520f * (z * z), 64);
  const float scaled =
      u * Polynomial(1.0f - 8.0f * u, 0.755287076f, -0.607887436f, 0.387036650f, -0.186663063f,
                     0.0611080403f, -0.00672902569f, -0.00470539364f);
  return internal::GeluOfTail(x, z * scaled * power * internal::kUnlift<float>);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_HALF_H_

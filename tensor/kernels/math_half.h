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

// 0 where the result would be below 2^-125, and infinity above 2^127.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ExpOfHalf(float x) {
  float y = internal::RoughPowerOf2(x * 1.44269504f, 0);
  y = x < -87.0f ? 0.0f : y;
  return x > 88.0f ? kInf : y;
}

// As Sigmoid: everything is 2^-64 of itself.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float SigmoidOfHalf(float x) {
  const float size = Abs(x), in_range = size > 104.0f ? 104.0f : size;
  const float y = 0x1p-64f / (0x1p-64f + internal::RoughPowerOf2(in_range * 1.44269504f, -64));
  return x < 0.0f ? y : 1.0f - y;
}

namespace internal {

// Of standard normal X: e^(-z^2 / 2) for |x| = z, 2^64 times as large, and P(X > z) without it. z^2
// is exact for x of a half type.
struct NormalOfHalf {
  float z, power, tail;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE NormalOfHalf ReduceNormal(float x) {
  const float size = Abs(x), z = size > 14.6f ? 14.6f : size, u = 1.0f / (4.0f + z);
  return {z, RoughPowerOf2(-0.721347520f * (z * z), 64),
          u * Polynomial(1.0f - 8.0f * u, 0.755287076f, -0.607887436f, 0.387036650f, -0.186663063f,
                         0.0611080403f, -0.00672902569f, -0.00470539364f)};
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float GeluOfHalf(float x) {
  const internal::NormalOfHalf n = internal::ReduceNormal(x);
  return internal::GeluOfTail(x, n.z * n.tail * n.power * internal::kUnlift<float>);
}

// The slope of gelu, P(X <= x) + x p(x). That it is off by relates to the larger of the summands,
// which differ in their signs for negative x.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float GeluSlopeOfHalf(float x) {
  const internal::NormalOfHalf n = internal::ReduceNormal(x);
  const float below = (n.tail - 0.398942280f * n.z) * n.power * internal::kUnlift<float>;
  const float y = x < 0.0f ? below : 1.0f - below;
  return Abs(x) == kInf ? kNan : y;  // 0 times infinity
}

// x times a polynomial of x^2 up to 3.2, where it is 1 to 2^-17.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ErfOfHalf(float x) {
  const float size = Abs(x), z = size > 3.2f ? 3.2f : size;
  const float y =
      z * Polynomial(0.1953125f * (z * z) - 1.0f, 0.441334575f, -0.217305765f, 0.154334098f,
                     -0.113674589f, 0.0808037519f, -0.0546147525f, 0.0326668955f, -0.0153631102f,
                     0.00856594276f, -0.00698080519f, 0.00273253932f);
  return WithSign(size > 3.2f ? 1.0f : y, x);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_HALF_H_

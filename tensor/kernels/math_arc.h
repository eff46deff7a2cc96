#ifndef FIRN_TENSOR_KERNELS_MATH_ARC_H_
#define FIRN_TENSOR_KERNELS_MATH_ARC_H_

// The inverse trigonometric functions for kernels: straight-line code as in math.h.

#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/math_arc_f64.h"

namespace firn::math {
namespace internal {

// pi / 2 in two floats.
inline constexpr float kHalfPi = 1.57079637f, kHalfPiRest = -4.37113883e-8f;

// asin(s) - s for s^2 = z, 0 <= z <= 1/4.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float AsinRest(float s, float z) {
  return s * z *
         Polynomial(z, 0.166667521f, 0.0749530792f, 0.0454693958f, 0.0241834708f, 0.0421605632f);
}

// The arc tangent for 0 <= x <= 1.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float SmallAtan(float x) {
  const float z = x * x;
  return x + x * z *
                 Polynomial(z, -0.333332986f, 0.199985296f, -0.142640144f, 0.10950806f,
                            -0.0839877799f, 0.0578659028f, -0.0310745127f, 0.0108526489f,
                            -0.00177832192f);
}

// pi / 2 - x.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float FromHalfPi(float x) {
  return kHalfPi - (x - kHalfPiRest);
}

}  // namespace internal

// Beyond 1/2 by asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Asin(float x) {
  const float size = Abs(x);
  const bool far = size > 0.5f;
  const float z = far ? 0.5f * (1.0f - size) : size * size;
  const float s = far ? std::sqrt(z) : size;
  const float rest = internal::AsinRest(s, z);
  const float wide = internal::kHalfPi - (2.0f * s + (2.0f * rest - internal::kHalfPiRest));
  return WithSign(far ? wide : s + rest, x);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Acos(float x) {
  const float size = Abs(x);
  const bool far = size > 0.5f;
  const float z = far ? 0.5f * (1.0f - size) : size * size;
  const float s = far ? std::sqrt(z) : x;
  const float rest = internal::AsinRest(s, z);
  const float near = internal::kHalfPi - (s + (rest - internal::kHalfPiRest));
  const float above = 2.0f * (s + rest);
  const float below = 2.0f * internal::kHalfPi - (2.0f * s + 2.0f * (rest - internal::kHalfPiRest));
  const float wide = x < 0.0f ? below : above;
  return far ? wide : near;
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Atan(float x) {
  const float size = Abs(x);
  const bool far = size > 1.0f;
  const float a = internal::SmallAtan(far ? 1.0f / size : size);
  return WithSign(far ? internal::FromHalfPi(a) : a, x);
}

// The angle of the point (x, y), with C's special values.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Atan2(float y, float x) {
  const float up = Abs(y), side = Abs(x);
  const bool steep = up > side;
  const float large = steep ? up : side, small = steep ? side : up;
  const float slope = small / large;
  const float equal = large == 0.0f ? 0.0f : 1.0f;  // two zeros, two infinities
  const float a = internal::SmallAtan(small == large ? equal : slope);
  const float right = steep ? internal::FromHalfPi(a) : a;
  const float left = 2.0f * internal::kHalfPi - (right - 2.0f * internal::kHalfPiRest);
  const bool minus = (std::bit_cast<uint32_t>(x) >> 31) != 0;
  return WithSign(minus ? left : right, y);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_ARC_H_

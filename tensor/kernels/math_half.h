#ifndef FIRN_TENSOR_KERNELS_MATH_HALF_H_
#define FIRN_TENSOR_KERNELS_MATH_HALF_H_

// Functions of floats to about 2^-17 of themselves, which is enough where the result is rounded to
// a half type. A functor gets them by `using ForHalf = RoughFn<itself>;`: for elements of half
// types it is called with math::Rough in place of float. One that subtracts loses more of a result
// near zero, but less than its inputs' own rounding does. Special values are those of math.h.
// math_half_test.cc holds the functions to 2^-16 for all numbers of both half types.
//
// The polynomials are minimax approximations for relative errors.

#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/math_tail.h"

namespace firn::math {

// A float of which functions compute only the digits that a half type keeps.
struct Rough {
  float v;

  FIRN_HOST_DEVICE explicit Rough(float x) : v(x) {}
  FIRN_HOST_DEVICE explicit Rough(double x) : v(static_cast<float>(x)) {}
  FIRN_HOST_DEVICE explicit Rough(int x) : v(static_cast<float>(x)) {}
  FIRN_HOST_DEVICE explicit operator float() const { return v; }

  FIRN_HOST_DEVICE friend Rough operator-(Rough a) { return Rough(-a.v); }
  FIRN_HOST_DEVICE friend Rough operator+(Rough a, Rough b) { return Rough(a.v + b.v); }
  FIRN_HOST_DEVICE friend Rough operator-(Rough a, Rough b) { return Rough(a.v - b.v); }
  FIRN_HOST_DEVICE friend Rough operator*(Rough a, Rough b) { return Rough(a.v * b.v); }
  FIRN_HOST_DEVICE friend Rough operator/(Rough a, Rough b) { return Rough(a.v / b.v); }
  FIRN_HOST_DEVICE friend bool operator<(Rough a, Rough b) { return a.v < b.v; }
  FIRN_HOST_DEVICE friend bool operator>(Rough a, Rough b) { return a.v > b.v; }
  FIRN_HOST_DEVICE friend bool operator<=(Rough a, Rough b) { return a.v <= b.v; }
  FIRN_HOST_DEVICE friend bool operator>=(Rough a, Rough b) { return a.v >= b.v; }
  FIRN_HOST_DEVICE friend bool operator==(Rough a, Rough b) { return a.v == b.v; }
  FIRN_HOST_DEVICE friend bool operator!=(Rough a, Rough b) { return a.v != b.v; }
};

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Abs(Rough x) { return Rough(Abs(x.v)); }

namespace internal {

// 2^(x + lift), a normal number; `lift` is an integer.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float RoughPowerOf2(float x, int lift) {
  const float shifted = x + kShift, r = x - (shifted - kShift);
  const uint32_t exponent = std::bit_cast<uint32_t>(shifted) + static_cast<uint32_t>(127 + lift);
  return std::bit_cast<float>(exponent << 23) *
         Polynomial(r, 0.999999262f, 0.693121816f, 0.240247440f, 0.0559178603f, 0.00957013778f);
}

// With a standard normal X: e^(-z^2 / 2) for |x| = z, 2^64 times as large, and P(X > z) over
// e^(-z^2 / 2). z^2 is exact for x of a half type.
struct RoughNormal {
  float z, power, tail;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE RoughNormal ReduceNormal(float x) {
  const float size = Abs(x), z = size > 14.6f ? 14.6f : size, u = 1.0f / (4.0f + z);
  return {z, RoughPowerOf2(-0.721347520f * (z * z), 64),
          u * Polynomial(1.0f - 8.0f * u, 0.755287076f, -0.607887436f, 0.387036650f, -0.186663063f,
                         0.0611080403f, -0.00672902569f, -0.00470539364f)};
}

// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)].
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float RoughLogNear1(float f) {
  return f * Polynomial(f, 1.00000095f, -0.500011146f, 0.333145082f, -0.249097437f, 0.204963282f,
                        -0.186678544f, 0.118961081f);
}

// log(x) / log(b), `unit` being 1 / log(b) and `octave` log(2) / log(b).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float RoughLog(float x, float unit, float octave) {
  const bool subnormal = x < std::numeric_limits<float>::min();
  const LogReduction l = ReduceLog(subnormal ? x * 0x1p23f : x);
  const float k = static_cast<float>(l.k - (subnormal ? 23 : 0));
  return LogSpecial(x, 0.0f, k * octave + unit * RoughLogNear1(l.m - 1.0f));
}

}  // namespace internal

// First scaled by 2^64 where it is below 1, so that subnormal results are rounded once, and by 1/2
// elsewhere, because the powers of two end below 2^128.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Exp(Rough x) {
  const float high = x.v > 89.0f ? 89.0f : x.v, in_range = high < -104.0f ? -104.0f : high;
  const float y = internal::RoughPowerOf2(in_range * 1.44269504f, x.v < 0.0f ? 64 : -1);
  return Rough(y * (x.v < 0.0f ? 0x1p-64f : 2.0f));
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Exp2(Rough x) {
  const float high = x.v > 128.0f ? 128.0f : x.v, in_range = high < -151.0f ? -151.0f : high;
  const float y = internal::RoughPowerOf2(in_range, x.v < 0.0f ? 64 : -1);
  return Rough(y * (x.v < 0.0f ? 0x1p-64f : 2.0f));
}

// x is n ln 2 + r. Computes half of everything, because 2^128 is not a float.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Expm1(Rough x) {
  const float high = x.v > 89.0f ? 89.0f : x.v, in_range = high < -80.0f ? -80.0f : high;
  const float shifted = in_range * 1.44269504f + internal::kShift;
  const float r = in_range - (shifted - internal::kShift) * 0.693147181f;
  const float s = std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + 126u) << 23);
  const float y = s * (r * Polynomial(r, 0.999999881f, 0.499988973f, 0.166671425f, 0.0419442914f,
                                      0.00833331142f)) +
                  (s - 0.5f);
  return Rough(x.v == 0.0f ? x.v : 2.0f * y);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Log(Rough x) {
  return Rough(internal::RoughLog(x.v, 1.0f, 0.693147181f));
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Log2(Rough x) {
  return Rough(internal::RoughLog(x.v, 1.44269504f, 1.0f));
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Log10(Rough x) {
  return Rough(internal::RoughLog(x.v, 0.434294482f, 0.301029996f));
}

// Unless 1 + x is nearly 1, its rounding does not matter.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Log1p(Rough x) {
  const internal::LogReduction l = internal::ReduceLog(1.0f + x.v);
  const float far = static_cast<float>(l.k) * 0.693147181f + internal::RoughLogNear1(l.m - 1.0f);
  const float near = internal::RoughLogNear1(x.v);
  return Rough(internal::LogSpecial(x.v, -1.0f, l.k == 0 ? near : far));
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Log1pOfFraction(Rough t) {
  const float z = t.v / (2.0f + t.v), w = z * z;
  return Rough(t.v - z * (t.v - w * Polynomial(w, 0.666677654f, 0.398230702f, 0.326939553f)));
}

namespace internal {

// e^x / 2 for x >= 0.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float RoughHalfExp(float x) {
  const float in_range = x > 90.0f ? 90.0f : x;
  return 2.0f * RoughPowerOf2(in_range * 1.44269504f, -2);
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Sinh(Rough x) {
  const float z = x.v * x.v;
  const float near = x.v * Polynomial(z, 1.0f, 0.166667342f, 0.00832991209f, 0.000203939897f);
  const float h = internal::RoughHalfExp(Abs(x.v));
  return Rough(Abs(x.v) < 1.0f ? near : WithSign(h - 0.25f / h, x.v));
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Cosh(Rough x) {
  const float h = internal::RoughHalfExp(Abs(x.v));
  return Rough(h + 0.25f / h);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Tanh(Rough x) {
  const float size = Abs(x.v), in_range = size > 9.1f ? 9.1f : size;
  const float near =
      size * Polynomial(size * size, 0.999997854f, -0.333140403f, 0.130578563f, -0.0409294218f);
  const float far = 1.0f - 2.0f / (internal::RoughPowerOf2(in_range * 2.88539008f, 0) + 1.0f);
  return Rough(WithSign(size < 0.6f ? near : far, x.v));
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Atan(Rough x) {
  const float size = Abs(x.v), t = size > 1.0f ? 1.0f / size : size;
  const float y = t * Polynomial(t * t, 0.999999344f, -0.333265156f, 0.198814824f, -0.134871915f,
                                 0.0838711932f, -0.0370130017f, 0.00786337722f);
  return Rough(WithSign(size > 1.0f ? 1.57079633f - y : y, x.v));
}

namespace internal {

// asin(s) for s^2 = z, 0 <= z <= 1/4.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float RoughAsin(float s, float z) {
  return s * Polynomial(z, 0.999998493f, 0.166852104f, 0.0714844359f, 0.0650673119f);
}

}  // namespace internal

// The same as for floats: beyond 1/2 by twice the angle of sqrt((1 - |x|) / 2).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Asin(Rough x) {
  const float size = Abs(x.v);
  const bool far = size > 0.5f;
  const float z = far ? 0.5f * (1.0f - size) : size * size;
  const float a = internal::RoughAsin(far ? std::sqrt(z) : size, z);
  return Rough(WithSign(far ? 1.57079633f - 2.0f * a : a, x.v));
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Acos(Rough x) {
  const float size = Abs(x.v);
  const bool far = size > 0.5f;
  const float z = far ? 0.5f * (1.0f - size) : size * size;
  const float a = internal::RoughAsin(far ? std::sqrt(z) : x.v, z);
  const float wide = x.v < 0.0f ? 3.14159265f - 2.0f * a : 2.0f * a;
  return Rough(far ? wide : 1.57079633f - a);
}

// Like Sigmoid of floats: everything is first scaled by 2^-64.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Sigmoid(Rough x) {
  const float size = Abs(x.v), in_range = size > 104.0f ? 104.0f : size;
  const float y = 0x1p-64f / (0x1p-64f + internal::RoughPowerOf2(in_range * 1.44269504f, -64));
  return Rough(x.v < 0.0f ? y : 1.0f - y);
}

// x times a polynomial of x^2 up to 3.2, where it is 1 to 2^-17.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Erf(Rough x) {
  const float size = Abs(x.v), z = size > 3.2f ? 3.2f : size;
  const float y =
      z * Polynomial(0.1953125f * (z * z) - 1.0f, 0.441334575f, -0.217305765f, 0.154334098f,
                     -0.113674589f, 0.0808037519f, -0.0546147525f, 0.0326668955f, -0.0153631102f,
                     0.00856594276f, -0.00698080519f, 0.00273253932f);
  return Rough(WithSign(size > 3.2f ? 1.0f : y, x.v));
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Rough Gelu(Rough x) {
  const internal::RoughNormal n = internal::ReduceNormal(x.v);
  return Rough(internal::GeluOfTail(x.v, n.z * n.tail * n.power * internal::kUnlift<float>));
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE NormalValue<Rough> Normal(Rough x) {
  const internal::RoughNormal n = internal::ReduceNormal(x.v);
  const float upper = n.tail * n.power * internal::kUnlift<float>;
  return {Rough(0.398942280f * n.power * internal::kUnlift<float>),
          Rough(x.v < 0.0f ? upper : 1.0f - upper)};
}

}  // namespace firn::math

namespace firn {

// F for elements of half types, accurate to the digits that these keep.
template <class F>
struct RoughFn : F {
  using F::F;
  using Brief = void;
  template <class... T>
  FIRN_HOST_DEVICE float operator()(T... x) const {
    return static_cast<float>(F::operator()(math::Rough(x)...));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_MATH_HALF_H_

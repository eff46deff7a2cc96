#ifndef FIRN_TENSOR_KERNELS_MATH_TAIL_H_
#define FIRN_TENSOR_KERNELS_MATH_TAIL_H_

// Functions that fall like e^(-z^2): erfc and gelu, in straight-line code, for floats and doubles
// by one algorithm. Relative to results this small, every rounding of z^2, of the quotient and of
// the sums counts, so these errors are carried along and added last. Greatest errors in units of
// the last place, with (and without) fused multiply-adds, held by math_test.cc and
// math_f64_test.cc:
//   Erfc 1.2, f64 1.3   Gelu 2.2, f64 2.7 (3.0)

#include "firn/tensor/kernels/math.h"

namespace firn::math {
namespace internal {

// The tails without their exponential are P(t) / (a + z) with t = 1 - 2 a / (a + z), which maps all
// z >= 0 to [-1, 1) (M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of
// (1 + 2x) exp(x^2) erfc x", 1981). P is the minimax polynomial for relative errors; a is a power
// of two, so that 2 a / (a + z) is exact once the quotient is. Its first coefficients are sums of
// two: where P is small, their roundings would count.

// e^(z^2) erfc(z) for 0.45 <= z <= 10.2, relative error 2^-28.
struct ErfcFitF32 {
  static constexpr float kA = 2.0f, kC0 = 1.02158272f, kC0Rest = -1.50719703e-08f,
                         kC1 = -0.687160671f, kC1Rest = 2.07825952e-08f, kC2 = 0.279471785f,
                         kC3 = -0.0364434682f;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE static float AfterTwo(float t) {
    return Polynomial(t, kC2, kC3, -0.0215044506f, 0.00649128575f, 0.00304629537f, -0.000882936059f,
                      -0.000532209757f, 0.000102351696f);
  }
};
// For 0.47 <= z <= 28.5, relative error 2^-56.
struct ErfcFitF64 {
  static constexpr double kA = 2.0, kC0 = 1.021582705242023, kC0Rest = -2.5295001663169772e-17,
                          kC1 = -0.68716068441381051, kC1Rest = 5.3519558741089401e-17,
                          kC2 = 0.27947209255605882, kC3 = -0.036442231506904295;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE static double AfterTwo(double t) {
    const double w = t * t;
    return Polynomial(w, kC2, -0.021510661889814896, 0.0030906120692459505, -0.00066307365653274508,
                      0.0001444719855063546, -2.1701717191577551e-05, -1.114950445702875e-06,
                      2.0123990594927628e-06, -6.6681072080121179e-07, 1.8047589423055347e-07,
                      -7.666839205177628e-08) +
           t * Polynomial(w, kC3, 0.0064791850691504034, -0.00083729609913985937,
                          3.4371964236437081e-05, 3.4144302347720696e-05, -1.6095853241724939e-05,
                          3.5578010534365036e-06, 1.8102965274099727e-07, -5.2761801381871891e-07,
                          1.998391304473296e-07);
  }
};

// e^(z^2 / 2) P(X > z) for standard normal X, a = 4 and z from 0 to 14.6 and 39.5: the first
// coefficient of P and what follows it.
struct NormalFitF32 {
  static constexpr float kC0 = 0.755285144f;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE static float AfterFirst(float t) {
    return Polynomial(t, -0.607896566f, 0.387136906f, -0.186523482f, 0.0604037642f, -0.00752500212f,
                      -0.00351207866f, 0.00156958715f, 0.000178371155f, -0.000132432658f);
  }
};
struct NormalFitF64 {
  static constexpr double kC0 = 0.75528513041575152;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE static double AfterFirst(double t) {
    const double w = t * t;
    return Polynomial(w, -0.60789664197189208, -0.18652185795966453, -0.0075401889664638922,
                      0.001630818453710361, -0.00023109490731794676, 3.5144588006608317e-05,
                      -5.9200702808738933e-06, 1.0219778379858361e-06, -1.5674379822592121e-07,
                      1.6176182833935019e-08, -3.7136047481709852e-10) +
           t * Polynomial(w, 0.38713740074221958, 0.060396574890659867, -0.0034796923614824273,
                          0.00013334424732610334, -1.9078375602092858e-06, 7.1495568572497604e-07,
                          -6.2519446095618784e-07, 2.6413029886190334e-07, -7.7222577355559196e-08,
                          1.4650432190646815e-08, -1.2113331230486201e-09);
  }
};

template <class T>
struct TailSum {
  T high, low;
};

// P(t) / (a + z).
template <class Fit, class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE TailSum<T> ScaledTail(T z) {
  using inner::ProductRest, inner::RoundedProduct;
  const T d = Fit::kA + z, d_rest = z - (d - Fit::kA);
  // 1 / (a + z) is u (1 + off), and t is corrected by t_rest.
  const T u = T(1) / d, off = -(ProductRest(u, d, T(1)) + u * d_rest);
  const T v = (T(2) * Fit::kA) * u, t = T(1) - v, t_rest = ((T(1) - t) - v) - v * off;
  const T after = Fit::AfterTwo(t), p1 = RoundedProduct(t, after), q = Fit::kC1 + p1;
  const T q_rest = (((Fit::kC1 - q) + p1) + Fit::kC1Rest) + ProductRest(t, after, p1);
  const T p0 = RoundedProduct(t, q), p = Fit::kC0 + p0;
  const T p_rest = (((Fit::kC0 - p) + p0) + Fit::kC0Rest) + ProductRest(t, q, p0) + t * q_rest;
  const T slope = Fit::kC1 + t * (T(2) * Fit::kC2 + t * (T(3) * Fit::kC3));
  const T high = RoundedProduct(u, p);
  return {high, ProductRest(u, p, high) + (u * (p_rest + slope * t_rest) + high * off)};
}

// e^(-scale z^2) = 2^n e^(r + rest) for scale 1 or 1/2; `power` is 2^(n + 64) of floats and
// 2^(n + 512) of doubles, a normal number for all n that count, so that results are rounded once.
template <class T>
struct SquareReduction {
  T r, rest, power;
};
template <class T>
inline constexpr T kUnlift = std::is_same_v<T, float> ? T(0x1p-64) : T(0x1p-512);

// `off` is added to the exponent.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SquareReduction<float> ReduceSquare(float z, float scale,
                                                                        float off = 0.0f) {
  const float square = inner::RoundedProduct(z, z), lost = inner::ProductRest(z, z, square);
  const float x = -scale * square, shifted = x * 1.44269504f + kShift, n = shifted - kShift;
  // n times the first part of ln 2 is exact, like in ReduceExp, and so is its difference to x.
  const float high = x - n * 0.693359375f, low = (n * 2.12194440e-4f - scale * lost) + off;
  const float r = high + low;
  return {r, (high - r) + low,
          std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + (127u + 64u)) << 23)};
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SquareReduction<double> ReduceSquare(double z, double scale,
                                                                         double off = 0.0) {
  const double square = inner::RoundedProduct(z, z), lost = inner::ProductRest(z, z, square);
  const ExpReductionF64 e = ReduceExp(-scale * square);
  const double low = (e.rest - scale * lost) + off, r = e.r + low;
  return {r, (e.r - r) + low, PowerOf2F64(e.n + 512u)};
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ExpTail(float r) { return Expm1Tail(r); }

// f e^(-scale z^2), rounded once also where it is subnormal.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T TimesExpOfSquare(TailSum<T> f, T z, T scale) {
  const auto e = ReduceSquare(z, scale);
  const T low = f.low + f.high * e.rest, p = inner::RoundedProduct(f.high, e.r), sum = f.high + p;
  const T rest = ((f.high - sum) + p) + (inner::ProductRest(f.high, e.r, p) + (low + low * e.r));
  return (sum + (f.high * ExpTail(e.r) + rest)) * e.power * kUnlift<T>;
}

// erfc(|x|), or 2 - erfc(|x|) for negative x. Requires: |x| >= 0.47.
template <class Fit, class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T ErfcTail(T x, T last) {
  const T z = AtMost(Abs(x), last);
  const T tail = TimesExpOfSquare(ScaledTail<Fit>(z), z, T(1));
  return x < T(0) ? T(2) - tail : tail;
}

// x P(X <= x) from |x| P(X > |x|); NaN for -inf, because 0 times infinity is NaN.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T GeluOfTail(T x, T tail) {
  const T y = x < T(0) ? -tail : x - tail;
  return x == -std::numeric_limits<T>::infinity() ? std::numeric_limits<T>::quiet_NaN() : y;
}

}  // namespace internal

// 1 - Erf(x): 2 / sqrt(pi) times the integral of e^(-t^2) from x to infinity.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Erfc(float x) {
  const float far = internal::ErfcTail<internal::ErfcFitF32>(x, 10.2f);
  return Abs(x) < 0.5f ? 1.0f - internal::SmallErf(x) : far;
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Erfc(double x) {
  const double far = internal::ErfcTail<internal::ErfcFitF64>(x, 28.0);
  return Abs(x) < 0.47 ? 1.0 - internal::SmallErf(x) : far;
}

namespace internal {

// x P(X <= x) for standard normal X. The error in the argument of P is corrected in the exponent,
// by the slope of log (P(t) / (a + z)) over that of log (a + z), which is linear to a tenth of
// itself.
template <class Fit, class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T GeluBy(T x, T last) {
  using inner::ProductRest, inner::RoundedProduct;
  const T z = AtMost(Abs(x), last);
  const T d = T(4) + z, u = T(1) / d, t = T(1) - T(8) * u;
  const T off = ProductRest(u, d, T(1)) + u * (z - (d - T(4)));
  const T q = Fit::AfterFirst(t), p = Fit::kC0 + t * q;
  const T f = RoundedProduct(u, p), high = RoundedProduct(z, f);
  const T f_rest = ProductRest(u, p, f) + u * ((Fit::kC0 - p) + t * q);
  const T low = ProductRest(z, f, high) + z * f_rest;
  const SquareReduction<T> e = ReduceSquare(z, T(0.5), off * (T(1.2) * t - T(1.85)));
  const T m = e.r + ExpTail(e.r);
  return GeluOfTail(x, (high + (high * m + (low * m + low))) * e.power * kUnlift<T>);
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Gelu(float x) {
  return internal::GeluBy<internal::NormalFitF32>(x, 14.6f);
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Gelu(double x) {
  return internal::GeluBy<internal::NormalFitF64>(x, 39.0);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_TAIL_H_

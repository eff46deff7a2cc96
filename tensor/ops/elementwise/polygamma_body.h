#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_POLYGAMMA_BODY_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_POLYGAMMA_BODY_H_

// The derivatives of the logarithm of the gamma function from the second on, in double:
//
//   polygamma(n, x) = (-1)^s n! (the sum of (x + k)^-s over all k >= 0),     s = n + 1,
//
// a sum that is Hurwitz's zeta(s, x). Its terms up to x + k >= s + 10 are added one by one, of
// which only a few count where s is large; Euler and Maclaurin's formula gives the rest (NIST
// Handbook of Mathematical Functions, 2010, 25.11.28). For x < 0 the terms on either side of the
// pole next to x are two such sums,
//
//   zeta(s, f) + (-1)^s (zeta(s, 1 - f) - zeta(s, 1 - x)),                   f = x - floor(x),
//
// without the derivatives of a cotangent, whose coefficients cancel. n! or a power of x may exceed
// a double where the result does not, so sums are relative to their first term, and their factor is
// a fraction with an exponent.

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/kernels/math_base.h"
#include "firn/tensor/ops/elementwise/polygamma.h"

namespace firn {

inline constexpr int64_t kMostPolygamma = 1000;

// fraction * 2^exponent.
struct WideNumber {
  double fraction;
  int exponent;
};

// B_2j / (2j)! for j from 1 on.
struct BernoulliShares {
  double of[12] = {0.083333333333333333,    -0.0013888888888888889,  3.3068783068783069e-05,
                   -8.2671957671957672e-07, 2.0876756987868099e-08,  -5.2841901386874932e-10,
                   1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
                   -2.1748686985580619e-16, 5.5090028283602295e-18,  -1.3954464685812523e-19};
};

struct PolygammaFn {
  using Attrs = PolygammaAttrs;
  explicit PolygammaFn(const PolygammaAttrs& a) : n(static_cast<int>(a.n)) {
    // n!, and the rounding error of its fraction.
    double high = 1, low = 0;
    factorial.exponent = 0;
    for (int i = 2; i <= n; ++i) {
      const double product = high * i;
      low = low * i + std::fma(high, static_cast<double>(i), -product);
      int e = 0;
      high = std::frexp(product, &e);
      low = std::ldexp(low, -e);
      factorial.exponent += e;
    }
    factorial.fraction = high + low;
  }

  // Not inlined: a device's loop contains its functor up to 44 times, and nvcc took minutes for so
  // many copies of all the series.
  FIRN_HOST_DEVICE FIRN_NOINLINE double operator()(double x) const {
    const bool even = n % 2 == 0;
    if (!(x < 0)) {  // NaN among them
      if (x == 0) return even ? std::copysign(Infinity(), -x) : Infinity();
      if (!(x < Infinity())) return x > 0 ? 0 : x;
      const double value = Scaled(x, Zeta(x));
      return even ? -value : value;
    }
    const double r = x - std::nearbyint(x);  // exact
    if (r == 0 || !(x > -Infinity())) {
      return even || x == -Infinity() ? std::numeric_limits<double>::quiet_NaN() : Infinity();
    }
    // Relative to b^-s, b the distance to the next pole; the other neighbour is at 1 - b, and its
    // first term e^t.
    const double s = n + 1.0, b = std::abs(r), t = s * std::log1p((2 * b - 1) / (1 - b));
    const double near = Terms(1, b), other = std::exp(t) * Terms(1, 1 - b), far = Zeta(1 - x);
    // In the middle between poles both are equal, and only the rest remains.
    if (even && b == 0.5) return -Scaled(1 - x, far);
    const double beyond = std::exp(s * std::log(b / (1 - x))) * far;
    if (!even) return Scaled(b, (1 + near) + ((std::exp(t) + other) - beyond));
    const double difference = (near - other) - std::expm1(t);
    return -Scaled(b, (r > 0 ? difference : -difference) + beyond);  // f is b or 1 - b
  }
  FIRN_HOST_DEVICE float operator()(float x) const {
    return static_cast<float>((*this)(static_cast<double>(x)));
  }

  int n;
  WideNumber factorial;

 private:
  FIRN_HOST_DEVICE static double Infinity() { return std::numeric_limits<double>::infinity(); }

  FIRN_HOST_DEVICE double Enough() const { return n + 11.0; }

  // x^s zeta(s, x) for x > 0.
  FIRN_HOST_DEVICE double Zeta(double x) const {
    return x < Enough() ? 1 + Terms(1, x) : Terms(0, x);
  }
  // Its terms from number k on, 0 or 1.
  FIRN_HOST_DEVICE double Terms(int k, double x) const {
    const double s = n + 1.0;
    double sum = 0, term = k == 0 ? 1 : std::exp(-s * std::log1p(1 / x)), a = x + k;
    while (a < Enough()) {
      sum += term;
      if (term <= 0x1p-60 * sum) return sum;
      ++k;
      a = x + k;
      term = std::exp(-s * std::log1p(k / x));
    }
    double rest = 0, rising = s / a;
    constexpr BernoulliShares kShares;
    for (int j = 0; j < 12; ++j) {
      const double next = kShares.of[j] * rising;
      rest += next;
      if (std::abs(next) < 0x1p-60) break;
      rising *= (s + 2 * j + 1) / a * ((s + 2 * j + 2) / a);
    }
    return sum + term * (a / (s - 1) + (0.5 + rest));
  }

  // n! x^-s v for x > 0.
  FIRN_HOST_DEVICE double Scaled(double x, double v) const {
    int of_x = 0, of_v = 0;
    double m = std::frexp(x, &of_x);
    if (m < 0.70710678118654752) m *= 2, --of_x;
    const double fraction = std::frexp(v, &of_v) * factorial.fraction;
    return std::ldexp(fraction * std::pow(m, -(n + 1.0)),
                      factorial.exponent + of_v - of_x * (n + 1));
  }
};

// For a low n and the usual arguments, without branches: adds the few terms and the rest of the
// formula, which is a polynomial. Negative arguments above kLowest take the same way, since x + k
// is exact until it is positive. In double, those of an even n do not, because a sum of terms of
// both signs would lose the digits that it has near its zeros.
template <int kN>
struct LowPolygammaFn : PolygammaFn {
  using PolygammaFn::PolygammaFn;

  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool IsRare(float x) const {
    return (x <= 0) & ((x < -kLowest) | (x == std::nearbyint(x)));
  }
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool IsRare(double x) const {
    const bool negative = (x < -kLowest) | (kN % 2 == 0) | (x == std::nearbyint(x));
    return ((x <= 0) & negative) | (math::Abs(x) < 0x1p-200) | (x > 0x1p200);
  }
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Usual(float x) const {
    return static_cast<float>(Sum<6>(static_cast<double>(x)));
  }
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Usual(double x) const { return Sum<10>(x); }

 private:
  static constexpr int kLowest = 4;

  static constexpr double Factorial(int of) { return of < 2 ? 1 : of * Factorial(of - 1); }

  // Adds v^-s, (v + 1)^-s, ... while v is below `kFrom`, and multiplies all by n!.
  template <int kFrom>
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE static double Sum(double v) {
    double sum = 0;
    AddUp<kFrom, kFrom + kLowest>(v, sum);
    const double r = 1 / v, r2 = r * r;
    const double high = kN == 1 ? r : kN == 2 ? r2 : r2 * r;  // r^n
    const double rest = Rest(r2, std::make_index_sequence<12>());
    const double value =
        Factorial(kN) * sum + high * (Factorial(kN - 1) + r * (Factorial(kN) / 2) + r2 * rest);
    return kN % 2 == 0 ? -value : value;
  }
  template <int kFrom, int kSteps>
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE static void AddUp(double& v, double& sum) {
    const bool step = v < kFrom;
    const double square = v * v;
    const double power = kN == 1 ? square : kN == 2 ? square * v : square * square;
    sum = step ? sum + 1 / power : sum;
    v = step ? v + 1 : v;
    if constexpr (kSteps > 1) AddUp<kFrom, kSteps - 1>(v, sum);
  }
  template <size_t... J>
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE static double Rest(double r2, std::index_sequence<J...>) {
    constexpr BernoulliShares kShares;
    return math::Polynomial(r2, (kShares.of[J] * Factorial(2 * static_cast<int>(J) + 1 + kN))...);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_POLYGAMMA_BODY_H_

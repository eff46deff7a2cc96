#ifndef FIRN_TENSOR_OPS_RANDOM_DISTRIBUTIONS_BODY_H_
#define FIRN_TENSOR_OPS_RANDOM_DISTRIBUTIONS_BODY_H_

// Draws element e of binomial and rand_gamma, from counter e behind the position; each attempt uses
// one of 2^32 sets of words of that counter. So a refused number does not affect its neighbours,
// and each element is the same on every device. All is computed in double.

#include <limits>
#include <type_traits>

#include "firn/device/philox.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/math_gamma.h"
#include "firn/tensor/kernels/random_normal.h"
#include "firn/tensor/ops/random/distributions.h"

namespace firn {

// The random words of element e.
struct Attempts {
  PhiloxState at;
  uint64_t element;

  FIRN_HOST_DEVICE PhiloxResult operator()(uint32_t attempt) const {
    const uint64_t n = at.offset + element;
    return Philox4x32({{static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), attempt, 0}},
                      static_cast<uint32_t>(at.seed), static_cast<uint32_t>(at.seed >> 32));
  }
};

// `state` is a generator's, or a position taken from one.
FIRN_HOST_DEVICE inline Attempts AttemptsOf(const int64_t* state, int64_t element) {
  return {{static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1])},
          static_cast<uint64_t>(element)};
}

namespace binomial {

inline constexpr double kLogRoot2Pi = 0.91893853320467274178;

// log(n!) - log(sqrt(2 pi n) (n / e)^n) for a whole n >= 1.
FIRN_HOST_DEVICE inline double StirlingRest(double n) {
  if (n < 16) return math::Lgamma(n + 1) - (n + 0.5) * math::Log(n) + n - kLogRoot2Pi;
  const double w = 1 / (n * n);
  return math::Polynomial(w, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188) / n;
}

// x log(x / mean) + mean - x without cancellation where the two are close.
FIRN_HOST_DEVICE inline double Deviance(double x, double mean) {
  const double far = x - mean, v = far / (x + mean), v2 = v * v;
  if (!(v2 < 0.01)) return x * math::Log(x / mean) - far;
  double sum = far * v, power = 2 * x * v;
  for (int j = 1; j < 12; ++j) {
    power *= v2;
    sum += power / (2 * j + 1);
  }
  return sum;
}

// Probabilities by C. Loader, "Fast and accurate computation of binomial probabilities", 2000:
// their logarithms up to one number, which holds for any n.
struct Probabilities {
  double n, p;  // 0 < p < 1

  FIRN_HOST_DEVICE double Log(double k) const {
    if (k == 0) return n * math::Log1p(-p) - StirlingRest(n) + kLogRoot2Pi;
    if (k == n) return n * math::Log(p) - StirlingRest(n) + kLogRoot2Pi;
    return -StirlingRest(k) - StirlingRest(n - k) - Deviance(k, n * p) -
           Deviance(n - k, n * (1 - p)) - 0.5 * (math::Log(k) + math::Log((n - k) / n));
  }
};

// By transformed rejection with squeeze (W. Hoermann, "The generation of binomial random variates",
// 1993: BTRS). Requires: n p >= 10, p <= 1/2.
FIRN_HOST_DEVICE inline double Rejected(const Attempts& draw, double n, double p) {
  const double spread = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double center = n * p + 0.5, sure = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
  const Probabilities chances{n, p};
  const double most = chances.Log(std::floor((n + 1) * p));
  for (uint32_t attempt = 0;; ++attempt) {
    const PhiloxResult r = draw(attempt);
    const double u = UniformDouble(r.v[0], r.v[1]) - 0.5, v = UniformDouble(r.v[2], r.v[3]);
    const double left = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / left + b) * u + center);
    if (left >= 0.07 && v <= sure) return k;
    if (!(k >= 0 && k <= n)) continue;
    if (math::Log(v * alpha / (a / (left * left) + b)) <= chances.Log(k) - most) return k;
  }
}

// By adding probabilities up until they exceed one random number. Requires: n p < 10, p <= 1/2.
FIRN_HOST_DEVICE inline double Counted(const Attempts& draw, double n, double p) {
  const PhiloxResult r = draw(0);
  double u = UniformDouble(r.v[0], r.v[1]);
  double chance = math::Exp(n * math::Log1p(-p)), k = 0;
  const double odds = p / (1 - p);
  while (u >= chance && k < n && chance > 0) {
    u -= chance;
    chance *= (n - k) / (k + 1) * odds;
    ++k;
  }
  return k;
}

FIRN_HOST_DEVICE inline double Number(const Attempts& draw, double n, double p) {
  if (!(n >= 0 && n <= std::numeric_limits<double>::max() && p >= 0 && p <= 1)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  n = std::floor(n);
  const bool mirrored = p > 0.5;
  const double rare = mirrored ? 1 - p : p;
  const double k = n * rare < 10 ? Counted(draw, n, rare) : Rejected(draw, n, rare);
  return mirrored ? n - k : k;
}

}  // namespace binomial

template <class T>
struct BinomialBody {
  const int64_t* state;
  const T *count, *prob;
  T* out;

  FIRN_HOST_DEVICE void operator()(int64_t e) const {
    const double k = binomial::Number(AttemptsOf(state, e), static_cast<double>(count[e]),
                                      static_cast<double>(prob[e]));
    out[e] = static_cast<T>(static_cast<AccumulatorOf<T>>(k));
  }
  int64_t cost() const { return 32; }
};

template <class On>
absl::Status DrawBinomial(const On& on, const KernelContext& k, const int64_t* state) {
  return VisitFloat(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    return on.ForEach(k.out_spec().num_elements(),
                      BinomialBody<T>{state, k.in<T>(1), k.in<T>(2), k.out<T>()});
  });
}

// --- Gamma --------------------------------------------------------------------------------------

namespace gamma {

// The logarithm of a number of the standard gamma distribution, by G. Marsaglia and W. W. Tsang, "A
// simple method for generating gamma variables", 2000. For a < 1, a number for a + 1 times u^(1 /
// a). An attempt takes two numbers of words. Requires: a > 0.
FIRN_HOST_DEVICE inline double LogNumber(const Attempts& draw, double a) {
  const double d = (a < 1 ? a + 1 : a) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (uint32_t attempt = 0;; attempt += 2) {
    const PhiloxResult r = draw(attempt), q = draw(attempt + 1);
    const double x = NormalDoublesFrom(r.v[0], r.v[1], r.v[2], r.v[3]).first;
    const double root = 1 + c * x;
    if (!(root > 0)) continue;
    const double log_v = 3 * math::Log(root), v = root * root * root;
    const double u = 1 - UniformDouble(q.v[0], q.v[1]), x2 = x * x;
    if (u >= 1 - 0.0331 * x2 * x2 && math::Log(u) >= 0.5 * x2 + d * (1 - v + log_v)) continue;
    const double y = math::Log(d) + log_v;
    return a < 1 ? y + math::Log(1 - UniformDouble(q.v[2], q.v[3])) / a : y;
  }
}

// The slope of log x in a where P, the probability of a number below x, stays as it is: -dP/da over
// x times the density. Each form is a sum of positive terms, so that nothing cancels. Both end
// where a step changes less than about `digits` of the sum. The error is at most some hundred times
// that, since a is at most 1000.

// P = x^a e^-x / gamma(a + 1) times 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...
// Requires: x <= a + 1.
FIRN_HOST_DEVICE inline double SlopeBelow(double a, double x, double log_x, double digits) {
  double sum = 1, term = 1, slopes = 0, harmonic = 0;
  for (int n = 1; n < 2000 && term > digits * sum; ++n) {
    const double share = 1 / (a + n);
    term *= x * share;
    harmonic += share;
    sum += term;
    slopes += term * harmonic;
  }
  return ((math::Digamma(a + 1) - log_x) * sum + slopes) / a;
}

// 1 - P = x^a e^-x / gamma(a) times the continued fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a
// - 2 (2 - a) / ...)), whose numerators and denominators are taken with their slopes in a.
// Requires: x >= a + 1.
FIRN_HOST_DEVICE inline double SlopeAbove(double a, double x, double log_x, double digits) {
  double p0 = 1, p1 = 0, q0 = 0, q1 = 1, dp0 = 0, dp1 = 0, dq0 = 0, dq1 = 0;
  double value = 0, slope = 0, b = x + 1 - a, over = 1, dover = 0;
  for (int j = 1; j < 2000; ++j) {
    const double p = b * p1 + over * p0, q = b * q1 + over * q0;
    const double dp = b * dp1 - p1 + over * dp0 + dover * p0;
    const double dq = b * dq1 - q1 + over * dq0 + dover * q0;
    const double unit = 1 / q;
    p0 = p1 * unit, q0 = q1 * unit, dp0 = dp1 * unit, dq0 = dq1 * unit;
    p1 = p * unit, q1 = 1, dp1 = dp * unit, dq1 = dq * unit;
    const double was = slope;
    value = p1, slope = dp1 - value * dq1;
    if (j > 3 && std::fabs(slope - was) <= 10 * digits * value) break;
    b += 2;
    over = -j * (j - a), dover = j;
  }
  return value * (log_x - math::Digamma(a)) + slope;
}

// x is a + z sqrt(a) + (z^2 - 1) / 3 + ... for a normal number z of the same probability (the
// expansion of E. A. Cornish and R. A. Fisher, 1937); z by Newton's method. For large a.
FIRN_HOST_DEVICE inline double SlopeOfLarge(double a, double x, double log_x) {
  const double r = 1 / std::sqrt(a), r2 = r * r;
  double z = 3 / r * (math::Exp((log_x - math::Log(a)) / 3) - 1 + r2 / 9);
  const double far = (x - a) * r;
  for (int i = 0; i < 4; ++i) {
    const double z2 = z * z;
    const double y =
        z + r * ((z2 - 1) / 3 +
                 r * (z * (z2 - 7) / 36 - r * (((3 * z2 + 7) * z2 - 16) / 810 -
                                               r * z * ((9 * z2 + 256) * z2 - 433) / 38880)));
    const double dy = 1 + r * (z * 2 / 3 + r * ((3 * z2 - 7) / 36));
    z -= (y - far) / dy;
  }
  const double z2 = z * z;
  const double slope =
      1 +
      r * (z / 2 - r2 * (z * (z2 - 7) / 72 - r * (((3 * z2 + 7) * z2 - 16) / 810 -
                                                  r * z * ((9 * z2 + 256) * z2 - 433) / 25920)));
  return slope / x;
}

// For numbers of T: results that are rounded to f32 or less need fewer steps.
template <class T>
FIRN_HOST_DEVICE inline double LogSlope(double a, double x, double log_x) {
  constexpr double kDigits = std::is_same_v<T, double> ? 1e-17 : 1e-12;
  if (a > 1000) return SlopeOfLarge(a, x, log_x);
  return x > a + 1 ? SlopeAbove(a, x, log_x, kDigits) : SlopeBelow(a, x, log_x, kDigits);
}

// The smallest normal and the lowest finite number of a dtype.
template <class T>
struct Least {
  static constexpr double kNormal = 0x1p-126, kLowest = -0x1.fffffep127;
};
template <>
struct Least<double> {
  static constexpr double kNormal = 0x1p-1022, kLowest = -0x1.fffffffffffffp1023;
};
template <>
struct Least<Half> {
  static constexpr double kNormal = 0x1p-14, kLowest = -65504;
};
template <>
struct Least<BFloat16> {
  static constexpr double kNormal = 0x1p-126, kLowest = -0x1.fep127;
};

}  // namespace gamma

template <class T>
struct RandGammaBody {
  const int64_t* state;
  const T* shape;
  T* out;
  bool log;

  FIRN_HOST_DEVICE void operator()(int64_t e) const {
    out[e] = static_cast<T>(static_cast<AccumulatorOf<T>>(Number(e)));
  }
  FIRN_HOST_DEVICE double Number(int64_t e) const {
    const double a = static_cast<double>(shape[e]);
    if (a == 0 && !log) return 0;
    if (!(a > 0)) return std::numeric_limits<double>::quiet_NaN();
    const double y = gamma::LogNumber(AttemptsOf(state, e), a);
    const double value = log ? y : math::Exp(y),
                 least = log ? gamma::Least<T>::kLowest : gamma::Least<T>::kNormal;
    return value < least ? least : value;
  }
  int64_t cost() const { return 32; }
};

template <class On>
absl::Status DrawGamma(const On& on, const KernelContext& k, const int64_t* state) {
  return VisitFloat(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    return on.ForEach(k.out_spec().num_elements(), RandGammaBody<T>{state, k.in<T>(1), k.out<T>(),
                                                                    k.attrs<RandGammaAttrs>().log});
  });
}

template <class T>
struct RandGammaGradBody {
  const T *dy, *shape, *y;
  T* out;
  bool log;

  FIRN_HOST_DEVICE void operator()(int64_t e) const {
    const double value = static_cast<double>(dy[e]) * Slope(e);
    out[e] = static_cast<T>(static_cast<AccumulatorOf<T>>(value));
  }
  FIRN_HOST_DEVICE double Slope(int64_t e) const {
    const double a = static_cast<double>(shape[e]), v = static_cast<double>(y[e]);
    if (log) return gamma::LogSlope<T>(a, math::Exp(v), v);
    return v == 0 ? 0 : v * gamma::LogSlope<T>(a, v, math::Log(v));
  }
  int64_t cost() const { return 64; }
};

struct RandGammaGradKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitFloat(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
      return on.ForEach(k.out_spec().num_elements(),
                        RandGammaGradBody<T>{k.in<T>(0), k.in<T>(1), k.in<T>(2), k.out<T>(),
                                             k.attrs<RandGammaAttrs>().log});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_DISTRIBUTIONS_BODY_H_

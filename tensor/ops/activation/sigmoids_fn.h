#ifndef FIRN_TENSOR_OPS_ACTIVATION_SIGMOIDS_FN_H_
#define FIRN_TENSOR_OPS_ACTIVATION_SIGMOIDS_FN_H_

#include <limits>

#include "firn/tensor/kernels/math_half.h"
#include "firn/tensor/kernels/math_tail.h"
#include "firn/tensor/ops/activation/sigmoids.h"

namespace firn {

struct SigmoidFn {
  using ForHalf = RoughFn<SigmoidFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Sigmoid(x);
  }
};

struct SigmoidGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T y) const {
    return dy * (y * (T(1) - y));
  }
};

struct LogSigmoidFn {
  using ForHalf = RoughFn<LogSigmoidFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return (x < T(0) ? x : T(0)) - math::Log1pOfFraction(math::Exp(-math::Abs(x)));
  }
};

struct LogSigmoidGradFn {
  using ForHalf = RoughFn<LogSigmoidGradFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    return dy * math::Sigmoid(-x);
  }
};

struct TanhFn {
  using ForHalf = RoughFn<TanhFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Tanh(x);
  }
};

struct TanhGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T y) const {
    return dy * (T(1) - y * y);
  }
};

struct SoftsignFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x / (T(1) + math::Abs(x));
  }
};

struct SiluFn {
  using ForHalf = RoughFn<SiluFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x * math::Sigmoid(x);
  }
};

struct SiluGradFn {
  using ForHalf = RoughFn<SiluGradFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T s = math::Sigmoid(x);
    return dy * (s * (T(1) + x * (T(1) - s)));
  }
};

struct GeluFn {
  using ForHalf = RoughFn<GeluFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Gelu(x);
  }
};

struct GeluGradFn {
  using ForHalf = RoughFn<GeluGradFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const math::NormalValue<T> n = math::Normal(x);
    return dy * (n.integral + x * n.density);
  }
};

// The tanh form is x sigmoid(c1 x + c3 x^3): (1 + tanh u) / 2 = sigmoid(2 u), which keeps its
// digits for negative x.
struct GeluCubic {
  static constexpr double kC1 = 1.5957691216057308;  // 2 sqrt(2 / pi)
  static constexpr double kC3 = 1.5957691216057308 * 0.044715;
};

struct GeluTanhFn {
  using ForHalf = RoughFn<GeluTanhFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x * math::Sigmoid(x * (T(GeluCubic::kC1) + T(GeluCubic::kC3) * (x * x)));
  }
};

struct GeluTanhGradFn {
  using ForHalf = RoughFn<GeluTanhGradFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T square = x * x > T(1000) ? T(1000) : x * x;  // the sigmoid is 0 or 1 long before
    const T s = math::Sigmoid(x * (T(GeluCubic::kC1) + T(GeluCubic::kC3) * square));
    const T slope = T(GeluCubic::kC1) + T(3 * GeluCubic::kC3) * square;
    const T above = x > T(-1000) ? x : T(-1000), bounded = above < T(1000) ? above : T(1000);
    return dy * (s + (s * (T(1) - s)) * (bounded * slope));
  }
};

// For devices: one loop is enough, with the form as a number of the call.
template <class Exact, class WithTanh>
struct EitherGelu {
  using Attrs = GeluAttrs;
  explicit EitherGelu(const GeluAttrs& a) : with_tanh(a.approximate == GeluApproximate::kTanh) {}
  template <class... T>
  FIRN_HOST_DEVICE auto operator()(T... x) const {
    return with_tanh ? WithTanh()(x...) : Exact()(x...);
  }
  bool with_tanh;
};

// log(1 + e^u) = max(u, 0) + log(1 + e^-|u|).
struct SoftplusFn {
  using ForHalf = RoughFn<SoftplusFn>;
  using Attrs = SoftplusAttrs;
  explicit SoftplusFn(const SoftplusAttrs& a) : beta(a.beta), threshold(a.threshold) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T u = x * static_cast<T>(beta);
    const T y = ((u < T(0) ? T(0) : u) + math::Log1pOfFraction(math::Exp(-math::Abs(u)))) /
                static_cast<T>(beta);
    return u > static_cast<T>(threshold) ? x : y;
  }
  double beta, threshold;
};

struct SoftplusGradFn {
  using ForHalf = RoughFn<SoftplusGradFn>;
  using Attrs = SoftplusAttrs;
  explicit SoftplusGradFn(const SoftplusAttrs& a) : beta(a.beta), threshold(a.threshold) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T u = x * static_cast<T>(beta);
    const T slope = math::Sigmoid(u);
    return u > static_cast<T>(threshold) ? dy : dy * slope;
  }
  double beta, threshold;
};

// With n = e^x, tanh(log(1 + n)) = n (n + 2) / (n (n + 2) + 2), which is 1 long before n^2
// overflows.
struct MishFn {
  using ForHalf = RoughFn<MishFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T n = math::Exp(x > T(20) ? T(20) : x);
    const T w = n * (n + T(2));
    return x * (w / (w + T(2)));
  }
};

// With d = n (n + 2) + 2, that is (n (n + 2) d + 4 x n (n + 1)) / d^2, which is 1 from 22 on. n / d
// comes first, so that no x overflows.
struct MishGradFn {
  using ForHalf = RoughFn<MishGradFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T bounded = x > T(22) ? T(22) : x;
    const T n = math::Exp(bounded);
    const T w = n * (n + T(2));
    const T share = T(1) / (w + T(2));
    const T slope = w * share + (bounded * (n * share)) * (T(4) * ((n + T(1)) * share));
    return dy * slope;
  }
};

// Without eps no number is cut off.
struct LogitRange {
  using Attrs = LogitAttrs;
  explicit LogitRange(const LogitAttrs& a) {
    if (a.eps >= 0) low = a.eps, high = 1 - a.eps;
  }
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

struct LogitFn : LogitRange {
  using LogitRange::LogitRange;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T least = static_cast<T>(low), most = static_cast<T>(high);
    const T above = x < least ? least : x, p = above > most ? most : above;
    return math::Log(p / (T(1) - p));
  }
};

struct LogitGradFn : LogitRange {
  using LogitRange::LogitRange;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T dx = dy / (x * (T(1) - x));
    return (x < static_cast<T>(low)) | (x > static_cast<T>(high)) ? T(0) : dx;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ACTIVATION_SIGMOIDS_FN_H_

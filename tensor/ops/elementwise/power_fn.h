#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_POWER_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_POWER_FN_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/math_pow.h"
#include "firn/tensor/ops/elementwise/power.h"

namespace firn {

struct PowFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return math::Pow(x, y);
  }
};

struct PowNumberFn {
  using Attrs = PowNumberAttrs;
  explicit PowNumberFn(const PowNumberAttrs& a) : exponent(a.exponent) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Pow(x, static_cast<T>(exponent));
  }
  double exponent;
};

// Whether an exponent is an odd number that f32 does not hold, because its numbers of this size are
// even.
FIRN_HOST_DEVICE constexpr bool IsFarOdd(double exponent) {
  const double size = exponent < 0 ? -exponent : exponent;
  return size >= 0x1p24 && size < 0x1p53 && static_cast<int64_t>(size) % 2 == 1 &&
         size == static_cast<double>(static_cast<int64_t>(size));
}
struct PowFarOddFn {
  using Attrs = PowNumberAttrs;
  explicit PowFarOddFn(const PowNumberAttrs& a) : exponent(a.exponent) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return std::copysign(math::Pow(math::Abs(x), static_cast<T>(exponent)), x);
  }
  double exponent;
};

// Powers that need no logarithm.
struct CubeFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x * x * x;
  }
};
struct PowHalfFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct PowMinusHalfFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};
struct PowMinusOneFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return T(1) / x;
  }
};
struct PowMinusTwoFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return T(1) / (x * x);
  }
};

// For devices: all shortcuts share a loop, and the call has the number of its shortcut.
struct PowAnyNumberFn {
  using Attrs = PowNumberAttrs;
  explicit PowAnyNumberFn(const PowNumberAttrs& a)
      : any(a), far_odd(a), halves(IsFarOdd(a.exponent) ? kFarOdd : 0) {
    constexpr double kShort[] = {3.0, 0.5, -0.5, -1.0, -2.0};
    for (double e : kShort) {
      if (a.exponent == e) halves = static_cast<int>(2 * e);
    }
  }
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    switch (halves) {
      case 6:
        return CubeFn()(x);
      case 1:
        return PowHalfFn()(x);
      case -1:
        return PowMinusHalfFn()(x);
      case -2:
        return PowMinusOneFn()(x);
      case -4:
        return PowMinusTwoFn()(x);
      case kFarOdd:
        return far_odd(x);
      default:
        return any(x);
    }
  }
  static constexpr int kFarOdd = 1000;
  PowNumberFn any;
  PowFarOddFn far_odd;
  int halves;  // the exponent's, where there is a shortcut
};

struct SquareFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(x * x);
  }
};

struct SqrtFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return std::sqrt(x);
  }
};

struct RsqrtFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};

struct ReciprocalFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return T(1) / x;
  }
};

// Uses the ratio of the smaller to the larger, whose square stays in range.
struct HypotFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    const T a = math::Abs(x), b = math::Abs(y), inf = std::numeric_limits<T>::infinity();
    const T large = a > b ? a : b, small = a > b ? b : a;
    const T ratio = small / (large == 0 ? T(1) : large);
    const T length = large * std::sqrt(T(1) + ratio * ratio);
    return (a == inf) | (b == inf) ? inf : length;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_POWER_FN_H_

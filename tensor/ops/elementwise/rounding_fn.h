#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_ROUNDING_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_ROUNDING_FN_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/ops/elementwise/rounding.h"

namespace firn {

struct CeilFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::ceil(x);
    }
  }
};

struct FloorFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::floor(x);
    }
  }
};

struct RoundFn {
  using Brief = void;
  using Attrs = RoundAttrs;
  // 10^400 is infinite in every dtype.
  explicit RoundFn(const RoundAttrs& a)
      : scale(std::pow(10.0, std::min(std::abs(static_cast<double>(a.decimals)), 400.0))),
        up(a.decimals < 0),
        away(a.ties == RoundTies::kAway) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      const T s = static_cast<T>(scale);
      const T scaled = up ? x / s : x * s;
      const T whole = std::trunc(scaled);
      const T next = whole + std::copysign(T(1), scaled);
      const T half_up = std::abs(scaled - whole) >= T(0.5) ? next : whole;
      const T rounded = away ? half_up : std::nearbyint(scaled);
      // Where the scale leaves the range, x has no digits to lose, or all of them.
      const T places = std::abs(scaled) <= std::numeric_limits<T>::max() ? rounded / s : x;
      const T tens = rounded == T(0) ? rounded : rounded * s;
      return up ? tens : places;
    }
  }
  double scale;
  bool up, away;
};

struct TruncFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::trunc(x);
    }
  }
};

struct FracFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(x - TruncFn()(x));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_ROUNDING_FN_H_

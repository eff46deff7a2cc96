#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_EXTREMES_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_EXTREMES_FN_H_

#include "firn/device/macros.h"

namespace firn {

struct MaximumFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return (x > y) | (x != x) ? x : y;
  }
};

struct MaximumGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dz, T x, T y) const {
    const T share = x == y ? dz * T(0.5) : dz;
    return x < y ? T(0) : share;
  }
};

struct MinimumFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return (x < y) | (x != x) ? x : y;
  }
};

// A NaN bound makes the result NaN.
struct ClampMinFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T min) const {
    return (x < min) | (min != min) ? min : x;
  }
};
struct ClampMaxFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T max) const {
    return (x > max) | (max != max) ? max : x;
  }
};
struct ClampFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T min, T max) const {
    return ClampMaxFn()(ClampMinFn()(x, min), max);
  }
};

// For devices: one functor for all combinations of bounds. An absent bound is not read.
struct ClampAnyFn {
  bool has_min, has_max;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T min, T max) const {
    if (has_min) x = ClampMinFn()(x, min);
    return has_max ? ClampMaxFn()(x, max) : x;
  }
};

struct ClampMinGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x, T min) const {
    return x >= min ? dy : T(0);
  }
};
struct ClampMaxGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x, T max) const {
    return x <= max ? dy : T(0);
  }
};
struct ClampGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x, T min, T max) const {
    return (x >= min) & (x <= max) ? dy : T(0);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_EXTREMES_FN_H_

#ifndef FIRN_TENSOR_OPS_CLAMP_FN_H_
#define FIRN_TENSOR_OPS_CLAMP_FN_H_

#include "device/simd.h"

namespace firn {

// A NaN bound makes the result NaN.
struct ClampMinFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T min) const {
    return (x < min) | (min != min) ? min : x;
  }
};
struct ClampMaxFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T max) const {
    return (x > max) | (max != max) ? max : x;
  }
};
struct ClampFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T min, T max) const {
    return ClampMaxFn()(ClampMinFn()(x, min), max);
  }
};

struct ClampMinGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x, T min) const {
    return x >= min ? dy : T(0);
  }
};
struct ClampMaxGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x, T max) const {
    return x <= max ? dy : T(0);
  }
};
struct ClampGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x, T min, T max) const {
    return (x >= min) & (x <= max) ? dy : T(0);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CLAMP_FN_H_

#ifndef FIRN_TENSOR_OPS_POW_FN_H_
#define FIRN_TENSOR_OPS_POW_FN_H_

#include <cmath>

#include "tensor/kernels/math_pow.h"
#include "tensor/ops/pow.h"

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

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POW_FN_H_

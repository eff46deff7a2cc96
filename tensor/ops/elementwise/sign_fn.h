#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_SIGN_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_SIGN_FN_H_

#include "firn/device/macros.h"
#include "firn/tensor/kernels/math.h"

namespace firn {

struct AbsFn {
  using Brief = void;
  static constexpr uint16_t OfHalfBits(uint16_t x) { return static_cast<uint16_t>(x & 0x7fff); }
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Abs(x);
  }
};

struct NegFn {
  using Brief = void;
  static constexpr uint16_t OfHalfBits(uint16_t x) { return static_cast<uint16_t>(x ^ 0x8000); }
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(-x);
  }
};

struct SignFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>((x > T{0} ? 1 : 0) - (x < T{0} ? 1 : 0));
  }
};

struct CopysignFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return math::WithSign(math::Abs(x), y);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_SIGN_FN_H_

#ifndef FIRN_TENSOR_OPS_QUANTIZE_BINARY_FN_H_
#define FIRN_TENSOR_OPS_QUANTIZE_BINARY_FN_H_

#include "firn/device/inner.h"
#include "firn/device/macros.h"

namespace firn {

struct BinarySigmoidFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? T(1) : T(0);
  }
};

struct BinaryTanhFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? T(1) : T(-1);
  }
};

struct BinaryGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    return ((x > T(-1)) & (x < T(1))) ? dy : T(0);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_BINARY_FN_H_

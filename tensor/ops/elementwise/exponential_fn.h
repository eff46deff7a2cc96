#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_FN_H_

#include "tensor/kernels/math.h"

namespace firn {

struct ExpFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Exp(x);
  }
};

struct Expm1Fn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Expm1(x);
  }
};

struct LogFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Log(x);
  }
};

struct Log1pFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Log1p(x);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_FN_H_

#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_FN_H_

#include "tensor/kernels/math_trig.h"

namespace firn {

struct SinFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Sin(x);
  }
};

struct CosFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Cos(x);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_FN_H_

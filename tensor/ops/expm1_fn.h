#ifndef FIRN_TENSOR_OPS_EXPM1_FN_H_
#define FIRN_TENSOR_OPS_EXPM1_FN_H_

#include "tensor/kernels/math.h"

namespace firn {

struct Expm1Fn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Expm1(x);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_EXPM1_FN_H_

#ifndef FIRN_TENSOR_OPS_ABS_FN_H_
#define FIRN_TENSOR_OPS_ABS_FN_H_

#include "tensor/kernels/math.h"

namespace firn {

struct AbsFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Abs(x);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ABS_FN_H_

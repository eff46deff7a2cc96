#ifndef FIRN_TENSOR_OPS_LOG1P_FN_H_
#define FIRN_TENSOR_OPS_LOG1P_FN_H_

#include "tensor/kernels/math.h"

namespace firn {

struct Log1pFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Log1p(x);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOG1P_FN_H_

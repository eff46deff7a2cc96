#ifndef FIRN_TENSOR_OPS_LOG_FN_H_
#define FIRN_TENSOR_OPS_LOG_FN_H_

#include "tensor/kernels/math.h"

namespace firn {

struct LogFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Log(x);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOG_FN_H_

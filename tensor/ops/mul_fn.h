#ifndef FIRN_TENSOR_OPS_MUL_FN_H_
#define FIRN_TENSOR_OPS_MUL_FN_H_

#include "device/macros.h"

namespace firn {

struct MulFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x * y);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MUL_FN_H_

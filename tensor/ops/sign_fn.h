#ifndef FIRN_TENSOR_OPS_SIGN_FN_H_
#define FIRN_TENSOR_OPS_SIGN_FN_H_

#include "device/macros.h"

namespace firn {

struct SignFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>((x > T{0} ? 1 : 0) - (x < T{0} ? 1 : 0));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SIGN_FN_H_

#ifndef FIRN_TENSOR_OPS_RECIPROCAL_FN_H_
#define FIRN_TENSOR_OPS_RECIPROCAL_FN_H_

#include "device/macros.h"

namespace firn {

struct ReciprocalFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return T(1) / x;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECIPROCAL_FN_H_

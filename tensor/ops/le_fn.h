#ifndef FIRN_TENSOR_OPS_LE_FN_H_
#define FIRN_TENSOR_OPS_LE_FN_H_

#include "device/macros.h"

namespace firn {

struct LeFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return x <= y;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LE_FN_H_

#ifndef FIRN_TENSOR_OPS_LOGICAL_NOT_FN_H_
#define FIRN_TENSOR_OPS_LOGICAL_NOT_FN_H_

#include "device/macros.h"

namespace firn {

struct LogicalNotFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x) const {
    return x == T{0};
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOGICAL_NOT_FN_H_

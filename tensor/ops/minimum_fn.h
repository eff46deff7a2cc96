#ifndef FIRN_TENSOR_OPS_MINIMUM_FN_H_
#define FIRN_TENSOR_OPS_MINIMUM_FN_H_

#include "device/macros.h"

namespace firn {

struct MinimumFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return (x < y) | (x != x) ? x : y;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MINIMUM_FN_H_

#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_FN_H_

#include "device/macros.h"

namespace firn {

struct WhereFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(bool condition, T x, T y) const {
    return condition ? x : y;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_FN_H_

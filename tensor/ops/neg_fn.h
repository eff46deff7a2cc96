#ifndef FIRN_TENSOR_OPS_NEG_FN_H_
#define FIRN_TENSOR_OPS_NEG_FN_H_

#include "device/macros.h"

namespace firn {

struct NegFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return static_cast<T>(-x);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NEG_FN_H_

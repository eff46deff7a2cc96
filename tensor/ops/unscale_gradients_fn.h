#ifndef FIRN_TENSOR_OPS_UNSCALE_GRADIENTS_FN_H_
#define FIRN_TENSOR_OPS_UNSCALE_GRADIENTS_FN_H_

#include "device/macros.h"

namespace firn {

// Of an infinity or NaN.
template <class C>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool IsNotFinite(C x) {
  return x - x != C{0};
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_UNSCALE_GRADIENTS_FN_H_

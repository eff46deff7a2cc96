#ifndef FIRN_TENSOR_OPS_COMPARE_LOGICAL_FN_H_
#define FIRN_TENSOR_OPS_COMPARE_LOGICAL_FN_H_

#include "firn/device/macros.h"

namespace firn {

struct LogicalAndFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return (x != T{0}) & (y != T{0});
  }
};

struct LogicalOrFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return (x != T{0}) | (y != T{0});
  }
};

struct LogicalXorFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return (x != T{0}) != (y != T{0});
  }
};

struct LogicalNotFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x) const {
    return x == T{0};
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COMPARE_LOGICAL_FN_H_

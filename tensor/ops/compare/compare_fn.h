#ifndef FIRN_TENSOR_OPS_COMPARE_COMPARE_FN_H_
#define FIRN_TENSOR_OPS_COMPARE_COMPARE_FN_H_

#include "firn/device/macros.h"

namespace firn {

struct EqFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return x == y;
  }
};

struct NeFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return x != y;
  }
};

struct LtFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return x < y;
  }
};

struct LeFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return x <= y;
  }
};

struct GtFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return x > y;
  }
};

struct GeFn {
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x, T y) const {
    return x >= y;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COMPARE_COMPARE_FN_H_

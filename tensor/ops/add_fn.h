#ifndef FIRN_TENSOR_OPS_ADD_FN_H_
#define FIRN_TENSOR_OPS_ADD_FN_H_

#include "device/inner.h"
#include "device/macros.h"
#include "tensor/ops/add.h"

namespace firn {

struct AddFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x + y);
  }
};

struct AddScaledFn {
  double alpha;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x + static_cast<T>(alpha) * y);
  }
};

// With alpha = 1 the product changes nothing, so one functor does for all calls.
struct AddAnyFn : AddScaledFn {
  using Attrs = AddAttrs;
  explicit AddAnyFn(const AddAttrs& a) : AddScaledFn{a.alpha} {}
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ADD_FN_H_

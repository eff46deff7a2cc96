#ifndef FIRN_TENSOR_OPS_ACTIVATION_SHRINK_FN_H_
#define FIRN_TENSOR_OPS_ACTIVATION_SHRINK_FN_H_

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/ops/activation/shrink.h"

namespace firn {

struct HardshrinkFn : ShrinkAttrs {
  using Brief = void;
  using Attrs = ShrinkAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T limit = static_cast<T>(lambda);
    return (x >= -limit) & (x <= limit) ? T(0) : x;
  }
};

struct SoftshrinkFn : ShrinkAttrs {
  using Brief = void;
  using Attrs = ShrinkAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T limit = static_cast<T>(lambda);
    const T outside = x < T(0) ? x + limit : x - limit;
    return (x >= -limit) & (x <= limit) ? T(0) : outside;
  }
};

struct ShrinkGradFn : ShrinkAttrs {
  using Brief = void;
  using Attrs = ShrinkAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T limit = static_cast<T>(lambda);
    return (x >= -limit) & (x <= limit) ? T(0) : dy;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ACTIVATION_SHRINK_FN_H_

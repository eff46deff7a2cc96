#ifndef FIRN_TENSOR_OPS_SUB_FN_H_
#define FIRN_TENSOR_OPS_SUB_FN_H_

#include <cstdint>
#include <type_traits>

#include "device/inner.h"
#include "device/macros.h"
#include "tensor/ops/sub.h"

namespace firn {

struct SubFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x - y);
  }
};

struct SubScaledFn {
  using Attrs = SubAttrs;
  explicit SubScaledFn(const SubAttrs& a) : alpha(a.alpha) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(x - static_cast<T>(static_cast<int64_t>(alpha)) * y);
    } else {
      return x - static_cast<T>(alpha) * y;
    }
  }
  double alpha;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SUB_FN_H_

#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_FN_H_

#include <type_traits>

#include "device/macros.h"
#include "tensor/kernels/math.h"

namespace firn {

// Integers: -2^(n - 1) % -1 is 0, where the machine's division would trap. By 0 it is 0 too, on
// devices, where nobody looks for zeros.
struct FmodFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      const bool whole = y == T{0} || (std::is_signed_v<T> && y == static_cast<T>(-1));
      return whole ? T{0} : static_cast<T>(x % y);
    } else {
      return math::Fmod(x, y);
    }
  }
};

struct RemainderFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    const T r = FmodFn()(x, y);
    const bool apart = (r != T{0}) & ((r < T{0}) != (y < T{0}));
    return math::Select(apart, static_cast<T>(r + y), r);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_FN_H_

#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_FN_H_

#include <type_traits>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/ops/elementwise/arithmetic_fn.h"

namespace firn {

// Integers: -2^(n - 1) % -1 is 0, where the machine's division would trap. On devices, which do not
// search for zeros, the remainder by 0 is 0 too.
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
  template <class T>
  requires std::is_floating_point_v<T> FIRN_HOST_DEVICE bool IsRare(T x, T y) const {
    return math::internal::HasRareQuotient(x, y);
  }
  template <class T>
  FIRN_HOST_DEVICE T Usual(T x, T y) const {
    return math::internal::FmodOfUsualQuotient(x, y);
  }
};

struct RemainderFn : FmodFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return OfFmod(FmodFn::operator()(x, y), y);
  }
  template <class T>
  FIRN_HOST_DEVICE T Usual(T x, T y) const {
    return OfFmod(FmodFn::Usual(x, y), y);
  }
  template <class T>
  FIRN_HOST_DEVICE static T OfFmod(T r, T y) {
    const bool apart = (r != T{0}) & ((r < T{0}) != (y < T{0}));
    return math::Select(apart, static_cast<T>(r + y), r);
  }
};

// The gradients to y: for each unit of y, a remainder falls by the rounded quotient.
struct FmodGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dz, T x, T y) const {
    return -(dz * DivTruncFn()(x, y));
  }
};

struct RemainderGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dz, T x, T y) const {
    return -(dz * DivFloorFn()(x, y));
  }
  template <class T>
  FIRN_HOST_DEVICE bool IsRare(T, T x, T y) const {
    return DivFloorFn().IsRare(x, y);
  }
  template <class T>
  FIRN_HOST_DEVICE T Usual(T dz, T x, T y) const {
    return -(dz * DivFloorFn().Usual(x, y));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_FN_H_

#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_FN_H_

#include <limits>
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
  // Of floats, those that the standard library divides: not zeros, infinities and NaN, of which a
  // tensor may be full.
  template <class T>
  requires std::is_floating_point_v<T> FIRN_HOST_DEVICE bool IsRare(T x, T y) const {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const double a = math::Abs(static_cast<double>(x)), b = math::Abs(static_cast<double>(y));
    const double by_number = b > 0 ? a / b : 0;
    const double quotient = a < kInf ? by_number : 0;
    const double divisor = b < kInf ? b : 0;
    // One comparison for "from 2^52 or 2^960 on, or near both", of which g++ 12 makes vectors.
    return quotient + divisor * 0x1p-908 >= 0x1p52;
  }
  template <class T>
  FIRN_HOST_DEVICE T Usual(T x, T y) const {
    const T inf = std::numeric_limits<T>::infinity();
    const T r = math::internal::FmodOfShortQuotient(x, y);
    return (math::Abs(y) == inf) & (math::Abs(x) < inf) ? x : r;
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

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_FN_H_

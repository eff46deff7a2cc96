#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_FN_H_

#include <type_traits>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/ops/elementwise/choose.h"

namespace firn {

// Elements that are moved come as unsigned numbers, and conditions as bytes, because g++ 12 does
// not vectorise bools that choose wider numbers. A mask keeps it from compiling the choice to
// jumps, which are mispredicted for random conditions.
struct WhereFn {
  template <class Condition, class T>
  FIRN_HOST_DEVICE T operator()(Condition condition, T x, T y) const {
    if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
      using Signed = std::make_signed_t<T>;
      const T mask = static_cast<T>(-static_cast<Signed>(condition != Condition(0)));
      return static_cast<T>((x & mask) | (y & static_cast<T>(~mask)));
    } else {
      return condition != Condition(0) ? x : y;
    }
  }
};

struct NanToNumFn : NanToNumAttrs {
  using Attrs = NanToNumAttrs;
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      const T infinite = x < T(0) ? static_cast<T>(neginf) : static_cast<T>(posinf);
      const T number = x - x == T(0) ? x : infinite;
      return x == x ? number : static_cast<T>(nan);
    }
  }
};

// Starts from the nearer end, so that weights 0 and 1 give the ends exactly.
struct LerpFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T start, T end, T weight) const {
    const T from_start = start + weight * (end - start);
    const T from_end = end - (T(1) - weight) * (end - start);
    return weight < T(0.5) ? from_start : from_end;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_FN_H_

#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_BITS_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_BITS_FN_H_

#include <cstdint>
#include <type_traits>

#include "firn/device/macros.h"

namespace firn {

struct BitwiseNotFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>) {
      return !x;
    } else {
      return static_cast<T>(~x);
    }
  }
};

struct BitwiseAndFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x & y);
  }
};

struct BitwiseOrFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x | y);
  }
};

struct BitwiseXorFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x ^ y);
  }
};

// All shifts are those of 64 bits; shifts outside of T's number of bits are limited to 63, or give
// 0.
struct BitwiseLeftShiftFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    const auto places = static_cast<uint64_t>(y);
    const auto moved = static_cast<T>(static_cast<uint64_t>(x) << (places & 63u));
    return places < 8 * sizeof(T) ? moved : T{0};
  }
};

struct BitwiseRightShiftFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    const auto places = static_cast<uint64_t>(y);
    return static_cast<T>(static_cast<int64_t>(x) >> (places < 64 ? places : 63));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_BITS_FN_H_

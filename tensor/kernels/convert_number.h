#ifndef FIRN_TENSOR_KERNELS_CONVERT_NUMBER_H_
#define FIRN_TENSOR_KERNELS_CONVERT_NUMBER_H_

#include <cstdint>
#include <type_traits>

#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/number.h"

namespace firn {

// A number as an element: an integer is converted exactly even where a double would round it; one
// that i64 does not hold is taken as the nearest double.
template <class To>
To ConvertNumber(const inner::Number& v) {
  if constexpr (std::is_same_v<To, int64_t> || std::is_same_v<To, float>) {
    if (!v.is_double() && (std::is_same_v<To, int64_t> || v.value() < 0x1p63)) {
      return static_cast<To>(v.integer());
    }
  }
  return ConvertTo<To>(v.value());
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_CONVERT_NUMBER_H_

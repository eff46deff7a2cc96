#ifndef FIRN_TENSOR_KERNELS_CPU_HALF_H_
#define FIRN_TENSOR_KERNELS_CPU_HALF_H_

// Rows of half types to float and back, at the speed of vectors.

#include <cstdint>
#include <type_traits>

#include "device/half_rows.h"
#include "tensor/dtype.h"

namespace firn::cpu {

// to[i] = from[i] for i < n. The two do not overlap.
template <class T>
void ToFloats(const T* from, int64_t n, float* to) {
  if constexpr (std::is_same_v<T, Half>) {
    inner::internal::FloatsOfHalfBits(reinterpret_cast<const uint16_t*>(from), n, to);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
  }
}

// to[i] = from[i], rounded to nearest even.
template <class T>
void FromFloats(const float* from, int64_t n, T* to) {
  if constexpr (std::is_same_v<T, Half>) {
    inner::internal::HalfBitsOfFloats(from, n, reinterpret_cast<uint16_t*>(to));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = T(from[i]);
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_HALF_H_

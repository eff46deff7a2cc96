#ifndef FIRN_TENSOR_KERNELS_CUDA_ELEMENTS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ELEMENTS_CUH_

// A few neighbouring elements that a thread reads or writes in one access of up to 16 bytes; and
// writes of them in a dtype that only the call knows, so that no further kernel is compiled for it.

#include <cstdint>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/convert.h"

namespace firn::cuda {

template <class T, int kN>
struct alignas(sizeof(T) * kN < 16 ? sizeof(T) * kN : 16) Elements {
  T v[kN];
};

namespace internal {

// Requires: `at` is a multiple of kN.
template <class T, int kN>
FIRN_HOST_DEVICE bool InOneAccess(const T* p, int64_t at, int64_t n) {
  return at + kN <= n && reinterpret_cast<uintptr_t>(p) % alignof(Elements<T, kN>) == 0;
}

}  // namespace internal

// from[at], from[at + 1], ...; elements from from[n] on have any value. Requires: `at` is a
// multiple of kN.
template <int kN, class T>
FIRN_HOST_DEVICE Elements<T, kN> LoadElements(const T* from, int64_t at, int64_t n) {
  if (internal::InOneAccess<T, kN>(from, at, n)) {
    return *reinterpret_cast<const Elements<T, kN>*>(from + at);
  }
  Elements<T, kN> x = {};
  for (int j = 0; j < kN; ++j) {
    if (at + j < n) x.v[j] = from[at + j];
  }
  return x;
}

// to[at] = x.v[0], ..., but nothing from to[n] on. Requires: `at` is a multiple of kN.
template <class T, int kN>
FIRN_HOST_DEVICE void StoreElements(T* to, int64_t at, int64_t n, const Elements<T, kN>& x) {
  if (internal::InOneAccess<T, kN>(to, at, n)) {
    *reinterpret_cast<Elements<T, kN>*>(to + at) = x;
    return;
  }
  for (int j = 0; j < kN; ++j) {
    if (at + j < n) to[at + j] = x.v[j];
  }
}

namespace internal {

template <class T, class V, int kN>
FIRN_HOST_DEVICE void StoreConverted(void* to, int64_t at, int64_t n, const Elements<V, kN>& x) {
  Elements<T, kN> y;
#pragma unroll
  for (int j = 0; j < kN; ++j) y.v[j] = ConvertTo<T>(x.v[j]);
  StoreElements(static_cast<T*>(to), at, n, y);
}

}  // namespace internal

// Like StoreElements, to elements of dtype `dtype`.
template <class V, int kN>
FIRN_HOST_DEVICE void StoreElementsAs(DType dtype, void* to, int64_t at, int64_t n,
                                      const Elements<V, kN>& x) {
  switch (dtype) {
    case DType::kF32:
      return internal::StoreConverted<float>(to, at, n, x);
    case DType::kF64:
      return internal::StoreConverted<double>(to, at, n, x);
    case DType::kF16:
      return internal::StoreConverted<Half>(to, at, n, x);
    case DType::kBF16:
      return internal::StoreConverted<BFloat16>(to, at, n, x);
    case DType::kI8:
      return internal::StoreConverted<int8_t>(to, at, n, x);
    case DType::kI32:
      return internal::StoreConverted<int32_t>(to, at, n, x);
    case DType::kI64:
      return internal::StoreConverted<int64_t>(to, at, n, x);
    case DType::kU8:
      return internal::StoreConverted<uint8_t>(to, at, n, x);
    case DType::kBool:
      return internal::StoreConverted<bool>(to, at, n, x);
  }
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ELEMENTS_CUH_

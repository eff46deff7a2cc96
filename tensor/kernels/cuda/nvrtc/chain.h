#ifndef FIRN_TENSOR_KERNELS_CUDA_NVRTC_CHAIN_H_
#define FIRN_TENSOR_KERNELS_CUDA_NVRTC_CHAIN_H_

// Functions that the source of a chain (tensor/kernels/cuda/chain_source.cc) uses besides functors.
// For NVRTC only.

#include <bit>
#include <cstdint>
#include <type_traits>

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cuda/elements.cuh"
#include "firn/tensor/kernels/functor.h"

namespace firn::chain {

// A compiler that sees several operations at once may contract the product of one with the sum of
// the next, and share parts of two. Each operation must give the same result as by itself, so its
// operands and results pass through these functions.

// Makes the compiler treat this use of x as unrelated to all others.
template <class T>
inline __device__ T Apart(T x) {
  if constexpr (std::is_same_v<T, float>) asm volatile("" : "+f"(x));
  if constexpr (std::is_same_v<T, double>) asm volatile("" : "+d"(x));
  return x;
}

// Returns x after an operation on its bits: `zero` is 0, but only the host knows that. This is for
// the assembler, which contracts too and does not see Apart.
template <class T>
inline __device__ T Rounded(T x, uint32_t zero) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(x) ^ zero);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(std::bit_cast<uint64_t>(x) ^ zero);
  } else {
    return x;
  }
}

template <class T>
inline __device__ ComputeOf<T> Input(T x) {
  return Apart(static_cast<ComputeOf<T>>(x));
}

template <class F>
inline __device__ const F& FunctorAt(const unsigned char* bytes) {
  return *reinterpret_cast<const F*>(bytes);
}

}  // namespace firn::chain

#endif  // FIRN_TENSOR_KERNELS_CUDA_NVRTC_CHAIN_H_

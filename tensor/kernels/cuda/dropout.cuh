#ifndef FIRN_TENSOR_KERNELS_CUDA_DROPOUT_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_DROPOUT_CUH_

#include <algorithm>

#include "firn/tensor/kernels/cuda/random.cuh"
#include "firn/tensor/kernels/divide.h"

namespace firn::cuda {

// The eight elements of a byte of the choice, which cpu::DropElements describes.
template <class T>
struct DropBody {
  using Acc = AccumulatorOf<T>;
  const T* x;
  T* y;
  int64_t n;
  const int64_t* state;
  uint32_t first_kept;
  bool all;  // are dropped
  Acc scale;
  uint8_t* kept;

  FIRN_HOST_DEVICE void operator()(int64_t byte) const {
    const int64_t first = 8 * byte;
    Elements<T, 8> y8 = LoadElements<8>(x, first, n);
    uint32_t bits = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const PhiloxResult words = PhiloxAt(StateAt(state), static_cast<uint64_t>(2 * byte + half));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int i = 4 * half + j;
        const bool keep = words.v[j] >= first_kept && !all && first + i < n;
        bits |= keep ? 1u << i : 0u;
      }
    }
    StoreElements(y, first, n, Chosen(y8, bits, scale));
    kept[byte] = static_cast<uint8_t>(bits);
  }

  FIRN_HOST_DEVICE static Elements<T, 8> Chosen(Elements<T, 8> x, uint32_t bits, Acc scale) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const Acc v = static_cast<Acc>(x.v[i]) * scale;
      x.v[i] = static_cast<T>((bits >> i & 1) != 0 ? v : Acc{0});
    }
    return x;
  }
};

template <class T>
struct DropAgainBody {
  const T* x;
  T* y;
  int64_t n;
  bool all;  // are dropped
  AccumulatorOf<T> scale;
  const uint8_t* kept;

  FIRN_HOST_DEVICE void operator()(int64_t byte) const {
    const Elements<T, 8> y8 = LoadElements<8>(x, 8 * byte, n);
    const uint32_t bits = all ? 0u : kept[byte];
    StoreElements(y, 8 * byte, n, DropBody<T>::Chosen(y8, bits, scale));
  }
};

// Outputs 0 and 1 from input 0 and the random words behind `state`, equal to those of
// cpu::DropElements.
inline absl::Status DropElements(KernelContext& k, const int64_t* state, double p) {
  const int64_t n = k.in_spec(0).num_elements();
  // At most 2^32 - 1, so that it fits; p = 1 is handled separately, also where x is infinite.
  const auto first_kept = static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const auto scale = static_cast<AccumulatorOf<T>>(1 / (1 - p));
    return ForEach(k, CeilDiv(n, 8),
                   DropBody<T>{k.in<T>(0), k.out<T>(), n, state, first_kept, p == 1, scale,
                               k.out<uint8_t>(1)});
  });
}

// Output 0 from input 0 and the choice in input 1, equal to that of cpu::DropAgain.
inline absl::Status DropAgain(KernelContext& k, double p) {
  const int64_t n = k.in_spec(0).num_elements();
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const auto scale = static_cast<AccumulatorOf<T>>(1 / (1 - p));
    return ForEach(k, CeilDiv(n, 8),
                   DropAgainBody<T>{k.in<T>(0), k.out<T>(), n, p == 1, scale, k.in<uint8_t>(1)});
  });
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DROPOUT_CUH_

#ifndef FIRN_TENSOR_KERNELS_CUDA_RANDOM_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_RANDOM_CUH_

// Random words on a CUDA device: each element gets those that kernels/cpu/random.h gives it. A
// thread takes a counter and makes the elements that its four words are for. The generator's state
// {seed, offset} is in device memory: kernels read it there, and the addition that moves it on is
// queued behind them.

#include "firn/device/philox.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/elements.cuh"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/random_words.h"

namespace firn::cuda {

// For kernels. `state`: a generator's, or a position taken from one.
FIRN_HOST_DEVICE inline PhiloxState StateAt(const int64_t* state) {
  return {static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1])};
}

struct TakeCountersBody {
  int64_t* state;
  int64_t counters;

  FIRN_HOST_DEVICE void operator()(int64_t) const { state[1] += counters; }
};

// Queues: moves the generator's state in input `i` on by `counters`. Comes after the kernels that
// draw from there.
inline absl::Status TakeCounters(KernelContext& k, int i, int64_t counters) {
  return ForEach(k, 1, TakeCountersBody{k.inout<int64_t>(i), counters});
}

template <class T, int kEach, class F>
struct DrawBody {
  F f;
  const int64_t* state;
  T* out;
  int64_t n;

  FIRN_HOST_DEVICE void operator()(int64_t c) const {
    StoreElements(out, kEach * c, n,
                  f(kEach * c, PhiloxAt(StateAt(state), static_cast<uint64_t>(c))));
  }
};

// out[e], e < n, from f(e, words) with the words of counter e / kEach behind `state`; f returns the
// Elements<T, kEach> from element e on.
template <class T, int kEach, class F>
absl::Status DrawFrom(const int64_t* state, KernelContext& k, T* out, int64_t n, const F& f) {
  return ForEach(k, CeilDiv(n, kEach), DrawBody<T, kEach, F>{f, state, out, n});
}

// The same from the generator's state in input `i`, which is moved on.
template <class T, int kEach, class F>
absl::Status Draw(KernelContext& k, int i, T* out, int64_t n, const F& f) {
  FIRN_RETURN_IF_ERROR((DrawFrom<T, kEach>(k.in<int64_t>(i), k, out, n, f)));
  return TakeCounters(k, i, CeilDiv(n, kEach));
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_RANDOM_CUH_

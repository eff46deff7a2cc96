#ifndef FIRN_TENSOR_KERNELS_CUDA_MOMENTS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_MOMENTS_CUH_

// Mean and variance in one pass. A thread sums the differences of its elements to the first one it
// gets, and their squares. The lost digits grow only with the number of a thread's elements,
// because an outlier in the first place is part of the variance itself. Threads are joined as in
// kernels/moments.h.

#include "firn/tensor/kernels/moments.h"

namespace firn::cuda {

template <class T>
struct MomentsState {
  T shift, sum, squares;
  int64_t count;
};

// A fold (see reduce.cuh) without its store.
template <class T>
struct MomentsFold {
  using Acc = Moments<T>;
  using State = MomentsState<T>;

  FIRN_HOST_DEVICE State start() const { return {0, 0, 0, 0}; }
  template <class In>
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t, In v) const {
    const T x = static_cast<T>(v);
    if (s.count++ == 0) s.shift = x;
    const T d = x - s.shift;
    s.sum += d;
    s.squares += d * d;
  }
  FIRN_HOST_DEVICE Acc total(const State& s) const {
    if (s.count == 0) return {0, 0, 0};
    const T mean = s.sum / static_cast<T>(s.count), squares = s.squares - s.sum * mean;
    return {s.shift + mean, squares < 0 ? T(0) : squares, s.count};  // NaN stays
  }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const { return JoinMoments(a, b); }
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_MOMENTS_CUH_

#ifndef FIRN_TENSOR_KERNELS_CPU_MOMENTS_H_
#define FIRN_TENSOR_KERNELS_CPU_MOMENTS_H_

// Mean and variance in one pass over memory: the passes that are accurate, the mean, what it still
// lacks, and the squared deviations from it, are made over a piece that lies in the cache, and
// pieces are joined.

#include <algorithm>
#include <cstdint>

#include "tensor/kernels/cpu/reduce_loop.h"
#include "tensor/kernels/moments.h"
#include "tensor/kernels/reducers.h"

namespace firn::cpu {

// The sum of x - mean: n times what a rounded mean lacks. With it the variance of equal elements is
// exactly 0.
template <class T>
struct ResidualReducer : SumReducer<T> {
  T mean;
  explicit ResidualReducer(T m) : mean(m) {}
  T map(T v) const { return v - mean; }
};

// The sum of (x - mean)^2.
template <class T>
struct DeviationReducer : SumReducer<T> {
  T mean;
  explicit DeviationReducer(T m) : mean(m) {}
  T map(T v) const { return (v - mean) * (v - mean); }
};

template <class T>
struct MomentsReducer {
  using Element = T;
  using Acc = Moments<T>;
  Acc identity() const { return {0, 0, 0}; }
  Acc map(T v) const { return {v, 0, 1}; }
  Acc combine(const Acc& a, const Acc& b) const { return JoinMoments(a, b); }
  Acc run(const T* x, int64_t n) const {
    const T count = static_cast<T>(n);
    T mean = internal::CombineRun(SumReducer<T>(), x, n, 1) / count;
    mean += internal::CombineRun(ResidualReducer<T>(mean), x, n, 1) / count;
    return {mean, internal::CombineRun(DeviationReducer<T>(mean), x, n, 1), n};
  }
  void rows(const T* const* x, int64_t num_rows, int64_t cols, Acc* acc) const {
    T mean[internal::kColumns], sum[internal::kColumns], squares[internal::kColumns];
    std::fill_n(mean, cols, T{0});
    std::fill_n(squares, cols, T{0});
    const T count = static_cast<T>(num_rows);
    for (int pass = 0; pass < 2; ++pass) {  // the second adds what the first lacks
      std::fill_n(sum, cols, T{0});
      for (int64_t i = 0; i < num_rows; ++i) {
        for (int64_t c = 0; c < cols; ++c) sum[c] += x[i][c] - mean[c];
      }
      for (int64_t c = 0; c < cols; ++c) mean[c] += sum[c] / count;
    }
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t c = 0; c < cols; ++c) {
        const T d = x[i][c] - mean[c];
        squares[c] += d * d;
      }
    }
    for (int64_t c = 0; c < cols; ++c) acc[c] = combine(acc[c], {mean[c], squares[c], num_rows});
  }
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_MOMENTS_H_

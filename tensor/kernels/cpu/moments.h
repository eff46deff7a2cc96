#ifndef FIRN_TENSOR_KERNELS_CPU_MOMENTS_H_
#define FIRN_TENSOR_KERNELS_CPU_MOMENTS_H_

// Mean and variance in one pass over memory: the passes that are accurate, the mean, what it still
// lacks, and the squared deviations from it, are made over a piece that lies in the cache, and
// pieces are joined.

#include <algorithm>
#include <cstdint>

#include "tensor/kernels/cpu/reduce.h"
#include "tensor/kernels/moments.h"
#include "tensor/kernels/reducers.h"

namespace firn::cpu {

// The sum of x - mean: n times what a rounded mean lacks. With it the variance of equal elements is
// exactly 0.
template <class T>
struct ResidualReducer : SumReducer<T> {
  T mean;
  explicit ResidualReducer(T m) : mean(m) {}
  template <class In>
  T map(In v) const {
    return static_cast<T>(v) - mean;
  }
};

// The sum of (x - mean)^2.
template <class T>
struct DeviationReducer : SumReducer<T> {
  T mean;
  explicit DeviationReducer(T m) : mean(m) {}
  template <class In>
  T map(In v) const {
    const T d = static_cast<T>(v) - mean;
    return d * d;
  }
};

// See reduce.h for what a reducer is.
template <class T>
struct MomentsReducer {
  using Acc = Moments<T>;
  Acc identity() const { return {0, 0, 0}; }
  template <class In>
  Acc map(In v) const {
    return {static_cast<T>(v), 0, 1};
  }
  Acc combine(const Acc& a, const Acc& b) const { return JoinMoments(a, b); }
  template <class In>
  Acc run(const In* x, int64_t n, int64_t stride) const {
    const T count = static_cast<T>(n);
    T mean = internal::Leaf(SumReducer<T>(), x, n, stride) / count;
    mean += internal::Leaf(ResidualReducer<T>(mean), x, n, stride) / count;
    return {mean, internal::Leaf(DeviationReducer<T>(mean), x, n, stride), n};
  }
  template <class In>
  void rows(const In* const* x, int64_t num_rows, int64_t cols, int64_t stride, Acc* acc) const {
    T mean[internal::kColumns] = {}, sum[internal::kColumns], squares[internal::kColumns] = {};
    const T count = static_cast<T>(num_rows);
    for (int pass = 0; pass < 2; ++pass) {  // the second adds what the first lacks
      std::fill_n(sum, cols, T{0});
      for (int64_t i = 0; i < num_rows; ++i) {
        for (int64_t c = 0; c < cols; ++c) sum[c] += static_cast<T>(x[i][c * stride]) - mean[c];
      }
      for (int64_t c = 0; c < cols; ++c) mean[c] += sum[c] / count;
    }
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t c = 0; c < cols; ++c) {
        const T d = static_cast<T>(x[i][c * stride]) - mean[c];
        squares[c] += d * d;
      }
    }
    for (int64_t c = 0; c < cols; ++c) acc[c] = combine(acc[c], {mean[c], squares[c], num_rows});
  }
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_MOMENTS_H_

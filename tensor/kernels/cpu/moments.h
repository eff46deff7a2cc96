#ifndef FIRN_TENSOR_KERNELS_CPU_MOMENTS_H_
#define FIRN_TENSOR_KERNELS_CPU_MOMENTS_H_

// Mean and variance in one pass over memory. The passes of the accurate algorithm - the mean, its
// error, and the squared deviations from it - go over a piece that lies in the cache, and pieces
// are joined.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/reduce_loop.h"
#include "firn/tensor/kernels/moments.h"
#include "firn/tensor/kernels/reducers.h"

namespace firn::cpu {

// The sum of x - mean: n times the error of the rounded mean. With it the variance of equal
// elements is exactly 0.
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
    for (int pass = 0; pass < 2; ++pass) {  // the second adds the error of the first
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

// The sums of the two numbers that f(i) gives for i < n, in lanes. f may change elements that it
// reaches by its own i only.
template <class Acc, class F>
FIRN_ALWAYS_INLINE std::pair<Acc, Acc> SumPairs(int64_t n, const F& f) {
  // g++ unrolls shorter loops before it makes vectors, and then makes none.
  constexpr int64_t kCount = std::max<int64_t>(32, 2 * kSimdLanes<Acc>);
  Acc a[kCount] = {}, b[kCount] = {};
  int64_t i = 0;
  for (; i + kCount <= n; i += kCount) {
    FIRN_INDEPENDENT_STEPS
    for (int64_t l = 0; l < kCount; ++l) {
      const auto [v, w] = f(i + l);
      a[l] += v;
      b[l] += w;
    }
  }
  for (int64_t l = 0; i + l < n; ++l) {
    const auto [v, w] = f(i + l);
    a[l] += v;
    b[l] += w;
  }
#pragma GCC unroll 8
  for (int64_t width = kCount / 2; width > 0; width /= 2) {
    for (int64_t l = 0; l < width; ++l) a[l] += a[l + width], b[l] += b[l + width];
  }
  return {a[0], b[0]};
}

// The moments of n > 0 numbers that lie in the cache: the second pass adds the rounded mean's
// error, and removes it from the squares (Chan, Golub and LeVeque, "Algorithms for Computing the
// Sample Variance", 1983: the corrected two-pass algorithm).
template <class T>
Moments<T> MomentsOfPiece(const T* x, int64_t n) {
  const T count = static_cast<T>(n);
  const T mean = internal::CombineRun(SumReducer<T>(), x, n, 1) / count;
  const auto [sum, squares] = SumPairs<T>(n, [x, mean](int64_t i) {
    const T d = x[i] - mean;
    return std::pair<T, T>(d, d * d);
  });
  const T rest = squares - sum * (sum / count);
  return {mean + sum / count, rest > 0 ? rest : rest * 0, n};  // NaN stays
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_MOMENTS_H_

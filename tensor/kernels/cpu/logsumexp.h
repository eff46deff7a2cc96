#ifndef FIRN_TENSOR_KERNELS_CPU_LOGSUMEXP_H_
#define FIRN_TENSOR_KERNELS_CPU_LOGSUMEXP_H_

// log(sum(exp(x))) in one pass over memory: the largest element of a piece that lies in the cache
// first, then the sum of exponentials relative to it; pieces are joined relative to the larger of
// their two.

#include <algorithm>
#include <cstdint>

#include "tensor/kernels/cpu/reduce.h"
#include "tensor/kernels/math.h"
#include "tensor/kernels/reducers.h"

namespace firn::cpu {

// sum: of exp(x - Shift(largest)).
template <class T>
struct ScaledSum {
  T largest, sum;
};

// See reduce.h for what a reducer is.
template <class T>
struct LogsumexpReducer {
  using Acc = ScaledSum<T>;
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  static constexpr ExtremeReducer<T, true> kLargest = {};

  // Infinities stay unshifted: inf - inf is no number.
  static T Shift(T largest) { return math::Abs(largest) == kInf ? T{0} : largest; }

  struct ExpSum : SumReducer<T> {
    T shift;
    explicit ExpSum(T s) : shift(s) {}
    template <class In>
    T map(In v) const {
      return math::Exp(static_cast<T>(v) - shift);
    }
  };

  Acc identity() const { return {-kInf, 0}; }
  template <class In>
  Acc map(In v) const {
    const T x = static_cast<T>(v);
    return {x, math::Exp(x - Shift(x))};
  }
  Acc combine(const Acc& a, const Acc& b) const {
    if (a.largest == -kInf) return b;
    if (b.largest == -kInf) return a;
    const T top = kLargest.combine(a.largest, b.largest), shift = Shift(top);
    return {top, a.sum * math::Exp(Shift(a.largest) - shift) +
                     b.sum * math::Exp(Shift(b.largest) - shift)};
  }
  template <class Out>
  Out finish(const Acc& a) const {
    return static_cast<Out>(Shift(a.largest) + math::Log(a.sum));
  }

  template <class In>
  Acc run(const In* x, int64_t n, int64_t stride) const {
    const T top = internal::Leaf(kLargest, x, n, stride);
    return {top, internal::Leaf(ExpSum(Shift(top)), x, n, stride)};
  }
  template <class In>
  void rows(const In* const* x, int64_t num_rows, int64_t cols, int64_t stride, Acc* acc) const {
    T top[internal::kColumns], shift[internal::kColumns], sum[internal::kColumns] = {};
    std::fill_n(top, cols, -kInf);
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t c = 0; c < cols; ++c) {
        top[c] = kLargest.combine(top[c], static_cast<T>(x[i][c * stride]));
      }
    }
    for (int64_t c = 0; c < cols; ++c) shift[c] = Shift(top[c]);
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t c = 0; c < cols; ++c) {
        sum[c] += math::Exp(static_cast<T>(x[i][c * stride]) - shift[c]);
      }
    }
    for (int64_t c = 0; c < cols; ++c) acc[c] = combine(acc[c], {top[c], sum[c]});
  }
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_LOGSUMEXP_H_

#ifndef FIRN_TENSOR_KERNELS_CPU_LOGSUMEXP_H_
#define FIRN_TENSOR_KERNELS_CPU_LOGSUMEXP_H_

// log(sum(exp(x))) in one pass over memory: the largest element of a piece that lies in the cache
// first, then the sum of exponentials relative to it; pieces are joined relative to the larger of
// their two.

#include <algorithm>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/reduce_loop.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/reducers.h"

namespace firn::cpu {

// sum: of exp(x - Shift(largest)).
template <class T>
struct ScaledSum {
  T largest, sum;
};

template <class T>
struct LogsumexpReducer {
  using Element = T;
  using Acc = ScaledSum<T>;
  static constexpr Reduces kReduces = Reduces::kFloats;
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  static constexpr MaxReducer<T> kLargest = {};

  // Infinities stay unshifted, because inf - inf is NaN.
  static T Shift(T largest) { return math::Abs(largest) == kInf ? T{0} : largest; }

  struct ExpSum : SumReducer<T> {
    T shift;
    explicit ExpSum(T s) : shift(s) {}
    T map(T v) const { return math::Exp(v - shift); }
  };

  Acc identity() const { return {-kInf, 0}; }
  Acc map(T x) const { return {x, math::Exp(x - Shift(x))}; }
  Acc combine(const Acc& a, const Acc& b) const {
    if (a.largest == -kInf) return b;
    if (b.largest == -kInf) return a;
    const T top = kLargest.combine(a.largest, b.largest), shift = Shift(top);
    return {top, a.sum * math::Exp(Shift(a.largest) - shift) +
                     b.sum * math::Exp(Shift(b.largest) - shift)};
  }
  T finish(const Acc& a, int64_t) const { return Shift(a.largest) + math::Log(a.sum); }

  Acc run(const T* x, int64_t n) const {
    const T top = internal::CombineRun(kLargest, x, n, 1);
    return {top, internal::CombineRun(ExpSum(Shift(top)), x, n, 1)};
  }
  void rows(const T* const* x, int64_t num_rows, int64_t cols, Acc* acc) const {
    T top[internal::kColumns], shift[internal::kColumns], sum[internal::kColumns];
    std::fill_n(top, cols, -kInf);
    std::fill_n(sum, cols, T{0});
    for (int64_t i = 0; i < num_rows; ++i) Raise(x[i], cols, top);
    for (int64_t c = 0; c < cols; ++c) shift[c] = Shift(top[c]);
    for (int64_t i = 0; i < num_rows; ++i) AddExp(x[i], shift, cols, sum);
    for (int64_t c = 0; c < cols; ++c) acc[c] = combine(acc[c], {top[c], sum[c]});
  }

 private:
  // Functions of their own: inside of a loop over rows, g++ 12 compiles choices to jumps and not to
  // vectors.
  static FIRN_NOINLINE void Raise(const T* row, int64_t n, T* top) {
    FIRN_INDEPENDENT_STEPS
    for (int64_t c = 0; c < n; ++c) top[c] = kLargest.combine(top[c], row[c]);
  }
  static FIRN_NOINLINE void AddExp(const T* row, const T* shift, int64_t n, T* sum) {
    FIRN_INDEPENDENT_STEPS
    for (int64_t c = 0; c < n; ++c) sum[c] += math::Exp(row[c] - shift[c]);
  }
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_LOGSUMEXP_H_

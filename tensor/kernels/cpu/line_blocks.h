#ifndef FIRN_TENSOR_KERNELS_CPU_LINE_BLOCKS_H_
#define FIRN_TENSOR_KERNELS_CPU_LINE_BLOCKS_H_

// Lines of neighbouring elements in two passes, a sum and a result computed with it, for terms that
// cost less than converting a half type to float and back through memory: both passes convert
// elements in registers.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/reduce.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/lines.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// Two vectors of floats: g++ 12 unrolls loops of 16 steps before it makes vectors.
inline constexpr int64_t kLineBlock = 32;

// A block in its compute type: in place or, for a half type, in `buffer`. Other types are not
// copied: a copy would be stored in smaller pieces than the vectors that are loaded from it, and
// such loads wait.
template <class T>
FIRN_ALWAYS_INLINE const ComputeOf<T>* ViewBlock(const T* from, ComputeOf<T>* buffer) {
  if constexpr (std::is_same_v<T, ComputeOf<T>>) {
    return from;
  } else {
    FloatsOfBlock(from, kLineBlock, buffer);
    return buffer;
  }
}

namespace internal {

// y[i] = f(a[i], b[i]) for a block.
template <class T, class F>
FIRN_ALWAYS_INLINE void MapBlock(const ComputeOf<T>* a, const ComputeOf<T>* b, T* y, const F& f) {
  if constexpr (std::is_same_v<T, ComputeOf<T>>) {
    FIRN_INDEPENDENT_STEPS
    for (int64_t i = 0; i < kLineBlock; ++i) y[i] = f(a[i], b[i]);
  } else {
    alignas(64) ComputeOf<T> to[kLineBlock];
    for (int64_t i = 0; i < kLineBlock; ++i) to[i] = f(a[i], b[i]);
    BlockOfFloats(to, kLineBlock, y);
  }
}

// Calls f(a, b, at, count) for blocks of the two lines in their compute type: `count` elements from
// `at` on, then zeros in the last block.
template <class T, class F>
FIRN_ALWAYS_INLINE void ForEachBlock(const T* a, const T* b, int64_t begin, int64_t end,
                                     const F& f) {
  using Acc = ComputeOf<T>;
  alignas(64) Acc from_a[kLineBlock], from_b[kLineBlock];
  int64_t at = begin;
  for (; at + kLineBlock <= end; at += kLineBlock) {
    f(ViewBlock(a + at, from_a), ViewBlock(b + at, from_b), at, kLineBlock);
  }
  if (at == end) return;
  T rest_a[kLineBlock] = {}, rest_b[kLineBlock] = {};
  std::copy(a + at, a + end, rest_a);
  std::copy(b + at, b + end, rest_b);
  f(ViewBlock(rest_a, from_a), ViewBlock(rest_b, from_b), at, end - at);
}

}  // namespace internal

// The sum of term(a[i], b[i]) for i < n. Requires: term(0, 0) is 0.
template <class T, class Term>
ComputeOf<T> SumOfLine(const T* a, const T* b, int64_t n, const Term& term) {
  using Acc = ComputeOf<T>;
  constexpr int64_t kPiece = 64 * kLineBlock;  // added up one by one
  const SumReducer<Acc> r;
  internal::Cascade<SumReducer<Acc>> total(r);
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    Acc sums[kLineBlock] = {};
    internal::ForEachBlock(
        a, b, begin, std::min(n, begin + kPiece),
        [&](const Acc* from_a, const Acc* from_b, int64_t, int64_t) __attribute__((always_inline)) {
          FIRN_INDEPENDENT_STEPS
          for (int64_t i = 0; i < kLineBlock; ++i) {
            sums[i] += term(from_a[i], from_b[i]);
          }
        });
    for (int64_t half = kLineBlock / 2; half > 0; half /= 2) {
      for (int64_t i = 0; i < half; ++i) sums[i] += sums[i + half];
    }
    total.Add(sums[0]);
  }
  return total.Total();
}

// y[i] = f(a[i], b[i]) for i < n. y may be a or b.
template <class T, class F>
void MapLine(const T* a, const T* b, int64_t n, T* y, const F& f) {
  using Acc = ComputeOf<T>;
  internal::ForEachBlock(
      a, b, 0, n,
      [&](const Acc* from_a, const Acc* from_b, int64_t at, int64_t count)
          __attribute__((always_inline)) {
            if (count == kLineBlock) return internal::MapBlock(from_a, from_b, y + at, f);
            T rest[kLineBlock];
            internal::MapBlock(from_a, from_b, rest, f);
            std::copy_n(rest, count, y + at);
          });
}

// y = f(the sum of term(a, b) over the line, a, b) for the lines along `dim` of a kernel's two
// inputs and its output, if elements of lines are adjacent and lines are not so short that
// computing them side by side is faster (softmax.h). Returns whether they were.
template <class Term, class F>
bool SumAndMapLines(KernelContext& k, int64_t dim, const Term& term, const F& f) {
  constexpr int64_t kLeast = 2 * kLineBlock;
  const Lines l = LinesAlong(k.in_spec(0).shape, dim);
  if (l.inner != 1 || l.length < kLeast) return false;
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = ComputeOf<T>;
    const T *const a = k.in<T>(0), *const b = k.in<T>(1);
    ParallelFor(l.outer, std::max<int64_t>(1, 8192 / l.length), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * l.length; i < end * l.length; i += l.length) {
        const Acc sum = SumOfLine(a + i, b + i, l.length, term);
        MapLine(a + i, b + i, l.length, k.out<T>(0) + i,
                [sum, &f](Acc v, Acc w) { return f(sum, v, w); });
      }
    });
  });
  return true;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_LINE_BLOCKS_H_

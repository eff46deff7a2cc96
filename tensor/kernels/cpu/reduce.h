#ifndef FIRN_TENSOR_KERNELS_CPU_REDUCE_H_
#define FIRN_TENSOR_KERNELS_CPU_REDUCE_H_

// Parts of loops over many numbers, which combine them so that the error of a sum grows with the
// logarithm of their number. See reducers.h for reducers, reduce_loop.h for reductions over
// dimensions.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/shape.h"

namespace firn::cpu {

namespace internal {

inline constexpr int64_t kLeaf = 4096;          // elements added in lanes before lanes are combined
inline constexpr int64_t kReduceGrain = 32768;  // work worth a thread, in elements

// Counts through the row-major indices of `sizes`, keeping the element offset.
class Odometer {
 public:
  Odometer(const Dims& sizes, const Dims& strides, int rank, int64_t start)
      : sizes_(sizes), strides_(strides), rank_(rank) {
    for (int d = rank - 1; d >= 0; --d) {
      at_[d] = start % sizes[d];
      start /= sizes[d];
      offset_ += at_[d] * strides[d];
    }
  }
  int64_t offset() const { return offset_; }
  void Next() {
    for (int d = rank_ - 1; d >= 0; --d) {
      offset_ += strides_[d];
      if (++at_[d] < sizes_[d]) return;
      offset_ -= at_[d] * strides_[d];
      at_[d] = 0;
    }
  }

 private:
  const Dims &sizes_, &strides_;
  int rank_;
  int64_t at_[kMaxRank];
  int64_t offset_ = 0;
};

// Combines a sequence in pairs, pairs of pairs and so on, in a fixed order.
template <class R>
class Cascade {
 public:
  using Acc = typename R::Acc;
  explicit Cascade(const R& r) : r_(r) {}
  void Add(Acc a) {
    int level = 0;
    for (uint64_t n = count_++; (n & 1) != 0; n >>= 1) a = r_.combine(levels_[level++], a);
    levels_[level] = a;
  }
  Acc Total() const {
    Acc a = r_.identity();
    bool any = false;
    for (uint64_t n = count_; n != 0; n &= n - 1) {
      const int level = std::countr_zero(n);
      a = any ? r_.combine(levels_[level], a) : levels_[level];
      any = true;
    }
    return a;
  }

 private:
  const R& r_;
  uint64_t count_ = 0;
  Acc levels_[64];
};

// Partial results of one reduction side by side, as many as some registers hold.
template <class R, int64_t kRegisters = 4>
class Lanes {
 public:
  using Acc = typename R::Acc;
  static constexpr int64_t kCount =
      std::max<int64_t>(1, kRegisters* static_cast<int64_t>(kSimdBytes / sizeof(Acc)));

  explicit Lanes(const R& r) : r_(r) { Clear(); }
  void Clear() { std::fill_n(lanes_, kCount, r_.identity()); }
  template <class In>
  FIRN_ALWAYS_INLINE void Add(const In* x, int64_t n, int64_t stride) {
    int64_t i = 0;
    for (; i + kCount <= n; i += kCount) {
      for (int64_t l = 0; l < kCount; ++l) {
        lanes_[l] = r_.combine(lanes_[l], r_.map(x[(i + l) * stride]));
      }
    }
    for (int64_t l = 0; i + l < n; ++l) {
      lanes_[l] = r_.combine(lanes_[l], r_.map(x[(i + l) * stride]));
    }
  }
  // The partial results are useless afterwards.
  Acc Total() {
    Fold<kCount / 2>();
    return lanes_[0];
  }

 private:
  // The width is constant, so that this is a few instructions.
  template <int64_t kWidth>
  FIRN_ALWAYS_INLINE void Fold() {
    if constexpr (kWidth > 0) {
      for (int64_t l = 0; l < kWidth; ++l) lanes_[l] = r_.combine(lanes_[l], lanes_[l + kWidth]);
      Fold<kWidth / 2>();
    }
  }

  const R& r_;
  // Vectors that cross lines of the cache are slow to read where they have just been written.
  alignas(std::max(kSimdBytes, alignof(Acc))) Acc lanes_[kCount];
};

template <class R, int64_t kRegisters, class In>
FIRN_ALWAYS_INLINE typename R::Acc CombineInLanes(const R& r, const In* x, int64_t n,
                                                  int64_t stride) {
  Lanes<R, kRegisters> lanes(r);
  lanes.Add(x, n, stride);
  return lanes.Total();
}

// Reduces up to kLeaf elements.
template <class R, class In>
FIRN_ALWAYS_INLINE typename R::Acc CombineRun(const R& r, const In* x, int64_t n, int64_t stride) {
  if (n >= 2 * Lanes<R, 4>::kCount) return CombineInLanes<R, 4>(r, x, n, stride);
  if (n >= 2 * Lanes<R, 1>::kCount) return CombineInLanes<R, 1>(r, x, n, stride);
  typename R::Acc a = n == 0 ? r.identity() : r.map(x[0]);
  for (int64_t i = 1; i < n; ++i) a = r.combine(a, r.map(x[i * stride]));
  return a;
}

}  // namespace internal

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_REDUCE_H_

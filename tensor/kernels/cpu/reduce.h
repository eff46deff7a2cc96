#ifndef FIRN_TENSOR_KERNELS_CPU_REDUCE_H_
#define FIRN_TENSOR_KERNELS_CPU_REDUCE_H_

// The loops behind every reduction with ReduceAttrs. What is computed is a reducer, a small struct:
//
//   using Acc = ...;                        // of what partial results are made
//   Acc identity() const;                   // the result of no elements
//   template <class In> Acc map(In v) const;
//   Acc combine(Acc a, Acc b) const;        // associative and commutative
//   template <class Out> Out finish(Acc a) const;
//
// and, where two passes over a piece that lies in the cache do better than one element at a time,
//
//   template <class In> Acc run(const In* x, int64_t n, int64_t stride) const;
//   template <class In> void rows(const In* const* x, int64_t num_rows, int64_t cols,
//                                 int64_t stride, Acc* acc) const;
//
// Elements are combined in blocks and blocks in pairs, so that the error of a sum grows with the
// logarithm of the number of elements; how blocks are cut depends on shapes and strides only, so
// results do not depend on the number of threads.

#include <algorithm>
#include <bit>

#include "device/macros.h"
#include "device/parallel.h"
#include "device/simd.h"
#include "tensor/kernels/reduce_plan.h"
#include "tensor/op.h"
#include "tensor/ops/reduce/reduction.h"

namespace firn::cpu {

// Bytes of workspace for Reduce with partial results of `acc_size` bytes.
inline size_t ReduceWorkspace(const ReducePlan& p, size_t acc_size) {
  return p.blocks == 1 ? 0 : static_cast<size_t>(p.blocks * p.kept) * acc_size;
}
// As the `workspace` of a Kernel with ReduceAttrs.
template <size_t kAccSize = 8>
size_t ReduceWorkspaceOf(const KernelQuery& q) {
  return ReduceWorkspace(PlanReduction(q.in(0), q.attrs<ReduceAttrs>().dims), kAccSize);
}

namespace internal {

inline constexpr int64_t kLeaf = 4096;    // elements added in lanes before lanes are combined
inline constexpr int64_t kRowGroup = 64;  // rows combined before they join the others
inline constexpr int64_t kColumns = kReduceColumns;

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

// Partial results of one reduction side by side, as many as four registers hold.
template <class R>
class Lanes {
 public:
  using Acc = typename R::Acc;
  static constexpr int64_t kCount =
      std::max<int64_t>(1, 4 * static_cast<int64_t>(kSimdBytes / sizeof(Acc)));

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
  // Leaves nothing useful behind.
  Acc Total() {
    Fold<kCount / 2>();
    return lanes_[0];
  }

 private:
  // A constant width: these are a few instructions.
  template <int64_t kWidth>
  FIRN_ALWAYS_INLINE void Fold() {
    if constexpr (kWidth > 0) {
      for (int64_t l = 0; l < kWidth; ++l) lanes_[l] = r_.combine(lanes_[l], lanes_[l + kWidth]);
      Fold<kWidth / 2>();
    }
  }

  const R& r_;
  Acc lanes_[kCount];
};

// Up to kLeaf elements.
template <class R, class In>
FIRN_ALWAYS_INLINE typename R::Acc CombineRun(const R& r, const In* x, int64_t n, int64_t stride) {
  if (n < 2 * Lanes<R>::kCount) {
    typename R::Acc a = n == 0 ? r.identity() : r.map(x[0]);
    for (int64_t i = 1; i < n; ++i) a = r.combine(a, r.map(x[i * stride]));
    return a;
  }
  Lanes<R> lanes(r);
  lanes.Add(x, n, stride);
  return lanes.Total();
}

template <class R, class In>
typename R::Acc Leaf(const R& r, const In* x, int64_t n, int64_t stride) {
  if constexpr (requires { r.run(x, n, stride); }) {
    return r.run(x, n, stride);
  } else {
    return stride == 1 ? CombineRun(r, x, n, 1) : CombineRun(r, x, n, stride);
  }
}

// Sums up the runs of one result: long ones by themselves, short ones together in the same lanes.
template <class R>
class RunTotal {
 public:
  explicit RunTotal(const R& r) : lanes_(r), total_(r) {}
  template <class In>
  void Add(const R& r, const In* x, int64_t n, int64_t stride) {
    if constexpr (requires { r.run(x, n, stride); }) {
      total_.Add(r.run(x, n, stride));
    } else {
      if (in_lanes_ + n > kLeaf) Flush();
      stride == 1 ? lanes_.Add(x, n, 1) : lanes_.Add(x, n, stride);
      in_lanes_ += n;
    }
  }
  typename R::Acc Total() {
    if (in_lanes_ > 0) Flush();
    return total_.Total();
  }

 private:
  void Flush() {
    if (in_lanes_ == 0) return;
    total_.Add(lanes_.Total());
    lanes_.Clear();
    in_lanes_ = 0;
  }
  Lanes<R> lanes_;
  Cascade<R> total_;
  int64_t in_lanes_ = 0;
};

// The reduced elements [begin, end) of the result whose first element is `x`.
template <class R, class In>
typename R::Acc ReduceBlock(const R& r, const ReducePlan& p, const In* x, int64_t begin,
                            int64_t end) {
  if (begin >= end) return r.identity();
  const int last = p.reduced_sizes.rank - 1;
  if (last < 0) return Leaf(r, x, 1, 1);
  const int64_t length = p.reduced_sizes[last], stride = p.reduced_strides[last];
  if (last == 0 && end - begin <= kLeaf) return Leaf(r, x + begin * stride, end - begin, stride);
  Odometer outer(p.reduced_sizes, p.reduced_strides, last, begin / length);
  RunTotal<R> total(r);
  for (int64_t at = begin % length, left = end - begin; left > 0; at = 0, outer.Next()) {
    const int64_t stop = std::min(length, at + left);
    left -= stop - at;
    for (; at < stop; at += kLeaf) {
      total.Add(r, x + outer.offset() + at * stride, std::min(kLeaf, stop - at), stride);
    }
  }
  return total.Total();
}

// Four rows at a time, so that results are not loaded and stored for each.
template <class R, class In>
FIRN_ALWAYS_INLINE void CombineRows(const R& r, const In* const* x, int64_t num_rows, int64_t cols,
                                    int64_t stride, typename R::Acc* acc) {
  typename R::Acc group[kColumns];
  std::fill_n(group, cols, r.identity());
  int64_t i = 0;
  for (; i + 4 <= num_rows; i += 4) {
    const In *x0 = x[i], *x1 = x[i + 1], *x2 = x[i + 2], *x3 = x[i + 3];
    for (int64_t c = 0; c < cols; ++c) {
      const auto a = r.combine(r.map(x0[c * stride]), r.map(x1[c * stride]));
      const auto b = r.combine(r.map(x2[c * stride]), r.map(x3[c * stride]));
      group[c] = r.combine(group[c], r.combine(a, b));
    }
  }
  for (; i < num_rows; ++i) {
    const In* row = x[i];
    for (int64_t c = 0; c < cols; ++c) group[c] = r.combine(group[c], r.map(row[c * stride]));
  }
  for (int64_t c = 0; c < cols; ++c) acc[c] = r.combine(acc[c], group[c]);
}

// `cols` results next to each other: their reduced elements [begin, end), into acc.
template <class R, class In>
void ReduceColumns(const R& r, const ReducePlan& p, const In* x, int64_t cols, int64_t begin,
                   int64_t end, typename R::Acc* acc) {
  std::fill_n(acc, cols, r.identity());
  if (begin >= end) return;
  const int64_t stride = p.kept_strides[p.kept_strides.rank - 1];
  Odometer row(p.reduced_sizes, p.reduced_strides, p.reduced_sizes.rank, begin);
  const In* rows[kRowGroup];
  while (begin < end) {
    const int64_t n = std::min(kRowGroup, end - begin);
    for (int64_t i = 0; i < n; ++i, row.Next()) rows[i] = x + row.offset();
    begin += n;
    if constexpr (requires { r.rows(rows, n, cols, stride, acc); }) {
      r.rows(rows, n, cols, stride, acc);
    } else if (stride == 1) {
      CombineRows(r, rows, n, cols, 1, acc);
    } else {
      CombineRows(r, rows, n, cols, stride, acc);
    }
  }
}

// Work worth a thread, in elements.
inline constexpr int64_t kReduceGrain = 32768;

template <class R, class In, class Store>
void ReduceByRows(const R& r, const ReducePlan& p, const In* in, const Store& store) {
  ParallelFor(p.blocks * p.kept, std::max<int64_t>(1, kReduceGrain / std::max<int64_t>(p.block, 1)),
              [&](int64_t begin, int64_t end) {
                Odometer result(p.kept_sizes, p.kept_strides, p.kept_sizes.rank, begin % p.kept);
                for (int64_t i = begin; i < end; ++i, result.Next()) {
                  const int64_t from = i / p.kept * p.block;
                  store(i, ReduceBlock(r, p, in + result.offset(), from,
                                       std::min(from + p.block, p.reduced)));
                }
              });
}

template <class R, class In, class Store>
void ReduceByColumns(const R& r, const ReducePlan& p, const In* in, const Store& store) {
  const int64_t length = p.last_kept(), strips = (length - 1) / kColumns + 1;
  const int64_t outer = p.kept / length;  // of the kept dimensions
  const int64_t stride = p.kept_strides[p.kept_strides.rank - 1];
  const int64_t work = p.block * std::min(length, kColumns);
  ParallelFor(
      p.blocks * outer * strips, std::max<int64_t>(1, kReduceGrain / std::max<int64_t>(work, 1)),
      [&](int64_t begin, int64_t end) {
        typename R::Acc acc[kColumns];
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % strips * kColumns, from = task / (strips * outer) * p.block;
          const int64_t at = task / strips % outer;
          const Odometer base(p.kept_sizes, p.kept_strides, p.kept_sizes.rank - 1, at);
          const int64_t cols = std::min(kColumns, length - first);
          ReduceColumns(r, p, in + base.offset() + first * stride, cols, from,
                        std::min(from + p.block, p.reduced), acc);
          const int64_t j = task / (strips * outer) * p.kept + at * length + first;
          for (int64_t c = 0; c < cols; ++c) store(j + c, acc[c]);
        }
      });
}

}  // namespace internal

// store(j, acc) for every result j: what `r` makes of the reduced elements of `in`.
// `workspace` holds ReduceWorkspace(p, sizeof(Acc)) bytes.
template <class R, class In, class Store>
void ReduceWith(const R& r, const ReducePlan& p, const In* in, void* workspace,
                const Store& store) {
  using Acc = typename R::Acc;
  const auto run = [&](const auto& to) {
    p.columns ? internal::ReduceByColumns(r, p, in, to) : internal::ReduceByRows(r, p, in, to);
  };
  if (p.blocks == 1) return run(store);
  Acc* partial = static_cast<Acc*>(workspace);
  run([&](int64_t i, Acc a) { partial[i] = a; });
  ParallelFor(p.kept, std::max<int64_t>(1, internal::kReduceGrain / p.blocks),
              [&](int64_t begin, int64_t end) {
                for (int64_t j = begin; j < end; ++j) {
                  internal::Cascade<R> total(r);
                  for (int64_t b = 0; b < p.blocks; ++b) total.Add(partial[b * p.kept + j]);
                  store(j, total.Total());
                }
              });
}

// The kernel of an operation with ReduceAttrs: output 0 from input 0. Its `workspace` is
// ReduceWorkspaceOf<sizeof(Acc) or more>.
template <class Out, class In, class R>
void Reduce(KernelContext& k, const R& r) {
  const ReducePlan p = PlanReduction(k.in_spec(0), k.attrs<ReduceAttrs>().dims);
  Out* out = k.out<Out>();
  ReduceWith(r, p, k.in<In>(0), k.workspace(),
             [&](int64_t j, typename R::Acc a) { out[j] = r.template finish<Out>(a); });
}

// The entry of such an operation in its list of kernels.
template <size_t kAccSize = 8>
constexpr Kernel ReductionKernel(absl::Status (*run)(KernelContext&)) {
  return Kernel{.name = "loop",
                .device = DeviceType::kCpu,
                .workspace = ReduceWorkspaceOf<kAccSize>,
                .run = run,
                .takes = Takes::kStrided};
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_REDUCE_H_

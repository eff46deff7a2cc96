#ifndef FIRN_TENSOR_KERNELS_CPU_REDUCE_LOOP_H_
#define FIRN_TENSOR_KERNELS_CPU_REDUCE_LOOP_H_

// The loops behind every reduction over dimensions. A reducer (reducers.h) defines what is
// computed. It may have loops of its own where two passes over a piece that lies in the cache are
// better than one element at a time:
//
//   Acc run(const Element* x, int64_t n) const;
//   void rows(const Element* const* x, int64_t num_rows, int64_t cols, Acc* acc) const;
//
// Only a ReduceLoop is compiled from a reducer, for each type of elements: loops over a row of
// them. Everything around it - walking, blocks, threads, and rows with gaps, which go through it as
// tiles - is compiled once, in reduce_loop.cc.
//
// Elements are combined in blocks and blocks in pairs; how blocks are cut depends on shapes and
// strides only, so results do not depend on the number of threads.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "firn/tensor/kernels/cpu/reduce.h"
#include "firn/tensor/kernels/reduce_plan.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// A reducer as functions that know its types; all other code sees bytes.
struct ReduceLoop {
  int64_t acc_size;
  DType along_in, across_in;  // the dtype of the loops' elements
  bool whole;                 // elements have to lie side by side
  // Computes acc[j], j < results, from n elements at each of rows[j * runs], ... rows[j * runs +
  // runs - 1], up to kLeaf together. Where `whole`, runs is 1.
  void (*along)(const void* reducer, const void* const* rows, int64_t results, int64_t runs,
                int64_t n, void* acc);
  // Computes acc[c], c < n <= kColumns, from element c * step of each row, of which there are up to
  // kRowGroup, and, unless these are the `first` rows, from its old value. Where `whole`, step is
  // 1.
  void (*across)(const void* reducer, const void* const* rows, int64_t num_rows, int64_t n,
                 int64_t step, bool first, void* acc);
  // Computes a[i], i < n, from itself and b[i].
  void (*combine)(const void* reducer, void* a, const void* b, int64_t n);
  // Sets acc[i], i < n, to the result over no elements.
  void (*clear)(const void* reducer, int64_t n, void* acc);
  // Computes the results out[i], i < n, from acc[i], which combines `count` elements; floats for
  // the half types.
  void (*finish)(const void* reducer, const void* acc, int64_t n, int64_t count, void* out);
};

namespace internal {

inline constexpr int64_t kRowGroup = 64;  // rows combined before they join the others
inline constexpr int64_t kColumns = kReduceColumns;

// Elements of these types lie in memory alike, and one loop serves both: those of bool, and bits of
// the half types.
template <class T>
constexpr DType LoopTypeOf() {
  if constexpr (std::is_same_v<T, uint16_t>) {
    return DType::kF16;
  } else {
    return DTypeOf<T>();
  }
}
constexpr DType LoopTypeOf(DType d) { return d == DType::kBool ? DType::kU8 : d; }

// The loops of a ReduceLoop over elements of In.
template <class R, class In>
struct LoopsOf {
  using Acc = typename R::Acc;
  static constexpr bool kWhole = requires(const R& r, const In* x) { r.run(x, 1); };

  static const R& Of(const void* reducer) { return *static_cast<const R*>(reducer); }
  static const In* Row(const void* row) { return static_cast<const In*>(row); }

  static Acc Runs(const R& r, const void* const* rows, int64_t runs, int64_t n) {
    if (runs == 1) return CombineRun(r, Row(rows[0]), n, 1);
    Lanes<R> lanes(r);
    for (int64_t i = 0; i < runs; ++i) lanes.Add(Row(rows[i]), n, 1);
    return lanes.Total();
  }

  static void Along(const void* reducer, const void* const* rows, int64_t results, int64_t runs,
                    int64_t n, void* to) {
    const R r = Of(reducer);
    Acc* const acc = static_cast<Acc*>(to);
    for (int64_t j = 0; j < results; ++j) {
      if constexpr (kWhole) {
        acc[j] = r.run(Row(rows[j]), n);
      } else {
        acc[j] = Runs(r, rows + j * runs, runs, n);
      }
    }
  }

  // Four rows at a time, so that results are not loaded and stored for each.
  static FIRN_ALWAYS_INLINE void Group(const R& r, const void* const* x, int64_t num_rows,
                                       int64_t n, int64_t step, Acc* group) {
    std::fill_n(group, n, r.identity());
    int64_t i = 0;
    for (; i + 4 <= num_rows; i += 4) {
      const In *x0 = Row(x[i]), *x1 = Row(x[i + 1]), *x2 = Row(x[i + 2]), *x3 = Row(x[i + 3]);
      for (int64_t c = 0; c < n; ++c) {
        const Acc a = r.combine(r.map(x0[c * step]), r.map(x1[c * step]));
        const Acc b = r.combine(r.map(x2[c * step]), r.map(x3[c * step]));
        group[c] = r.combine(group[c], r.combine(a, b));
      }
    }
    for (; i < num_rows; ++i) {
      const In* const row = Row(x[i]);
      for (int64_t c = 0; c < n; ++c) group[c] = r.combine(group[c], r.map(row[c * step]));
    }
  }

  static void Across(const void* reducer, const void* const* x, int64_t num_rows, int64_t n,
                     int64_t step, bool first, void* to) {
    const R r = Of(reducer);
    Acc* const acc = static_cast<Acc*>(to);
    if constexpr (kWhole) {
      if (first) std::fill_n(acc, n, r.identity());
      const In* rows[kRowGroup];
      for (int64_t i = 0; i < num_rows; ++i) rows[i] = Row(x[i]);
      r.rows(rows, num_rows, n, acc);
    } else {
      Acc later[kColumns];
      Acc* const group = first ? acc : later;
      step == 1 ? Group(r, x, num_rows, n, 1, group) : Group(r, x, num_rows, n, step, group);
      if (!first) Combine(reducer, acc, group, n);
    }
  }

  static void Combine(const void* reducer, void* a, const void* b, int64_t n) {
    const R r = Of(reducer);
    Acc* const to = static_cast<Acc*>(a);
    const Acc* const from = static_cast<const Acc*>(b);
    for (int64_t i = 0; i < n; ++i) to[i] = r.combine(to[i], from[i]);
  }

  static void Clear(const void* reducer, int64_t n, void* acc) {
    std::fill_n(static_cast<Acc*>(acc), n, Of(reducer).identity());
  }

  static void Finish(const void* reducer, const void* from, int64_t n, int64_t count, void* to) {
    if constexpr (requires(const R& r, const Acc& acc) { r.finish(acc, count); }) {
      const R r = Of(reducer);
      const Acc* const acc = static_cast<const Acc*>(from);
      auto* const out = static_cast<decltype(r.finish(acc[0], count))*>(to);
      for (int64_t i = 0; i < n; ++i) out[i] = r.finish(acc[i], count);
    }
  }
};

// f16 is converted in a loop of its own, because only such a loop is vectorised.
template <class In>
using LoopedAs = std::conditional_t<std::is_same_v<In, Half>, float, In>;

template <class R, class In>
inline constexpr ReduceLoop kLoopOf = {
    sizeof(typename R::Acc),           LoopTypeOf<LoopedAs<In>>(),
    LoopTypeOf<LoopedAs<In>>(),        LoopsOf<R, LoopedAs<In>>::kWhole,
    LoopsOf<R, LoopedAs<In>>::Along,   LoopsOf<R, LoopedAs<In>>::Across,
    LoopsOf<R, LoopedAs<In>>::Combine, LoopsOf<R, LoopedAs<In>>::Clear,
    LoopsOf<R, LoopedAs<In>>::Finish};

}  // namespace internal

// Bytes of workspace with partial results of `acc_size` bytes.
inline size_t ReduceWorkspace(const ReducePlan& p, size_t acc_size) {
  return p.blocks == 1 ? 0 : static_cast<size_t>(p.blocks * p.kept) * acc_size;
}

// The same for elements of `in` over `dims`. Small tensors are not planned a second time for it,
// since planning is most of their time.
inline size_t ReduceWorkspace(const TensorSpec& in, absl::Span<const int64_t> dims,
                              size_t acc_size) {
  if (in.shape.num_elements() <= kLeastReduceBlock) return 0;
  return ReduceWorkspace(PlanReduction(in, dims), acc_size);
}

// Receives the results j, ..., j + n - 1: Accs, one behind the other.
using StoreReduced = absl::FunctionRef<void(int64_t j, const void* acc, int64_t n)>;

// Gives every result to `store`, several threads at once: the reducer over the reduced elements of
// `in`, which has the spec that `p` was made for and the dtype `dtype`: that of the loops, or one
// that Fetcher converts to it. `workspace` holds
// ReduceWorkspace(p, loop.acc_size) bytes.
void ReduceWith(const ReduceLoop& loop, const void* reducer, const ReducePlan& p, DType dtype,
                const void* in, void* workspace, StoreReduced store);

// store(j, acc) for every result j of input 0, reduced over `dims`. R has loops of its own.
template <class R, class Store>
void ReduceWith(KernelContext& k, absl::Span<const int64_t> dims, const R& r, const Store& store) {
  ReduceWith(internal::kLoopOf<R, typename R::Element>, &r, PlanReduction(k.in_spec(0), dims),
             k.in_spec(0).dtype, k.in<void>(0), k.workspace(),
             [&](int64_t j, const void* to, int64_t n) {
               const auto* const acc = static_cast<const typename R::Acc*>(to);
               for (int64_t i = 0; i < n; ++i) store(j + i, acc[i]);
             });
}

// Output 0 = input 0, whose elements are read as those of `dtype`, reduced over `dims`.
void Reduce(KernelContext& k, absl::Span<const int64_t> dims, const ReduceLoop& loop,
            const void* reducer, DType dtype);
// The same with elements of T.
template <class T, class R>
void Reduce(KernelContext& k, absl::Span<const int64_t> dims, const R& r) {
  constexpr bool kConverted = internal::LoopsOf<R, typename R::Element>::kWhole || requires {
    R::kRare;
  };
  constexpr bool kBits = R::kReduces == Reduces::kTruth;
  using Lying = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  using In = std::conditional_t<kConverted || kBits, typename R::Element, Lying>;
  constexpr const ReduceLoop& kLoop = internal::kLoopOf<R, In>;
  Reduce(k, dims, kLoop, &r, kBits ? kLoop.across_in : internal::LoopTypeOf(DTypeOf<T>()));
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_REDUCE_LOOP_H_

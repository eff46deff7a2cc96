#ifndef FIRN_TENSOR_KERNELS_CPU_ARG_REDUCE_H_
#define FIRN_TENSOR_KERNELS_CPU_ARG_REDUCE_H_

// argmax and argmin of row-major tensors. Along the last dimension the extreme of a piece that lies
// in the cache is found first, and then its place, only when it beats the pieces before; both loops
// vectorise. Along others, many lines are walked together.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "firn/tensor/kernels/cpu/lines.h"
#include "firn/tensor/kernels/cpu/reduce.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/reduce_attrs.h"

namespace firn::cpu {

namespace internal {

// Lines longer than this are cut, for the threads to share.
inline constexpr int64_t kArgBlock = 65536;

inline Lines LinesOf(const Shape& x, const ArgReduceAttrs& a) {
  if (a.flatten) return {1, x.num_elements(), 1};
  return LinesAlong(x, a.dim);
}

// The place of the extreme among elements [from, from + n), counted from `from`.
template <bool kLargest, class C>
Place<C> PlaceInRun(const RowsIn<C>& x, int64_t from, int64_t n) {
  const ExtremeReducer<C, kLargest> reducer;
  Place<C> best{x[from], 0};
  C tile[kLeaf];
  for (int64_t i = 0; i < n; i += kLeaf) {
    const int64_t some = std::min(kLeaf, n - i);
    const C* const piece = x.At(from + i, some, tile);
    const C extreme = CombineRun(reducer, piece, some, 1);
    if (!Beats<kLargest>(extreme, best.value)) continue;
    const auto found = [&](C v) { return v == extreme || (v != v && extreme != extreme); };
    int64_t at = 0;
    while (!found(piece[at])) ++at;
    best = {extreme, i + at};
  }
  return best;
}

template <bool kLargest, class C>
void ArgReduceRows(const Lines& l, const RowsIn<C>& x, int64_t* out, void* workspace) {
  const int64_t blocks = (l.length - 1) / kArgBlock + 1;
  auto* partial = static_cast<Place<C>*>(workspace);
  const int64_t grain = std::max<int64_t>(1, kReduceGrain / std::min(l.length, kArgBlock));
  ParallelFor(l.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = i % blocks * kArgBlock;
      Place<C> place = PlaceInRun<kLargest>(x, i / blocks * l.length + from,
                                            std::min(kArgBlock, l.length - from));
      place.index += from;
      if (blocks == 1) {
        out[i] = place.index;
      } else {
        partial[i] = place;
      }
    }
  });
  for (int64_t line = 0; blocks > 1 && line < l.outer; ++line) {
    Place<C> best = partial[line * blocks];
    for (int64_t b = 1; b < blocks; ++b) {
      const Place<C>& next = partial[line * blocks + b];
      if (Beats<kLargest>(next.value, best.value)) best = next;
    }
    out[line] = best.index;
  }
}

// Rows are counted in 32 bits, so that vectors of most types count as many lines as they compare.
// If there are more rows, they are taken in parts.
template <bool kLargest, class C>
void ArgReduceStrip(const Strip& s, const RowsIn<C>& x, int64_t* out) {
  constexpr int64_t kMostRows = std::numeric_limits<int32_t>::max();
  C best[kStripWidth], tile[kStripWidth];
  int32_t index[kStripWidth];
  x.Load(s.offset, s.width, best);
  std::fill_n(out + s.first, s.width, 0);
  for (int64_t first = 1; first < s.length; first += kMostRows) {
    const auto rows = static_cast<int32_t>(std::min(kMostRows, s.length - first));
    std::fill_n(index, s.width, -1);
    for (int32_t i = 0; i < rows; ++i) {
      const C* const row = x.At(s.offset + (first + i) * s.stride, s.width, tile);
      for (int64_t c = 0; c < s.width; ++c) {
        const C v = row[c];
        const bool beats = Beats<kLargest>(v, best[c]);
        best[c] = beats ? v : best[c];
        index[c] = beats ? i : index[c];
      }
    }
    for (int64_t c = 0; c < s.width; ++c) {
      if (index[c] >= 0) out[s.first + c] = first + index[c];
    }
  }
}

}  // namespace internal

inline size_t ArgReduceWorkspace(const KernelQuery& q) {
  const Lines l = internal::LinesOf(q.in(0).shape, q.attrs<ArgReduceAttrs>());
  if (l.inner != 1 || l.length <= internal::kArgBlock) return 0;
  const int64_t blocks = (l.length - 1) / internal::kArgBlock + 1;
  return static_cast<size_t>(l.outer * blocks) * sizeof(Place<double>);
}

template <bool kLargest>
absl::Status RunArgReduce(KernelContext& k) {
  const Lines l = internal::LinesOf(k.in_spec(0).shape, k.attrs<ArgReduceAttrs>());
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using C = ComparedAs<T>;
    // bool lies as u8 does.
    const RowsIn<C> x(std::is_same_v<C, float> ? DTypeOf<T>() : DTypeOf<C>(), k.in<void>(0));
    int64_t* out = k.out<int64_t>();
    if (l.inner == 1) {
      internal::ArgReduceRows<kLargest>(l, x, out, k.workspace());
    } else {
      ForEachStrip(l, [&](const Strip& s) { internal::ArgReduceStrip<kLargest>(s, x, out); });
    }
  });
  return absl::OkStatus();
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ARG_REDUCE_H_

#ifndef FIRN_TENSOR_KERNELS_CPU_ARG_REDUCE_H_
#define FIRN_TENSOR_KERNELS_CPU_ARG_REDUCE_H_

// argmax and argmin of row-major tensors. Along the last dimension the extreme of a piece that lies
// in the cache is found first, and then its place, only when it beats the pieces before; both loops
// vectorise. Along others, many lines are walked together. Half types and narrow integers are
// compared as f32 and i32, in tiles.

#include <algorithm>
#include <cstdint>

#include "tensor/kernels/cpu/lines.h"
#include "tensor/kernels/cpu/reduce.h"
#include "tensor/kernels/cpu/tiles.h"
#include "tensor/kernels/reducers.h"
#include "tensor/op.h"
#include "tensor/ops/reduce/position.h"

namespace firn::cpu {

namespace internal {

// Lines longer than this are cut, for the threads to share.
inline constexpr int64_t kArgBlock = 65536;

inline Lines LinesOf(const Shape& x, const ArgReduceAttrs& a) {
  if (a.flatten) return {1, x.num_elements(), 1};
  return LinesAlong(x, a.dim);
}

// Elements as the loops compare them, C.
template <class C>
class ArgSource {
 public:
  ArgSource(DType dtype, const void* x)
      : x_(static_cast<const char*>(x)),
        size_(SizeOf(dtype)),
        fetch_(dtype == DTypeOf<C>() ? nullptr : Fetcher(dtype, DTypeOf<C>())) {}

  // n elements from `offset` on, in `tile` where they are not C.
  const C* Piece(int64_t offset, int64_t n, C* tile) const {
    const void* const from = x_ + offset * size_;
    if (fetch_ == nullptr) return static_cast<const C*>(from);
    fetch_(&from, 1, n, 1, tile);
    return tile;
  }

 private:
  const char* x_;
  int64_t size_;
  FetchFn fetch_;
};

template <bool kLargest, class C>
Place<C> PlaceInRun(const ArgSource<C>& source, int64_t offset, int64_t n, C* tile) {
  const ExtremeReducer<C, kLargest> reducer;
  Place<C> best{};
  for (int64_t i = 0; i < n; i += kLeaf) {
    const int64_t count = std::min(kLeaf, n - i);
    const C* const x = source.Piece(offset + i, count, tile);
    if (i == 0) best.value = x[0];
    const C extreme = CombineRun(reducer, x, count, 1);
    if (!Beats<kLargest>(extreme, best.value)) continue;
    const auto found = [&](C v) { return v == extreme || (v != v && extreme != extreme); };
    best = {extreme, 0};
    while (!found(x[best.index])) ++best.index;
    best.index += i;
  }
  return best;
}

template <bool kLargest, class C>
void ArgReduceRows(const Lines& l, const ArgSource<C>& source, int64_t* out, void* workspace) {
  const int64_t blocks = (l.length - 1) / kArgBlock + 1;
  auto* partial = static_cast<Place<C>*>(workspace);
  const int64_t grain = std::max<int64_t>(1, kReduceGrain / std::min(l.length, kArgBlock));
  ParallelFor(l.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    alignas(64) C tile[kLeaf];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = i % blocks * kArgBlock;
      Place<C> place = PlaceInRun<kLargest>(source, i / blocks * l.length + from,
                                            std::min(kArgBlock, l.length - from), tile);
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

template <bool kLargest, class C>
void ArgReduceStrip(const Strip& s, const ArgSource<C>& source, int64_t* out) {
  alignas(64) C tile[kStripWidth];
  C best[kStripWidth];
  int64_t index[kStripWidth];
  std::copy_n(source.Piece(s.offset, s.width, tile), s.width, best);
  std::fill_n(index, s.width, 0);
  for (int64_t i = 1; i < s.length; ++i) {
    const C* const row = source.Piece(s.offset + i * s.stride, s.width, tile);
    for (int64_t c = 0; c < s.width; ++c) {
      const bool beats = Beats<kLargest>(row[c], best[c]);
      best[c] = beats ? row[c] : best[c];
      index[c] = beats ? i : index[c];
    }
  }
  std::copy_n(index, s.width, out + s.first);
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
    using C = ElementOf<Reduces::kExtremes, T>;
    const internal::ArgSource<C> source(k.in_spec(0).dtype, k.in<T>(0));
    int64_t* out = k.out<int64_t>();
    if (l.inner == 1) {
      internal::ArgReduceRows<kLargest>(l, source, out, k.workspace());
    } else {
      ForEachStrip(l, [&](const Strip& s) { internal::ArgReduceStrip<kLargest>(s, source, out); });
    }
  });
  return absl::OkStatus();
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ARG_REDUCE_H_

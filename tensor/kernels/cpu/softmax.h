#ifndef FIRN_TENSOR_KERNELS_CPU_SOFTMAX_H_
#define FIRN_TENSOR_KERNELS_CPU_SOFTMAX_H_

// Sums and maxima along lines (see lines.h), as softmax and its relatives need them. Elements are
// named by their offset i in the tensor: a term is f(i, c) with c the line's place in its strip, or
// f(i, c, j) with j also the element's place in its line.

#include <algorithm>

#include "tensor/kernels/cpu/lines.h"
#include "tensor/kernels/cpu/reduce.h"
#include "tensor/kernels/math.h"
#include "tensor/kernels/reducers.h"
#include "tensor/op.h"

namespace firn::cpu {

namespace internal {

// Elements of a line that are computed before they are added.
inline constexpr int64_t kPiece = 512;

template <class F>
FIRN_ALWAYS_INLINE auto Term(const F& f, int64_t i, int64_t c, int64_t j) {
  if constexpr (requires { f(i, c, j); }) {
    return f(i, c, j);
  } else {
    return f(i, c);
  }
}

inline constexpr auto kSame = [](auto v) { return v; };
inline constexpr auto kNoSink = [](int64_t, auto) {};

// Reduces g(f) over every line of the strip into out and shows each value to sink(i, value).
// g is costly and f is not: along a line g runs on whole registers, beyond the end too.
template <class R, class F, class G, class Sink>
FIRN_ALWAYS_INLINE void ReduceStrip(const R& r, const Strip& s, const F& f, const G& g,
                                    const Sink& sink, typename R::Acc* out) {
  using Acc = typename R::Acc;
  if (s.line()) {
    Cascade<R> total(r);
    Acc piece[kPiece];
    constexpr int64_t kMask = static_cast<int64_t>(kSimdBytes / sizeof(Acc)) - 1;
    for (int64_t at = 0; at < s.length; at += kPiece) {
      const int64_t n = std::min(kPiece, s.length - at), padded = (n + kMask) & ~kMask;
      const int64_t base = s.offset + at;
      for (int64_t j = 0; j < n; ++j) piece[j] = Term(f, base + j, 0, at + j);
      for (int64_t j = n; j < padded; ++j) piece[j] = 0;
      for (int64_t j = 0; j < padded; ++j) piece[j] = g(piece[j]);
      for (int64_t j = 0; j < n; ++j) sink(base + j, piece[j]);
      total.Add(CombineRun(r, piece, n, 1));
    }
    *out = total.Total();
    return;
  }
  std::fill_n(out, s.width, r.identity());
  for (int64_t i = 0; i < s.length; ++i) {
    const int64_t base = s.offset + i * s.stride;
#pragma GCC ivdep
    for (int64_t c = 0; c < s.width; ++c) {
      const Acc v = g(Term(f, base + c, c, i));
      sink(base + c, v);
      out[c] = r.combine(out[c], v);
    }
  }
}

}  // namespace internal

// The sum of f over every line.
template <class Acc, class F>
void SumStrip(const Strip& s, const F& f, Acc* out) {
  internal::ReduceStrip(SumReducer<Acc>(), s, f, internal::kSame, internal::kNoSink, out);
}

// The sum of exp(f) over every line; the exponentials themselves go to y unless it is null.
template <class Acc, class F>
void SumExpStrip(const Strip& s, const F& f, Acc* y, Acc* out) {
  const SumReducer<Acc> r;
  const auto exp = [](Acc v) { return math::Exp(v); };
  if (y == nullptr) return internal::ReduceStrip(r, s, f, exp, internal::kNoSink, out);
  internal::ReduceStrip(
      r, s, f, exp, [y](int64_t i, Acc v) { y[i] = v; }, out);
}

// The largest element of every line; NaN where there is one.
template <class Acc, class T>
void MaxStrip(const Strip& s, const T* x, Acc* out) {
  const ExtremeReducer<Acc, true> r;
  if (s.line()) {
    internal::Cascade<ExtremeReducer<Acc, true>> total(r);
    for (int64_t at = 0; at < s.length; at += internal::kLeaf) {
      const int64_t n = std::min(internal::kLeaf, s.length - at);
      total.Add(internal::CombineRun(r, x + s.offset + at, n, 1));
    }
    *out = total.Total();
  } else {
    const auto element = [x](int64_t i, int64_t) { return static_cast<Acc>(x[i]); };
    internal::ReduceStrip(r, s, element, internal::kSame, internal::kNoSink, out);
  }
}

// y[i] = f. y may be what f reads at i.
template <class T, class F>
void MapStrip(const Strip& s, T* y, const F& f) {
  if (s.line()) {
#pragma GCC ivdep
    for (int64_t j = 0; j < s.length; ++j) {
      y[s.offset + j] = static_cast<T>(internal::Term(f, s.offset + j, 0, j));
    }
    return;
  }
  for (int64_t i = 0; i < s.length; ++i) {
    const int64_t base = s.offset + i * s.stride;
#pragma GCC ivdep
    for (int64_t c = 0; c < s.width; ++c)
      y[base + c] = static_cast<T>(internal::Term(f, base + c, c, i));
  }
}

// Calls f(TypeTag<T>(), strip), T being the type of input 0, for strips that make up all lines
// along `dim` of input 0, in parallel.
template <class F>
absl::Status RunAlong(KernelContext& k, int64_t dim, const F& f) {
  const Lines lines = LinesAlong(k.in_spec(0).shape, dim);
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T> tag) {
    ForEachStrip(lines, [&](const Strip& s) { f(tag, s); });
  });
  return absl::OkStatus();
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_SOFTMAX_H_

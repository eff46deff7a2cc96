#ifndef FIRN_TENSOR_KERNELS_CPU_SOFTMAX_H_
#define FIRN_TENSOR_KERNELS_CPU_SOFTMAX_H_

// Sums and maxima along lines (see lines.h), for softmax and its relatives. Elements are computed
// in float or double, whatever their dtype (see rows.h): a term is f(c, j, v...) with c the line's
// place in its strip, j the element's place in its line, and an element of each input.
//
// Short lines side by side are transposed into a strip, so that vectors work on many lines at a
// time. Half types are converted a strip at a time, once for all loops over it.

#include <algorithm>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/lines.h"
#include "firn/tensor/kernels/cpu/reduce.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/op.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {

namespace internal {

// Elements of a line that are computed before they are added.
inline constexpr int64_t kPiece = 512;
static_assert(kPiece >= kStripWidth);

inline constexpr auto kSame = [](auto v) { return v; };

// to[i] = f(c, j, p[i]...): along a line, whose element j is the first one, and across lines.
template <class Acc, class F, class... P>
FIRN_ALWAYS_INLINE void TermsAlong(const F& f, int64_t j, int64_t n, Acc* to, const P*... p) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) to[i] = f(0, j + i, p[i]...);
}
template <class Acc, class F, class... P>
FIRN_ALWAYS_INLINE void TermsAcross(const F& f, int64_t j, int64_t n, Acc* to, const P*... p) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t c = 0; c < n; ++c) to[c] = f(c, j, p[c]...);
}

// x[i] = g(x[i]), in whole registers: g is costly.
template <class G, class Acc>
FIRN_ALWAYS_INLINE void MapWhole(const G& g, Acc* x, int64_t n) {
  constexpr int64_t kLanes = kSimdLanes<Acc>;
  const int64_t whole = n - n % kLanes;
  for (int64_t i = 0; i < whole; ++i) x[i] = g(x[i]);
  if (whole == n) return;
  Acc rest[kLanes] = {};
  std::copy_n(x + whole, n - whole, rest);
  for (int64_t i = 0; i < kLanes; ++i) rest[i] = g(rest[i]);
  std::copy_n(rest, n - whole, x + whole);
}

// An input with a tile of its own.
template <class Acc, int64_t kTile>
class Tiled {
 public:
  explicit Tiled(const RowsIn<Acc>& x) : x_(x) {}
  FIRN_ALWAYS_INLINE const Acc* At(int64_t i, int64_t n) { return x_.At(i, n, tile_); }
  Acc* tile() { return tile_; }
  const RowsIn<Acc>& rows() const { return x_; }

 private:
  const RowsIn<Acc>& x_;
  alignas(64) Acc tile_[kTile];
};

// Reduces g(f) over every line of the strip into out; if y is given, the values go there as well,
// the strip's first one to y[0]. g is costly and f is not.
template <class R, class F, class G, class Acc, class... In>
FIRN_ALWAYS_INLINE void ReduceStrip(const R& r, const Strip& s, const F& f, const G& g, Acc* y,
                                    Acc* out, Tiled<In, kPiece>&&... in) {
  Acc piece[kPiece];
  if (s.line() && s.length <= kPiece) {
    Acc* const to = y != nullptr ? y : piece;
    TermsAlong(f, 0, s.length, to, in.At(s.offset, s.length)...);
    MapWhole(g, to, s.length);
    *out = CombineRun(r, to, s.length, 1);
    return;
  }
  if (s.line()) {
    Cascade<R> total(r);
    for (int64_t at = 0; at < s.length; at += kPiece) {
      const int64_t n = std::min(kPiece, s.length - at), base = s.offset + at;
      Acc* const to = y != nullptr ? y + at : piece;
      TermsAlong(f, at, n, to, in.At(base, n)...);
      MapWhole(g, to, n);
      total.Add(CombineRun(r, to, n, 1));
    }
    *out = total.Total();
    return;
  }
  std::fill_n(out, s.width, r.identity());
  for (int64_t j = 0; j < s.length; ++j) {
    const int64_t base = s.offset + j * s.stride;
    Acc* const to = y != nullptr ? y + j * s.stride : piece;
    TermsAcross([&](auto... v) { return g(f(v...)); }, j, s.width, to, in.At(base, s.width)...);
    FIRN_INDEPENDENT_STEPS
    for (int64_t c = 0; c < s.width; ++c) out[c] = r.combine(out[c], to[c]);
  }
}

}  // namespace internal

// Reduces f over every line by r.
template <class R, class Acc, class F, class... In>
void CombineStrip(const R& r, const Strip& s, const F& f, Acc* out, const RowsIn<In>&... in) {
  Acc* const none = nullptr;
  internal::ReduceStrip(r, s, f, internal::kSame, none, out,
                        internal::Tiled<In, internal::kPiece>(in)...);
}

// The sum of f over every line.
template <class Acc, class F, class... In>
void SumStrip(const Strip& s, const F& f, Acc* out, const RowsIn<In>&... in) {
  CombineStrip(SumReducer<Acc>(), s, f, out, in...);
}

// The sum of exp(x - shift) over every line, `shift` having a number for each; the exponentials
// themselves go to y unless it is null, that of the strip's first element to y[0].
template <class Acc>
void SumExpStrip(const Strip& s, const RowsIn<Acc>& x, const Acc* shift, Acc* y, Acc* out) {
  const auto centred = [shift](int64_t c, int64_t, Acc v) { return v - shift[c]; };
  const auto exp = [](Acc v) { return math::Exp(v); };
  internal::ReduceStrip(SumReducer<Acc>(), s, centred, exp, y, out,
                        internal::Tiled<Acc, internal::kPiece>(x));
}

// The largest element of every line; NaN where there is one.
template <class Acc>
void MaxStrip(const Strip& s, const RowsIn<Acc>& x, Acc* out) {
  const MaxReducer<Acc> r;
  Acc tile[internal::kPiece];
  if (s.line() && s.length <= internal::kPiece) {
    *out = internal::CombineRun(r, x.At(s.offset, s.length, tile), s.length, 1);
    return;
  }
  if (s.line()) {
    internal::Cascade<MaxReducer<Acc>> total(r);
    const int64_t most = x.converted() ? internal::kPiece : internal::kLeaf;
    for (int64_t at = 0; at < s.length; at += most) {
      const int64_t n = std::min(most, s.length - at);
      total.Add(internal::CombineRun(r, x.At(s.offset + at, n, tile), n, 1));
    }
    *out = total.Total();
    return;
  }
  std::fill_n(out, s.width, r.identity());
  for (int64_t j = 0; j < s.length; ++j) {
    const Acc* const row = x.At(s.offset + j * s.stride, s.width, tile);
    FIRN_INDEPENDENT_STEPS
    for (int64_t c = 0; c < s.width; ++c) out[c] = r.combine(out[c], row[c]);
  }
}

namespace internal {

template <class Acc, class F, class... In>
FIRN_ALWAYS_INLINE void MapTiled(const Strip& s, const RowsOut<Acc>& y, const F& f,
                                 Tiled<In, kPiece>&&... in) {
  Acc result[kPiece];
  for (int64_t at = 0; s.line() && at < s.length; at += kPiece) {
    const int64_t n = std::min(kPiece, s.length - at), base = s.offset + at;
    Acc* const to = y.At(base, result);
    TermsAlong(f, at, n, to, in.At(base, n)...);
    y.Done(base, n, to);
  }
  for (int64_t j = 0; !s.line() && j < s.length; ++j) {
    const int64_t base = s.offset + j * s.stride;
    Acc* const to = y.At(base, result);
    TermsAcross(f, j, s.width, to, in.At(base, s.width)...);
    y.Done(base, s.width, to);
  }
}

}  // namespace internal

// Writes f to y, which may be one of the inputs.
template <class Acc, class F, class... In>
void MapStrip(const Strip& s, const RowsOut<Acc>& y, const F& f, const RowsIn<In>&... in) {
  internal::MapTiled(s, y, f, internal::Tiled<In, internal::kPiece>(in)...);
}

// y = exp(x - shift) * factor(c, sum), where the sum is that of the exponentials of line c, and
// `shift` has a number for each line. y may be x.
template <class Acc, class F>
void ScaledExpStrip(const Strip& s, const RowsOut<Acc>& y, const RowsIn<Acc>& x, const Acc* shift,
                    const F& factor) {
  Acc scale[kStripWidth];
  Acc* const exps = y.converted() ? nullptr : y.At(s.offset, nullptr);
  SumExpStrip(s, x, shift, exps, scale);
  for (int64_t c = 0; c < s.width; ++c) scale[c] = factor(c, scale[c]);
  if (exps != nullptr) {
    Strip from_start = s;
    from_start.offset = 0;
    const auto share = [&](int64_t c, int64_t, Acc e) { return e * scale[c]; };
    MapStrip(from_start, RowsOut<Acc>(exps), share, RowsIn<Acc>(exps));
  } else {  // rounding the exponentials first would cost a bit
    const auto share = [&](int64_t c, int64_t, Acc v) {
      return math::Exp(v - shift[c]) * scale[c];
    };
    MapStrip(s, y, share, x);
  }
}

namespace internal {

// Lines of up to so many elements are transposed, some at a time: the limits for one input, and for
// several, each of which has to be transposed.
inline constexpr int64_t kShortLine = 112, kShortLines = 24, kTurnedTile = 4096;

// How many lines at a time.
inline int64_t TurnedLines(int64_t length) {
  return std::min<int64_t>(64, kTurnedTile / length / 16 * 16);
}

// to[c * to_step + r] = from[r * from_step + c] for r < rows, c < cols.
template <class Acc>
void Turn(int64_t rows, int64_t cols, const Acc* from, int64_t from_step, Acc* to,
          int64_t to_step) {
  if (std::min(rows, cols) >= kSimdLanes<Acc>) {
    return inner::internal::CopyTransposed(rows, cols, sizeof(Acc), from, from_step, to, to_step);
  }
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[c * to_step + r] = from[r * from_step + c];
  }
}

template <class Acc, class F, class... In>
void TurnStrips(const Lines& l, int64_t begin, int64_t end, const RowsOut<Acc>& y, const F& f,
                Tiled<In, kTurnedTile>&&... in) {
  alignas(64) Acc result[kTurnedTile], flat[kTurnedTile];
  const int64_t most = TurnedLines(l.length);
  for (int64_t first = begin * most; first < std::min(end * most, l.outer); first += most) {
    const int64_t lines = std::min(most, l.outer - first);
    const int64_t base = first * l.length, n = lines * l.length;
    (Turn(lines, l.length, in.rows().At(base, n, flat), l.length, in.tile(), most), ...);
    f(Strip{first, 0, l.length, most, lines}, RowsOut<Acc>(result), RowsIn<In>(in.tile())...);
    if (!y.given()) continue;
    Acc* const to = y.At(base, flat);
    Turn(l.length, lines, result, most, to, l.length);
    y.Done(base, n, to);
  }
}

// Elements of a strip that is converted as a whole, and the fewest lines next to each other that
// are worth it.
inline constexpr int64_t kConvertedTile = 4096, kLeastWidth = 32;

// How many lines are converted at once: 0 where lines are too long.
inline int64_t ConvertedWidth(const Lines& l) {
  if (l.length == 0 || l.length > kConvertedTile) return 0;
  if (l.inner == 1) return 1;
  const int64_t width = std::min(kStripWidth, kConvertedTile / l.length);
  return width < kLeastWidth ? 0 : width - width % kLeastWidth;
}

template <class Acc, class F, class... In>
void ConvertStrip(const Strip& s, const RowsOut<Acc>& y, const F& f,
                  Tiled<In, kConvertedTile>&&... in) {
  alignas(64) Acc result[kConvertedTile];
  // A single last column is not computed as a line by itself: its sums would be added in another
  // order than those of other columns.
  const int64_t pitch = std::max<int64_t>(2, s.width);
  const auto load = [&s, pitch](auto& from) {
    for (int64_t j = 0; j < s.length; ++j) {
      from.rows().Load(s.offset + j * s.stride, s.width, from.tile() + j * pitch);
    }
  };
  (load(in), ...);
  f(Strip{s.first, 0, s.length, pitch, s.width}, RowsOut<Acc>(result), RowsIn<In>(in.tile())...);
  for (int64_t j = 0; y.given() && j < s.length; ++j) {
    y.Store(s.offset + j * s.stride, s.width, result + j * pitch);
  }
}

// The same for lines [begin, end) of `length` elements side by side.
template <class Acc, class F, class... In>
void ConvertLines(int64_t begin, int64_t end, int64_t length, const RowsOut<Acc>& y, const F& f,
                  Tiled<In, kConvertedTile>&&... in) {
  alignas(64) Acc result[kConvertedTile];
  constexpr int64_t kAtOnce = 1024;  // what was converted is to be read from the first-level cache
  const int64_t most = std::max<int64_t>(1, kAtOnce / length);
  for (int64_t first = begin; first < end; first += most) {
    const int64_t lines = std::min(most, end - first), base = first * length, n = lines * length;
    (in.rows().Load(base, n, in.tile()), ...);
    for (int64_t i = 0; i < lines; ++i) {
      f(Strip{first + i, i * length, length, 1, 1}, RowsOut<Acc>(result), RowsIn<In>(in.tile())...);
    }
    if (y.given()) y.Store(base, n, result);
  }
}

}  // namespace internal

// Calls f(strip, y, in...) for strips that make up all lines, in parallel, with buffers for y,
// which may be missing, and the inputs: a strip's offsets are places in these.
template <class Acc, class F, class... In>
void ForEachStrip(const Lines& l, const RowsOut<Acc>& y, const F& f, const RowsIn<In>&... in) {
  constexpr int64_t kShort = sizeof...(In) == 1 ? internal::kShortLine : internal::kShortLines;
  if (l.inner == 1 && l.length > 0 && l.length <= kShort && l.outer > 1) {
    const int64_t most = internal::TurnedLines(l.length);
    const int64_t grain = std::max<int64_t>(1, 8192 / (l.length * most));
    return ParallelFor((l.outer - 1) / most + 1, grain, [&](int64_t begin, int64_t end) {
      internal::TurnStrips(l, begin, end, y, f, internal::Tiled<In, internal::kTurnedTile>(in)...);
    });
  }
  const int64_t width = (in.converted() || ...) ? internal::ConvertedWidth(l) : 0;
  if (width == 0) return ForEachStrip(l, [&](const Strip& s) { f(s, y, in...); });
  using internal::kConvertedTile, internal::Tiled;
  if (l.inner == 1) {
    return ParallelFor(
        l.outer, std::max<int64_t>(1, 8192 / l.length), [&](int64_t begin, int64_t end) {
          internal::ConvertLines(begin, end, l.length, y, f, Tiled<In, kConvertedTile>(in)...);
        });
  }
  const auto convert = [&](const Strip& s) {
    internal::ConvertStrip(s, y, f, Tiled<In, kConvertedTile>(in)...);
  };
  ForEachStrip(l, convert, width);
}

// The same for lines along `dim` of the first kInputs inputs of a kernel, which have the shape of
// its output 0.
template <int kInputs, class F>
absl::Status RunAlong(KernelContext& k, int64_t dim, const F& f) {
  const Lines lines = LinesAlong(k.in_spec(0).shape, dim);
  VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      ForEachStrip(lines, RowsOut<Acc>(k, 0), f, RowsIn<Acc>(k, I)...);
    }
    (std::make_integer_sequence<int, kInputs>());
  });
  return absl::OkStatus();
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_SOFTMAX_H_

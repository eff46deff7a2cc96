#ifndef FIRN_TENSOR_OPS_POOL_MAX_POOL_BODY_H_
#define FIRN_TENSOR_OPS_POOL_MAX_POOL_BODY_H_

// The largest elements of windows and their places, on the CPU: a window of neighbouring channels,
// and rows of windows of single channels.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/math_base.h"
#include "firn/tensor/kernels/pool_axes.h"

namespace firn::cpu {
namespace internal {

// Channels side by side, computed as one vector, and integers of the same width.
template <class C, int kBlock>
struct LanesOf {
  using Integer = std::conditional_t<sizeof(C) == sizeof(int32_t), int32_t, int64_t>;
  typedef C Values __attribute__((vector_size(kBlock * sizeof(C))));
  typedef Integer Places __attribute__((vector_size(kBlock * sizeof(C))));
};

// Whether v replaces the best so far, for a number or for lanes of them: the first NaN wins, else
// the first of the largest.
template <class V>
FIRN_ALWAYS_INLINE auto Beats(const V& v, const V& best) {
  return (v > best) | ((v != v) & (best == best));
}

// The number of columns of images that MaxPlaneRows reads at once, and of windows whose largest
// elements it finds.
inline constexpr int64_t kStrip = 1024, kWindows = 256;

// Taps of a line that lie one beside the other and are compared in registers: at most this many.
inline constexpr int64_t kMostTaps = 3;

// The best of the first taps of n neighbouring windows, whose elements begin at x. `place`: the
// first tap's, counted from the start of each window. The best so far comes from earlier lines, if
// there were any.
template <int kStride, bool kFirst, int kTaps, class C, class Integer>
FIRN_ALWAYS_INLINE void Taps(const C* x, int64_t any_stride, int64_t n, Integer place, C* best,
                             Integer* at) {
  const int64_t stride = kStride == 0 ? any_stride : kStride;
  FIRN_INDEPENDENT_STEPS
  for (int64_t j = 0; j < n; ++j) {
    C most = kFirst ? x[j * stride] : best[j];
    Integer where = kFirst ? place : at[j];
    // By masks and without a loop, because the compiler would not vectorise jumps and loops.
    const auto look = [&](int tap) __attribute__((always_inline)) {
      const C v = x[j * stride + tap];
      const bool wins = Beats(v, most);
      const auto mask = Integer{0} - static_cast<Integer>(wins);
      most = math::Select(wins, v, most);
      where = ((place + tap) & mask) | (where & ~mask);
    };
    if constexpr (!kFirst) look(0);
    if constexpr (kTaps > 1) look(1);
    if constexpr (kTaps > 2) look(2);
    best[j] = most;
    at[j] = where;
  }
}

// Windows of an axis that lie in the image as a whole, one beside the other.
struct WholeSpan {
  int64_t begin = 0, end = 0;
};
inline WholeSpan WholeWindowsOf(const PoolAxis& axis) {
  const int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
  if (axis.adaptive != 0 || reach > kStrip / 4) return {};
  const int64_t room = axis.in + axis.padding - (reach - 1);
  const int64_t end = room <= 0 ? 0 : std::min(axis.out, CeilDiv(room, axis.stride));
  return {std::min(CeilDiv(axis.padding, axis.stride), end), end};
}

}  // namespace internal

// One output pixel of `kBlock` channels, whose window lies in these slices, rows and columns.
// `pitch`: elements from one pixel to the next.
template <int kBlock, class T>
void MaxWindow(const T* plane, int64_t pitch, const PoolAxes& axes, const PoolSpan& slices,
               const PoolSpan& rows, const PoolSpan& cols, T* y, int32_t* index) {
  using C = AccumulatorOf<T>;
  using Lanes = internal::LanesOf<C, kBlock>;
  using Values = typename Lanes::Values;
  using Places = typename Lanes::Places;
  using Integer = typename Lanes::Integer;
  const int64_t width = axes.w.in, row_step = axes.h.dilation, col_step = axes.w.dilation;
  Values best = Values{} - std::numeric_limits<C>::infinity();
  const int64_t first = (slices.begin * axes.h.in + rows.begin) * width + cols.begin;
  Places at = Places{} + static_cast<Integer>(first);
  for (int64_t s = slices.begin; s < slices.end; s += axes.d.dilation) {
    for (int64_t i = rows.begin; i < rows.end; i += row_step) {
      const int64_t line = (s * axes.h.in + i) * width;
      for (int64_t j = cols.begin; j < cols.end; j += col_step) {
        Values v;
        LoadAs(plane + (line + j) * pitch, kBlock, reinterpret_cast<C*>(&v));
        const Places wins = internal::Beats(v, best);
        best = wins ? v : best;
        at = wins ? Places{} + static_cast<Integer>(line + j) : at;
      }
    }
  }
  StoreFrom(reinterpret_cast<const C*>(&best), kBlock, y);
  for (int b = 0; b < kBlock; ++b) index[b] = static_cast<int32_t>(at[b]);
}

// Row-major planes, one behind the other, whose outputs in the same row are computed at once: rows
// of a single plane may be too short for vectors.
template <class T>
class MaxPlaneRows {
 public:
  explicit MaxPlaneRows(const PoolAxes& axes)
      : axes_(axes),
        whole_(internal::WholeWindowsOf(axes.w)),
        reach_(axes.w.dilation * (axes.w.kernel - 1) + 1) {
    const int64_t n = whole_.end - whole_.begin, stride = axes.w.stride;
    if (n == 0) return;  // then the stride may be anything
    // Unused windows follow each plane's windows, so that the strip has the taps of the last one.
    lanes_ = n + CeilDiv(std::max<int64_t>(0, reach_ - stride), stride);
    together_ = std::min(internal::kWindows / lanes_, internal::kStrip / (lanes_ * stride));
    together_ = std::max<int64_t>(1, together_);
  }

  // Planes that Rows takes at most.
  int64_t together() const { return together_; }

  // All rows of outputs of `planes` planes from x on.
  void Rows(const T* x, int64_t planes, T* y, int32_t* index) {
    int64_t to = 0;
    for (int64_t s = 0; s < axes_.d.out; ++s) {
      const PoolSpan slices = axes_.d.Window(s);
      for (int64_t i = 0; i < axes_.h.out; ++i, to += axes_.w.out) {
        const PoolSpan rows = axes_.h.Window(i);
        for (int64_t p = 0; p < planes; ++p) Borders(x, p, slices, rows, y + to, index + to);
        if (whole_.begin == whole_.end) continue;
        if (planes > 1) {
          Whole(x, planes, slices, rows, whole_.begin, whole_.end, y + to, index + to);
          continue;
        }
        const int64_t most =
            std::min(internal::kWindows, (internal::kStrip - reach_) / axes_.w.stride + 1);
        for (int64_t from = whole_.begin; from < whole_.end; from += most) {
          Whole(x, 1, slices, rows, from, std::min(whole_.end, from + most), y + to, index + to);
        }
      }
    }
  }

 private:
  using C = AccumulatorOf<T>;
  using Integer = typename internal::LanesOf<C, 1>::Integer;  // as wide as C: one mask serves both

  void Borders(const T* x, int64_t plane, const PoolSpan& slices, const PoolSpan& rows, T* y,
               int32_t* index) const {
    for (int64_t j = 0; j < axes_.w.out; ++j) {
      if (j == whole_.begin) j = whole_.end;
      if (j >= axes_.w.out) break;
      const int64_t to = plane * axes_.pixels() + j;
      MaxWindow<1>(x + plane * axes_.image(), 1, axes_, slices, rows, axes_.w.Window(j), y + to,
                   index + to);
    }
  }

  // Windows [begin, end) of a row of each plane: side by side, tap by tap, so that the compiler
  // vectorises over windows.
  void Whole(const T* x, int64_t planes, const PoolSpan& slices, const PoolSpan& rows,
             int64_t begin, int64_t end, T* y, int32_t* index) {
    const int64_t windows = end - begin, stride = axes_.w.stride;
    const int64_t lanes = planes == 1 ? windows : lanes_, n = (planes - 1) * lanes + windows;
    const int64_t origin =
        (slices.begin * axes_.h.in + rows.begin) * axes_.w.in + begin * stride - axes_.w.padding;
    int64_t together = 1;
    bool first = true;
    for (int64_t s = slices.begin; s < slices.end; s += axes_.d.dilation) {
      for (int64_t i = rows.begin; i < rows.end; i += axes_.h.dilation) {
        const int64_t line = ((s - slices.begin) * axes_.h.in + i - rows.begin) * axes_.w.in;
        const C* const from = Strip(x + origin + line, planes, windows, lanes);
        for (int64_t tap = 0; tap < reach_; tap += together * axes_.w.dilation, first = false) {
          const auto place = static_cast<Integer>(line + tap);
          together = axes_.w.dilation == 1 ? std::min(internal::kMostTaps, reach_ - tap) : 1;
          stride == 1   ? AnyTaps<1>(first, together, from + tap, n, place)
          : stride == 2 ? AnyTaps<2>(first, together, from + tap, n, place)
                        : AnyTaps<0>(first, together, from + tap, n, place);
        }
      }
    }
    const T* const best = Best(n);
    for (int64_t p = 0; p < planes; ++p) {
      const int64_t to = p * axes_.pixels() + begin;
      const auto from = static_cast<int32_t>(origin), step = static_cast<int32_t>(stride);
      for (int64_t j = 0; j < windows; ++j) y[to + j] = best[p * lanes + j];
      for (int64_t j = 0; j < windows; ++j) {
        index[to + j] =
            from + static_cast<int32_t>(j) * step + static_cast<int32_t>(at_[p * lanes + j]);
      }
    }
  }
  template <int kStride>
  void AnyTaps(bool first, int64_t taps, const C* x, int64_t n, Integer place) {
    const auto run = [&]<int kTaps>(std::integral_constant<int, kTaps>) {
      first ? internal::Taps<kStride, true, kTaps>(x, axes_.w.stride, n, place, best_, at_)
            : internal::Taps<kStride, false, kTaps>(x, axes_.w.stride, n, place, best_, at_);
    };
    taps == 1   ? run(std::integral_constant<int, 1>())
    : taps == 2 ? run(std::integral_constant<int, 2>())
                : run(std::integral_constant<int, 3>());
  }

  // What the windows of a row of each plane hold in one line of the image, from x on.
  const C* Strip(const T* x, int64_t planes, int64_t windows, int64_t lanes) {
    const int64_t length = (windows - 1) * axes_.w.stride + reach_, pitch = lanes * axes_.w.stride;
    if (planes == 1) return ViewAs(x, length, strip_);
    if constexpr (std::is_same_v<T, C>) {
      for (int64_t p = 0; p < planes; ++p) {
        LoadAs(x + p * axes_.image(), length, strip_ + p * pitch);
      }
    } else {
      ToFloats(DTypeOf<T>(), x, Runs{planes, length, axes_.image(), pitch}, strip_);
    }
    return strip_;
  }
  // The first n windows' largest elements. In half types they are rounded at once and not plane by
  // plane: a row of one plane may be shorter than a vector.
  const T* Best(int64_t n) {
    if constexpr (std::is_same_v<T, C>) {
      return best_;
    } else {
      FromFloats(best_, n, raw_);
      return raw_;
    }
  }

  const PoolAxes& axes_;
  internal::WholeSpan whole_;
  int64_t reach_;  // of a window
  int64_t lanes_ = 0, together_ = 1;
  C best_[internal::kWindows], strip_[internal::kStrip] = {};  // taps of unused lanes read it too
  Integer at_[internal::kWindows];
  T raw_[std::is_same_v<T, C> ? 1 : internal::kWindows];
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_POOL_MAX_POOL_BODY_H_

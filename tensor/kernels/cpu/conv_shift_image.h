#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_SHIFT_IMAGE_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_SHIFT_IMAGE_H_

// Images in which every tap of a convolution is a shift.
//
// An image is widened by its padding and, along each axis, dealt out to as many phases as the
// stride is long: element q goes to place q / stride of phase q % stride. Then the output at (d, h,
// w) reads tap k at place (d, h, w) of k's phase plus a shift that only k determines, and with rows
// of outputs as far apart as rows of places, all outputs of an image are one row of numbers: sums
// of shifted rows, without borders or strides.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/simd.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cpu {

inline constexpr int64_t kShiftTile = 64;  // elements that rows are computed in

inline int64_t WholeTiles(int64_t n) { return RoundUp(n, kShiftTile); }

// For a problem of three dimensions.
struct ShiftLayout {
  explicit ShiftLayout(const ConvProblem& problem) : p(problem) {
    for (int i = 0; i < 3; ++i) {
      const int64_t reach = (p.kernel[i] - 1) * p.attrs.dilation[i];
      places[static_cast<size_t>(i)] = p.out_size[i] + reach / p.attrs.stride[i];
    }
    plane = places[0] * places[1] * places[2];
    phases = p.attrs.stride.volume();
    // There is room for a register beyond the last row, because rows of two phases are written by
    // whole registers.
    phase_size = WholeTiles(plane + kShiftTile);
    span = ((p.out_size[0] - 1) * places[1] + p.out_size[1] - 1) * places[2] + p.out_size[2];
  }

  int64_t image_size() const { return phases * phase_size; }
  // The place of output (d, h, 0) in the row of all outputs.
  int64_t Row(int64_t d, int64_t h) const { return (d * places[1] + h) * places[2]; }
  // The phase of tap (d, h, w), and its first place in it.
  int64_t Phase(int64_t d, int64_t h, int64_t w) const {
    const Sizes &s = p.attrs.stride, &a = p.attrs.dilation;
    return (d * a[0] % s[0] * s[1] + h * a[1] % s[1]) * s[2] + w * a[2] % s[2];
  }
  int64_t Shift(int64_t d, int64_t h, int64_t w) const {
    const Sizes &s = p.attrs.stride, &a = p.attrs.dilation;
    return Row(d * a[0] / s[0], h * a[1] / s[1]) + w * a[2] / s[2];
  }
  // Elements of a row of x that some tap meets.
  int64_t MetWidth() const {
    const int64_t met = places[2] * p.attrs.stride[2] - p.attrs.padding[2];
    return std::clamp<int64_t>(met, 0, p.in_size[2]);
  }

  ConvProblem p;
  std::array<int64_t, 3> places;
  int64_t plane, phases, phase_size, span;
};

// to[i] = from[i] for rows too short to call the library for.
template <class T, int64_t kLanes = kSimdLanes<T>>
inline void CopyShort(const T* from, int64_t n, T* to) {
  if constexpr (kLanes == kSimdLanes<T>) {
    for (; n >= kLanes; n -= kLanes, from += kLanes, to += kLanes) {
      std::memcpy(to, from, sizeof(T) * kLanes);
    }
  } else if ((n & kLanes) != 0) {
    std::memcpy(to, from, sizeof(T) * kLanes);
    from += kLanes;
    to += kLanes;
  }
  if constexpr (kLanes > 1) CopyShort<T, kLanes / 2>(from, n, to);
}

// Every other one of the lanes of a and then b, from kFirst on.
template <int kFirst, class V, int... I>
FIRN_ALWAYS_INLINE V EveryOther(V a, V b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (kFirst + 2 * I)...);
}
// Alternates lanes of a and b, from their kFirst-th on.
template <int kFirst, class V, int... I>
FIRN_ALWAYS_INLINE V InTurns(V a, V b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (kFirst + I / 2 + I % 2 * int{sizeof...(I)})...);
}
template <class T>
using LaneNumbers = std::make_integer_sequence<int, static_cast<int>(kSimdLanes<T>)>;

// a[i] = pairs[2 i], b[i] = pairs[2 i + 1] for i < n; writes whole registers and so beyond n.
template <class T>
inline void SplitPairs(const T* pairs, int64_t n, T* a, T* b) {
  for (int64_t i = 0; i < n; i += kSimdLanes<T>) {
    Vec<T> low, high;
    std::memcpy(&low, pairs + 2 * i, sizeof low);
    std::memcpy(&high, pairs + 2 * i + kSimdLanes<T>, sizeof high);
    const Vec<T> evens = EveryOther<0>(low, high, LaneNumbers<T>());
    const Vec<T> odds = EveryOther<1>(low, high, LaneNumbers<T>());
    std::memcpy(a + i, &evens, sizeof evens);
    std::memcpy(b + i, &odds, sizeof odds);
  }
}

// The other way.
template <class T>
inline void MergePairs(const T* a, const T* b, int64_t n, T* pairs) {
  for (int64_t i = 0; i < n; i += kSimdLanes<T>) {
    Vec<T> va, vb;
    std::memcpy(&va, a + i, sizeof va);
    std::memcpy(&vb, b + i, sizeof vb);
    const Vec<T> first = InTurns<0>(va, vb, LaneNumbers<T>());
    const Vec<T> second = InTurns<kSimdLanes<T> / 2>(va, vb, LaneNumbers<T>());
    std::memcpy(pairs + 2 * i, &first, sizeof first);
    std::memcpy(pairs + 2 * i + kSimdLanes<T>, &second, sizeof second);
  }
}

// Elements of the row that ForEachRowOf uses in between.
inline int64_t ShiftRowRoom(const ShiftLayout& s) { return 2 * WholeTiles(s.places[2] + 1); }

// Calls f(row of x, first phase of its places, where they begin in it) for rows that some tap
// meets.
template <class F>
inline void ForEachRowOf(const ShiftLayout& s, F&& f) {
  const ConvProblem& p = s.p;
  const Sizes& stride = p.attrs.stride;
  for (int64_t d = 0; d < p.in_size[0]; ++d) {
    const int64_t qd = d + p.attrs.padding[0];
    if (qd / stride[0] >= s.places[0]) break;
    for (int64_t h = 0; h < p.in_size[1]; ++h) {
      const int64_t qh = h + p.attrs.padding[1];
      if (qh / stride[1] >= s.places[1]) break;
      f(d * p.in_size[1] + h, (qd % stride[0] * stride[1] + qh % stride[1]) * stride[2],
        s.Row(qd / stride[0], qh / stride[1]));
    }
  }
}

// Deals out an image. The padding of `image` and `row` is zeros, before and after.
template <class T>
void Spread(const ShiftLayout& s, const T* x, T* image, T* row) {
  const int64_t step = s.p.attrs.stride[2], left = s.p.attrs.padding[2], n = s.MetWidth();
  ForEachRowOf(s, [&](int64_t at, int64_t phase, int64_t begin) {
    const T* from = x + at * s.p.in_size[2];
    T* to = image + phase * s.phase_size + begin;
    if (step == 1) {
      CopyShort(from, n, to + left);
    } else if (step == 2) {
      CopyShort(from, n, row + left);
      SplitPairs(row, s.places[2], to, to + s.phase_size);
    } else {
      for (int64_t i = 0, f = left % step, place = left / step; i < n; ++i) {
        to[f * s.phase_size + place] = from[i];
        if (++f == step) f = 0, ++place;
      }
    }
  });
}

// Gathers the image again, with zeros where no tap meets.
template <class T>
void Gather(const ShiftLayout& s, const T* image, T* x, T* row) {
  const int64_t step = s.p.attrs.stride[2], left = s.p.attrs.padding[2], n = s.MetWidth();
  const int64_t width = s.p.in_size[2];
  int64_t done = 0;
  ForEachRowOf(s, [&](int64_t at, int64_t phase, int64_t begin) {
    T* to = x + at * width;
    const T* from = image + phase * s.phase_size + begin;
    if (x + done < to) std::fill(x + done, to, T(0));
    if (step == 1) {
      CopyShort(from + left, n, to);
    } else if (step == 2) {
      MergePairs(from, from + s.phase_size, s.places[2], row);
      CopyShort(row + left, n, to);
    } else {
      for (int64_t i = 0, f = left % step, place = left / step; i < n; ++i) {
        to[i] = from[f * s.phase_size + place];
        if (++f == step) f = 0, ++place;
      }
    }
    done = at * width + n;
  });
  std::fill(x + done, x + s.p.in_size.volume(), T(0));
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_SHIFT_IMAGE_H_

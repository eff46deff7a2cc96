#ifndef FIRN_TENSOR_KERNELS_CPU_AVERAGE_ROWS_H_
#define FIRN_TENSOR_KERNELS_CPU_AVERAGE_ROWS_H_

// Averages on the CPU, whole rows of outputs at a time: what windows hold of each column is added
// first, and then the columns of each window.

#include <algorithm>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/pool_axes.h"

namespace firn::cpu {

// Of images of kBlock channels that lie side by side. Not thread-safe.
template <int kBlock, class T>
class AverageRows {
 public:
  // Whether there is room for rows of these images.
  static bool Fits(const AvgPoolWindows& s) { return std::max(s.w.in, s.w.out) * kBlock <= kRoom; }

  // Requires: Fits(s), which must outlive it.
  explicit AverageRows(const AvgPoolWindows& s) : s_(s) {
    const PoolAxis& w = s.w;
    if (w.adaptive != 0) return;
    tiled_ = w.padding == 0 && w.kernel == w.stride && w.in == w.out * w.stride;
    if (tiled_) return;
    const int64_t room = w.in + w.padding - w.kernel;
    end_ = room < 0 ? 0 : std::min(w.out, room / w.stride + 1);
    begin_ = std::min(CeilDiv(w.padding, w.stride), end_);
  }

  // Rows [first, last) of the outputs y of image x, counted through all its slices.
  void Rows(const T* x, int64_t first, int64_t last, T* y) {
    y += first * s_.w.out * kBlock;
    for (int64_t row = first; row < last; ++row) {
      const PoolSpan slices = s_.Span(s_.d, row / s_.h.out);
      const PoolSpan lines = s_.Span(s_.h, row % s_.h.out);
      const int64_t height = s_.Divisor(slices, lines, PoolSpan{0, 1, 1});
      if (rows_ > 0 && (height != height_ || !HasRoom())) y = Finish(y);
      height_ = height;
      AddColumns(x, slices, lines, columns_ + rows_ * s_.w.in * kBlock);
      ++rows_;
    }
    Finish(y);
  }

 private:
  using Acc = AccumulatorOf<T>;
  static constexpr int64_t kRoom = 8192 / sizeof(Acc);

  // For one more row: they are put together where windows share out all columns.
  bool HasRoom() const { return tiled_ && (rows_ + 1) * s_.w.in * kBlock <= kRoom; }

  // The sums of all columns over these slices and lines.
  void AddColumns(const T* x, const PoolSpan& slices, const PoolSpan& lines, Acc* to) {
    const int64_t n = s_.w.in * kBlock;
    bool first = true;
    for (int64_t d = slices.begin; d < slices.end; ++d) {
      for (int64_t i = lines.begin; i < lines.end; ++i) {
        const T* const line = x + (d * s_.h.in + i) * n;
        if (first) {
          LoadAs(line, n, to);
        } else {
          const Acc* const v = ViewAs(line, n, line_);
          FIRN_INDEPENDENT_STEPS
          for (int64_t j = 0; j < n; ++j) to[j] += v[j];
        }
        first = false;
      }
    }
    if (first) std::fill(to, to + n, Acc{0});
  }

  // Writes the rows of outputs whose columns are there, and returns where the next ones go.
  T* Finish(T* y) {
    const int64_t n = rows_ * s_.w.out * kBlock;
    if (tiled_) {  // their windows lie one behind the other
      Whole(columns_, rows_ * s_.w.out, averages_);
    } else {
      for (int64_t j = 0; j < begin_; ++j) One(j);
      if (begin_ < end_) {
        const int64_t from = begin_ * s_.w.stride - s_.w.padding;
        Whole(columns_ + from * kBlock, end_ - begin_, averages_ + begin_ * kBlock);
      }
      for (int64_t j = end_; j < s_.w.out; ++j) One(j);
    }
    StoreFrom(averages_, n, y);
    rows_ = 0;
    return y + n;
  }

  // Of windows of so many columns in the rows at hand.
  Acc Divisor(int64_t width) const {
    return static_cast<Acc>(s_.divisor_override != 0 ? s_.divisor_override : height_ * width);
  }

  // n windows with all their columns, side by side.
  void Whole(const Acc* x, int64_t n, Acc* to) const {
    switch (s_.w.stride) {
      case 1:
        return WholeOf<1>(x, n, to);
      case 2:
        return WholeOf<2>(x, n, to);
      default:
        return WholeOf<0>(x, n, to);
    }
  }
  template <int kStride>
  void WholeOf(const Acc* x, int64_t n, Acc* to) const {
    const int64_t stride = (kStride == 0 ? s_.w.stride : kStride) * kBlock;
    const auto add = [&](const Acc* v, auto is_first) {
      FIRN_INDEPENDENT_STEPS
      for (int64_t j = 0; j < n; ++j) {
        for (int b = 0; b < kBlock; ++b) {
          Acc& sum = to[j * kBlock + b];
          sum = decltype(is_first)::value ? v[j * stride + b] : sum + v[j * stride + b];
        }
      }
    };
    add(x, std::true_type());
    for (int64_t tap = 1; tap < s_.w.kernel; ++tap) add(x + tap * kBlock, std::false_type());
    const Acc divisor = Divisor(s_.w.kernel);
    for (int64_t j = 0; j < n * kBlock; ++j) to[j] = (to[j] + Acc{0}) / divisor;  // no negative 0
  }

  // Window j of a row, whichever of its columns there are.
  void One(int64_t j) {
    const PoolSpan cols = s_.Span(s_.w, j);
    const Acc divisor = Divisor(s_.count_include_pad ? cols.padded : cols.end - cols.begin);
    Acc sum[kBlock] = {};
    for (int64_t c = cols.begin; c < cols.end; ++c) {
      for (int b = 0; b < kBlock; ++b) sum[b] += columns_[c * kBlock + b];
    }
    for (int b = 0; b < kBlock; ++b) averages_[j * kBlock + b] = sum[b] / divisor;
  }

  const AvgPoolWindows& s_;
  int64_t begin_ = 0, end_ = 0;    // the windows of a row that have all their columns
  bool tiled_ = false;             // the windows of a row share out its columns
  int64_t rows_ = 0, height_ = 0;  // those at hand, and the elements of a window's column in them
  alignas(64) Acc columns_[kRoom];
  alignas(64) Acc averages_[kRoom];
  alignas(64) Acc line_[kRoom];
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_AVERAGE_ROWS_H_

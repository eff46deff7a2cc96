#ifndef FIRN_TENSOR_KERNELS_CPU_AVERAGE_ROWS_H_
#define FIRN_TENSOR_KERNELS_CPU_AVERAGE_ROWS_H_

// Averages on the CPU, whole rows of outputs at a time, or pieces of rows that are too long for the
// first-level cache: the elements of windows are first added up within each column, then the
// columns of each window.

#include <algorithm>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/pool_axes.h"

namespace firn::cpu {

// For images of kBlock channels that lie side by side. Not thread-safe.
template <int kBlock, class T>
class AverageRows {
 public:
  // Whether there is room for the columns of a window of these images.
  static bool Fits(const AvgPoolWindows& s) { return IsShort(s.w) || Piece(s.w) > 0; }

  // Requires: Fits(s), which must outlive it.
  explicit AverageRows(const AvgPoolWindows& s) : s_(s) {
    const PoolAxis& w = s.w;
    if (!IsShort(w)) piece_ = Piece(w);
    if (w.adaptive != 0) return;
    tiled_ = IsShort(w) && w.padding == 0 && w.kernel == w.stride && w.in == w.out * w.stride;
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
      if (piece_ > 0) {
        y = Pieces(x, slices, lines, y);
        continue;
      }
      AddColumns(x, slices, lines, 0, s_.w.in, columns_ + rows_ * s_.w.in * kBlock);
      ++rows_;
    }
    if (rows_ > 0) Finish(y);
  }

 private:
  using Acc = AccumulatorOf<T>;
  static constexpr int64_t kRoom = 8192 / sizeof(Acc);

  // Whether there is room for a row as a whole.
  static bool IsShort(const PoolAxis& w) { return std::max(w.in, w.out) * kBlock <= kRoom; }

  // How many windows of a row have room for all their columns. Adaptive windows begin and end at
  // the nearest columns outside of their exact share.
  static int64_t Piece(const PoolAxis& w) {
    constexpr int64_t kColumns = kRoom / kBlock;
    if (w.adaptive != 0)
      return std::min(kColumns, std::max<int64_t>(0, kColumns - 2) * w.out / w.in);
    return w.kernel > kColumns ? 0 : std::min(kColumns, (kColumns - w.kernel) / w.stride + 1);
  }

  // Computes a row whose columns do not all fit at once.
  T* Pieces(const T* x, const PoolSpan& slices, const PoolSpan& lines, T* y) {
    for (int64_t j = 0; j < s_.w.out; j += piece_) {
      const int64_t end = std::min(s_.w.out, j + piece_);
      const int64_t from = s_.Span(s_.w, j).begin, to = s_.Span(s_.w, end - 1).end;
      AddColumns(x, slices, lines, from, to, columns_);
      Average(j, end, from);
      StoreFrom(averages_, (end - j) * kBlock, y);
      y += (end - j) * kBlock;
    }
    return y;
  }

  // Whether one more row fits. Rows are only computed together where their windows are adjacent and
  // cover all columns.
  bool HasRoom() const { return tiled_ && (rows_ + 1) * s_.w.in * kBlock <= kRoom; }

  // The sums of columns [begin, end) over these slices and lines.
  void AddColumns(const T* x, const PoolSpan& slices, const PoolSpan& lines, int64_t begin,
                  int64_t end, Acc* to) {
    const int64_t n = (end - begin) * kBlock;
    bool first = true;
    for (int64_t d = slices.begin; d < slices.end; ++d) {
      for (int64_t i = lines.begin; i < lines.end; ++i) {
        const T* const line = x + ((d * s_.h.in + i) * s_.w.in + begin) * kBlock;
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

  // Writes the rows of outputs whose columns are added up, and returns the place of the next ones.
  T* Finish(T* y) {
    const int64_t n = rows_ * s_.w.out * kBlock;
    if (tiled_) {  // their windows lie one behind the other
      Whole(columns_, rows_ * s_.w.out, averages_);
    } else {
      Average(0, s_.w.out, 0);
    }
    StoreFrom(averages_, n, y);
    rows_ = 0;
    return y + n;
  }

  // Averages windows [first, last) of a row whose columns from `column` on are added up.
  void Average(int64_t first, int64_t last, int64_t column) {
    const int64_t begin = std::clamp(begin_, first, last), end = std::clamp(end_, begin, last);
    for (int64_t j = first; j < begin; ++j) One(j, first, column);
    if (begin < end) {
      const int64_t from = begin * s_.w.stride - s_.w.padding - column;
      Whole(columns_ + from * kBlock, end - begin, averages_ + (begin - first) * kBlock);
    }
    for (int64_t j = end; j < last; ++j) One(j, first, column);
  }

  // The divisor for windows of so many columns in the current rows.
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

  // Averages window j of those from `first` on, which may lack some columns.
  void One(int64_t j, int64_t first, int64_t column) {
    const PoolSpan cols = s_.Span(s_.w, j);
    const Acc divisor = Divisor(s_.count_include_pad ? cols.padded : cols.end - cols.begin);
    Acc sum[kBlock] = {};
    for (int64_t c = cols.begin; c < cols.end; ++c) {
      for (int b = 0; b < kBlock; ++b) sum[b] += columns_[(c - column) * kBlock + b];
    }
    for (int b = 0; b < kBlock; ++b) averages_[(j - first) * kBlock + b] = sum[b] / divisor;
  }

  const AvgPoolWindows& s_;
  int64_t begin_ = 0, end_ = 0;    // the windows of a row that have all their columns
  int64_t piece_ = 0;              // windows that are averaged together; 0: all of a row
  bool tiled_ = false;             // the windows of a row are adjacent and cover its columns
  int64_t rows_ = 0, height_ = 0;  // current rows, and elements of a window's column
  alignas(64) Acc columns_[kRoom];
  alignas(64) Acc averages_[kRoom];
  alignas(64) Acc line_[kRoom];
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_AVERAGE_ROWS_H_

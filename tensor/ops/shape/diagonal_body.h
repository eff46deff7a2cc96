#ifndef FIRN_TENSOR_OPS_SHAPE_DIAGONAL_BODY_H_
#define FIRN_TENSOR_OPS_SHAPE_DIAGONAL_BODY_H_

// Elements are moved as they are: a row of a triangle is a run of x and a run of zeros, one of
// diag_embed zeros but for one element.

#include <algorithm>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/shape/diagonal.h"

namespace firn {

// Keeps elements from `diagonal` on (kUpper), or up to it.
template <class Word, bool kUpper>
struct TriangleBody {
  const Word* x;
  Word* y;
  int64_t rows, columns, diagonal;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t at = TakeDigit(row, columns) - TakeDigit(row, rows) - diagonal;
    y[i] = (kUpper ? at >= 0 : at <= 0) ? x[i] : Word{0};
  }
  void operator()(int64_t begin, int64_t end) const {
    ForEachRowOf(begin, end, columns, [&](int64_t row, int64_t first, int64_t last) {
      // The first column that is kept (kUpper), or that is not.
      const int64_t border = row % rows + diagonal + (kUpper ? 0 : 1);
      const int64_t middle = std::clamp(border, first, last);
      const Word* const from = x + row * columns;
      Word* const to = y + row * columns;
      if (kUpper) {
        std::fill(to + first, to + middle, Word{0});
        std::copy(from + middle, from + last, to + middle);
      } else {
        std::copy(from + first, from + middle, to + first);
        std::fill(to + middle, to + last, Word{0});
      }
    });
  }
};

template <bool kUpper>
struct TriangleKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const Shape& shape = k.out_spec().shape;
    // Beyond the matrix one diagonal is like another, and sums with rows fit.
    const int64_t rows = shape.dim(-2), columns = shape.dim(-1);
    const int64_t diagonal = std::clamp(k.attrs<TriangleAttrs>().diagonal, -rows, columns);
    return VisitWidth(k.out_spec().dtype, [&]<class Word>(TypeTag<Word>) {
      return on.ForEach(
          shape.num_elements(),
          TriangleBody<Word, kUpper>{static_cast<const Word*>(k.in<void>(0)),
                                     static_cast<Word*>(k.out<void>()), rows, columns, diagonal});
    });
  }
};

// Element `at` of each of x's vectors goes to row at + down and column at + right.
template <class Word>
struct DiagEmbedBody {
  const Word* x;
  Word* y;
  int64_t rows, columns, length, down, right;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t matrix = i;
    const int64_t column = TakeDigit(matrix, columns), row = TakeDigit(matrix, rows);
    const int64_t at = row - down;
    const bool on_diagonal = at >= 0 && at == column - right;
    y[i] = on_diagonal ? x[matrix * length + at] : Word{0};
  }
  void operator()(int64_t begin, int64_t end) const {
    std::fill(y + begin, y + end, Word{0});
    ForEachRowOf(begin, end, columns, [&](int64_t row, int64_t first, int64_t last) {
      const int64_t at = row % rows - down, column = at + right;
      if (at < 0 || column < first || column >= last) return;
      y[row * columns + column] = x[row / rows * length + at];
    });
  }
};

struct DiagEmbedKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const DiagEmbedAttrs& a = k.attrs<DiagEmbedAttrs>();
    // Beyond the matrix one empty diagonal is like another, and has a negative.
    const int64_t offset = std::clamp(a.offset, -a.rows, a.columns);
    return VisitWidth(k.out_spec().dtype, [&]<class Word>(TypeTag<Word>) {
      return on.ForEach(
          k.out_spec().num_elements(),
          DiagEmbedBody<Word>{static_cast<const Word*>(k.in<void>(0)),
                              static_cast<Word*>(k.out<void>()), a.rows, a.columns,
                              k.in_spec(0).shape.dim(-1), std::max<int64_t>(-offset, 0),
                              std::max<int64_t>(offset, 0)});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_DIAGONAL_BODY_H_

#ifndef FIRN_TENSOR_OPS_SHAPE_PAD_BODY_H_
#define FIRN_TENSOR_OPS_SHAPE_PAD_BODY_H_

// pad: each element of the result finds its source; elements move as words of their size. pad_grad:
// each element of dx adds up its copies.
//
// On the CPU the part of a row that is x itself is moved, or added, as a block.

#include <algorithm>
#include <cstring>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/convert_number.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/ops/shape/padding.h"

namespace firn {

// The dimensions of a padded tensor; `row` is the last of them. Neighbours that are not padded may
// be one.
struct PaddedRows {
  int outer = 0;
  PadDim dims[kMaxRank] = {}, row = {.size = 1};  // a scalar is a row of one

  explicit PaddedRows(const PadDims& d) {
    if (d.empty()) return;
    outer = static_cast<int>(d.size()) - 1;
    std::copy_n(d.begin(), outer, dims);
    row = d.back();
  }
};

template <class Word>
struct PadBody {
  PaddedRows rows;
  int64_t strides[kMaxRank] = {}, step;  // of x: `step` along the last dimension
  const Word* x;
  Word* y;
  Word value;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t r = i;
    const int64_t at = TakeDigit(r, rows.row.padded());
    y[i] = Value(RowOf(r), at);
  }
  void operator()(int64_t begin, int64_t end) const {
    const int64_t length = rows.row.padded();
    const int64_t height = rows.outer == 0 ? 1 : rows.dims[rows.outer - 1].padded();
    ForEachRowOf(begin, end, length * height, [&](int64_t p, int64_t first, int64_t last) {
      const Row plane = PlaneOf(p);
      Word* const to = y + p * length * height;
      for (int64_t at = first; at < last;) {
        const int64_t r = at / length, column = at - r * length;
        const int64_t whole = column == 0 ? (last - at) / length : 0;
        if (whole > 0) {
          FillRows(plane, r, r + whole, to);
          at += whole * length;
        } else {
          const int64_t until = std::min(length, column + (last - at));
          FillRow(RowIn(plane, r), column, until, to + r * length);
          at += until - column;
        }
      }
    });
  }

 private:
  struct Row {
    int64_t at = 0;  // in x
    bool constant = false;
  };
  FIRN_HOST_DEVICE void Enter(int d, int64_t at, Row* row) const {
    const int64_t source = rows.dims[d].Source(at);
    row->constant |= source < 0;
    row->at += source * strides[d];
  }
  FIRN_HOST_DEVICE Row RowOf(int64_t r) const {
    Row row;
    for (int d = rows.outer - 1; d >= 0; --d) Enter(d, TakeDigit(r, rows.dims[d].padded()), &row);
    return row;
  }
  // What rows have in common that differ in the last dimension before theirs.
  Row PlaneOf(int64_t p) const {
    Row row;
    for (int d = rows.outer - 2; d >= 0; --d) Enter(d, TakeDigit(p, rows.dims[d].padded()), &row);
    return row;
  }
  Row RowIn(Row plane, int64_t r) const {
    if (rows.outer > 0) Enter(rows.outer - 1, r, &plane);
    return plane;
  }
  // Elements [first, last) of a row of the result.
  void FillRow(const Row& row, int64_t first, int64_t last, Word* to) const {
    const PadDim& d = rows.row;
    if (row.constant) return std::fill(to + first, to + last, value);
    const int64_t from = std::clamp(d.left, first, last);  // the part that is x itself
    const int64_t until = std::clamp(d.left + d.size, from, last);
    for (int64_t i = first; i < from; ++i) to[i] = Value(row, i);
    const Word* const source = x + row.at + (from - d.left) * step;
    if (step == 1) {
      Move(source, until - from, to + from);
    } else {
      for (int64_t i = from; i < until; ++i) to[i] = source[(i - from) * step];
    }
    for (int64_t i = until; i < last; ++i) to[i] = Value(row, i);
  }
  // Rows [first, last) of a plane. They are often short, so their common numbers are computed once.
  void FillRows(const Row& plane, int64_t first, int64_t last, Word* to) const {
    const PadDim d = rows.row;
    const int64_t length = d.padded();
    const int64_t from = std::clamp<int64_t>(d.left, 0, length);
    const int64_t until = std::clamp(d.left + d.size, from, length), cut = from - d.left;
    const bool constant = d.mode == PadMode::kConstant;
    constexpr int64_t kFew = 16;
    const int64_t borders = from + (length - until);
    const bool plain = step == 1 && (constant || borders <= kFew);
    if (plain && constant && rows.outer > 0 && !plane.constant) {
      return FillAround(plane, first, last, from, until, to);
    }
    int64_t sources[kFew];  // of the borders' elements
    for (int64_t i = 0; !constant && plain && i < borders; ++i) {
      sources[i] = d.Source(i < from ? i : until + (i - from));
    }
    for (int64_t r = first; r < last; ++r) {
      const Row row = RowIn(plane, r);
      Word* const line = to + r * length;
      if (!plain || row.constant) {
        FillRow(row, 0, length, line);
        continue;
      }
      const Word* const source = x + row.at;
      Move(source + cut, until - from, line + from);
      if (constant) {  // of a scalar or a row alone
        Fill(value, from, line);
        Fill(value, length - until, line + until);
      } else {
        for (int64_t i = 0; i < from; ++i) line[i] = source[sources[i]];
        for (int64_t i = from; i < borders; ++i) line[until + (i - from)] = source[sources[i]];
      }
    }
  }
  // The same where only the constant is added, and columns [from, until) are x itself: what it
  // takes to find a row is longer than the row.
  void FillAround(const Row& plane, int64_t first, int64_t last, int64_t from, int64_t until,
                  Word* to) const {
    const PadDim down = rows.dims[rows.outer - 1];
    const int64_t length = rows.row.padded(), stride = strides[rows.outer - 1];
    const int64_t top = std::clamp(down.left, first, last);
    const int64_t bottom = std::clamp(down.left + down.size, top, last);
    const Word border = value;
    std::fill(to + first * length, to + top * length, border);
    const Word* source = x + plane.at + (top - down.left) * stride + from - rows.row.left;
    for (int64_t r = top; r < bottom; ++r, source += stride) {
      Word* const line = to + r * length;
      Fill(border, from, line);
      Move(source, until - from, line + from);
      Fill(border, length - until, line + until);
    }
    std::fill(to + bottom * length, to + last * length, border);
  }
  // Borders are often one element wide, for which a vector loop is long to start.
  static void Fill(Word v, int64_t n, Word* to) {
    if (n == 1) {
      *to = v;
    } else {
      std::fill(to, to + n, v);
    }
  }
  // Rows are often so short that a call would take longer than the move.
  static void Move(const Word* from, int64_t n, Word* to) {
    constexpr int64_t kPiece = 32 / static_cast<int64_t>(sizeof(Word));
    if (n > 16 * kPiece) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(Word));
      return;
    }
    if (n < kPiece) {
      for (int64_t i = 0; i < n; ++i) to[i] = from[i];
      return;
    }
    for (int64_t i = 0; i + kPiece < n; i += kPiece) std::memcpy(to + i, from + i, 32);
    std::memcpy(to + n - kPiece, from + n - kPiece, 32);  // may repeat some
  }
  FIRN_HOST_DEVICE Word Value(const Row& row, int64_t i) const {
    const int64_t source = rows.row.Source(i);
    return row.constant || source < 0 ? value : x[row.at + source * step];
  }
};

template <class T>
struct UnpadBody {
  using Acc = AccumulatorOf<T>;
  PaddedRows rows;
  const T* dy;
  T* dx;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t r = i;
    const int64_t at = TakeDigit(r, rows.row.size);
    const Row row = RowOf(r);
    const PadDim::Ranges along = rows.row.CopiesOf(at);
    Acc sum = 0;
    for (int64_t c = 0; c < row.count; ++c) {
      const T* const copy = dy + CopyOf(row, c);
      for (int64_t j = 0; j < along.count(); ++j) sum += static_cast<Acc>(copy[along[j]]);
    }
    dx[i] = static_cast<T>(sum);
  }

  // The places of the copies of a row.
  struct Row {
    PadDim::Ranges copies[kMaxRank];
    int64_t count = 1;
  };
  FIRN_HOST_DEVICE Row RowOf(int64_t r) const {
    Row row;
    for (int d = rows.outer - 1; d >= 0; --d) {
      row.copies[d] = rows.dims[d].CopiesOf(TakeDigit(r, rows.dims[d].size));
      row.count *= row.copies[d].count();
    }
    return row;
  }
  // The start of copy `which` of the row in dy.
  FIRN_HOST_DEVICE int64_t CopyOf(const Row& row, int64_t which) const {
    int64_t at = 0, stride = rows.row.padded();
    for (int d = rows.outer - 1; d >= 0; --d) {
      at += row.copies[d][TakeDigit(which, row.copies[d].count())] * stride;
      stride *= rows.dims[d].padded();
    }
    return at;
  }
};

struct PadKernel {
  static constexpr Takes kTakes = Takes::kStrided;

  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const TensorSpec& x = k.in_spec(0);
    const PadAttrs& a = k.attrs<PadAttrs>();
    FIRN_ASSIGN_OR_RETURN(const PadDims dims, ResolvePadding(x.shape, a));
    uint64_t bits = 0;  // of the constant
    VisitDType(x.dtype, [&]<class T>(TypeTag<T>) {
      const T value = ConvertNumber<T>(a.value);
      std::memcpy(&bits, &value, sizeof(T));
    });
    return VisitWidth(x.dtype, [&]<class Word>(TypeTag<Word>) {
      PadBody<Word> body = {.rows = PaddedRows(PadDims()),
                            .step = dims.empty() ? 1 : x.layout.strides[x.shape.rank() - 1],
                            .x = k.in<Word>(0),
                            .y = k.out<Word>(),
                            .value = static_cast<Word>(bits)};
      Merge(dims, x.layout.strides, &body);
      return on.ForEach(k.out_spec().num_elements(), body);
    });
  }

 private:
  // The body's dimensions: those of x, but that neighbours become one which are not padded, the row
  // aside, and can be walked as one.
  template <class Word>
  static void Merge(const PadDims& dims, const Dims& strides, PadBody<Word>* body) {
    if (dims.empty()) return;
    PadDims merged;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t stride = strides[static_cast<int>(i)];
      const auto plain = [](const PadDim& d) { return d.left == 0 && d.right == 0; };
      const size_t at = merged.size();
      if (at > 0 && i + 1 < dims.size() && plain(merged[at - 1]) && plain(dims[i]) &&
          body->strides[at - 1] == stride * dims[i].size) {
        merged[at - 1].size *= dims[i].size;
        body->strides[at - 1] = stride;
      } else {
        body->strides[at] = stride;
        merged.push_back(dims[i]);
      }
    }
    body->rows = PaddedRows(merged);
  }
};

// Body: UnpadBody, or what is made of one.
template <template <class> class Body>
struct PadGradKernelOf {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    FIRN_ASSIGN_OR_RETURN(const PadDims dims,
                          ResolveUnpadding(k.in_spec(0).shape, k.attrs<PadAttrs>()));
    return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      return on.ForEach(k.out_spec().num_elements(),
                        Body<T>{UnpadBody<T>{PaddedRows(dims), k.in<T>(0), k.out<T>()}});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_PAD_BODY_H_

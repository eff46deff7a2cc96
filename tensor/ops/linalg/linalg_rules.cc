// Shape rules and the algebra of gradients that operations on matrices share. Triangles are cut out
// by choosing between x and 0, not by multiplying with 0, so that elements beyond them may have any
// value.

#include "firn/tensor/ops/linalg/linalg_rules.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {

Matrices::Matrices(const Shape& s) : count(1), rows(s.dim(-2)), columns(s.dim(-1)) {
  for (int i = 0; i + 2 < s.rank(); ++i) count *= s[i];
}

Dims BatchDims(const Shape& s) {
  Dims d;
  for (int i = 0; i + 2 < s.rank(); ++i) d.push_back(s[i]);
  return d;
}

absl::StatusOr<Shape> ShapeOfMatrices(Dims batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return Shape::Make(batch.span());
}

bool IsVectors(const Shape& a, const Shape& b) {
  if (b.rank() == 1) return true;
  if (b.rank() != a.rank() - 1) return false;
  return std::equal(b.begin(), b.end(), a.begin());
}

absl::Status CheckSquare(const InferContext& c, int i, std::string_view name) {
  const Shape& s = c.shape(i);
  FIRN_RETURN_IF(s.dim(-2) != s.dim(-1),
                 InvalidArgument("the matrices of ", name, " must be square, got ", s.ToString()));
  return absl::OkStatus();
}

double RankTolerance(const TensorSpec& a) {
  const double epsilon = a.dtype == DType::kF32
                             ? static_cast<double>(std::numeric_limits<float>::epsilon())
                             : std::numeric_limits<double>::epsilon();
  return static_cast<double>(std::max(a.shape.dim(-1), a.shape.dim(-2))) * epsilon;
}

BroadcastBatch::BroadcastBatch(const Dims& own, const Dims& batch)
    : sizes_(batch), strides_(batch.rank, 0) {
  int64_t stride = 1;
  for (int i = own.rank - 1; i >= 0; --i) {
    if (own[i] != 1) strides_[batch.rank - own.rank + i] = stride;
    stride *= own[i];
  }
}

int64_t BroadcastBatch::At(int64_t i) const {
  int64_t at = 0;
  for (int d = sizes_.rank - 1; d >= 0; --d) {
    at += i % sizes_[d] * strides_[d];
    i /= sizes_[d];
  }
  return at;
}

std::string NameOfMatrix(std::string_view name, const Shape& s, int64_t i) {
  const Dims batch = BatchDims(s);
  if (batch.rank == 0) return absl::StrCat(std::string(name), " ", s.ToString());
  Dims index(batch.rank);
  for (int d = batch.rank - 1; d >= 0; --d) {
    index[d] = i % batch[d];
    i /= batch[d];
  }
  return absl::StrCat("matrix ", Shape::Trusted(index).ToString(), " of ", std::string(name), " ",
                      s.ToString());
}

namespace {

struct Places {
  explicit Places(const Tensor& x)
      : rows(Unsqueeze(Arange(int64_t{0}, x.shape().dim(-2), 1, {.device = x.device()}), 1)),
        columns(Arange(int64_t{0}, x.shape().dim(-1), 1, {.device = x.device()})) {}
  Tensor rows, columns;
};

}  // namespace

Tensor MatrixTranspose(const Tensor& x) { return Transpose(x, -2, -1); }

Tensor OnDiagonal(const Tensor& x) {
  const Places at(x);
  return Eq(at.rows, at.columns);
}

Tensor LowerTriangle(const Tensor& x, bool strict) {
  const Places at(x);
  return Where(strict ? Gt(at.rows, at.columns) : Ge(at.rows, at.columns), x, 0.0);
}

Tensor UpperTriangle(const Tensor& x, bool strict) {
  const Places at(x);
  return Where(strict ? Lt(at.rows, at.columns) : Le(at.rows, at.columns), x, 0.0);
}

Tensor HalfDiagonal(const Tensor& x) { return Where(OnDiagonal(x), Mul(x, 0.5), x); }

Tensor Symmetrized(const Tensor& x) { return Mul(Add(x, MatrixTranspose(x)), 0.5); }

Tensor AsMatrices(const Tensor& numbers) { return Unsqueeze(Unsqueeze(numbers, -1), -1); }

}  // namespace firn

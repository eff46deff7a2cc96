#ifndef FIRN_TENSOR_OPS_LINALG_LINALG_RULES_H_
#define FIRN_TENSOR_OPS_LINALG_LINALG_RULES_H_

// Parts shared by operations on batches of matrices: a matrix is the last two dimensions of a
// tensor.

#include <string>
#include <string_view>

#include "firn/tensor/op.h"

namespace firn {

// The dtypes that can be decomposed. Half types have too few digits for elimination, and PyTorch
// does not take them.
inline constexpr DTypeSet kDecomposed = SetOf(DType::kF32) | SetOf(DType::kF64);

// Like VisitDType. Requires: a dtype of kDecomposed.
template <class F>
absl::Status VisitDecomposed(DType d, F&& f) {
  return d == DType::kF32 ? f(TypeTag<float>()) : f(TypeTag<double>());
}

// The matrices of a tensor. Requires: rank >= 2.
struct Matrices {
  explicit Matrices(const Shape& s);
  int64_t count, rows, columns;
  int64_t size() const { return rows * columns; }
};

// All dimensions but the last two.
Dims BatchDims(const Shape& s);
// A batch of matrices of that size. Errors: too many elements.
absl::StatusOr<Shape> ShapeOfMatrices(Dims batch, int64_t rows, int64_t columns);
// Whether the right sides b of systems with matrices a are vectors: PyTorch's rule.
bool IsVectors(const Shape& a, const Shape& b);
// An error unless input i's matrices are square.
absl::Status CheckSquare(const InferContext& c, int i, std::string_view name = "a");

// The default tolerance: singular values up to this times the largest one count as 0.
double RankTolerance(const TensorSpec& a);

// The place of matrix i of a batch in a tensor whose own batch was broadcast to it.
class BroadcastBatch {
 public:
  BroadcastBatch(const Dims& own, const Dims& batch);
  int64_t At(int64_t i) const;

 private:
  Dims sizes_, strides_;
};

// "a" for a single matrix, else "matrix [1, 2] of a"; followed by the shape.
std::string NameOfMatrix(std::string_view name, const Shape& s, int64_t i);

// --- For gradient rules --------------------------------------------------------------------------

// The last two dimensions exchanged.
Tensor MatrixTranspose(const Tensor& x);
// True on the diagonal of x's matrices.
Tensor OnDiagonal(const Tensor& x);
// x with zeros above (below) the diagonal, or from it on where `strict`.
Tensor LowerTriangle(const Tensor& x, bool strict = false);
Tensor UpperTriangle(const Tensor& x, bool strict = false);
// x with its diagonal halved.
Tensor HalfDiagonal(const Tensor& x);
// (x + x^T) / 2
Tensor Symmetrized(const Tensor& x);
// Numbers [...] for matrices [..., 1, 1], to be multiplied with matrices.
Tensor AsMatrices(const Tensor& numbers);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINALG_LINALG_RULES_H_

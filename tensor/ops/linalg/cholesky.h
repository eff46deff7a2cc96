#ifndef FIRN_TENSOR_OPS_LINALG_CHOLESKY_H_
#define FIRN_TENSOR_OPS_LINALG_CHOLESKY_H_

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct CholeskyAttrs {
  bool upper = false;
  template <class V>
  void Visit(V& v) {
    v.Field("upper", upper);
  }
};
}  // namespace inner

// L with A = L L^T, or with `upper` its transpose, for symmetric positive definite matrices A, like
// torch.linalg.cholesky.
//   a: [..., n, n]      result: [..., n, n], zero in the other triangle
// f32 and f64. Only the lower triangle of a is read (with `upper` the upper one), and the gradient
// is symmetric, as if A were changed symmetrically. Throws where a is not square, and where a
// matrix is not positive definite: the error names it in the batch. On a CUDA device that comes
// with the next read, and the matrix's factor is NaN.
Tensor Cholesky(const Tensor& a, inner::Flag upper = false);

namespace inner {
struct SolveTriangularAttrs {
  bool upper = false;
  bool left = true;
  bool unit_diagonal = false;
  template <class V>
  void Visit(V& v) {
    v.Field("upper", upper);
    v.Field("left", left);
    v.Field("unit_diagonal", unit_diagonal);
  }
};
}  // namespace inner

struct SolveTriangularOptions {
  bool left = true;            // whether it solves A X = B; else X A = B
  bool unit_diagonal = false;  // A's diagonal is taken as ones and not read
};

// The X of A X = B with a triangular A, like torch.linalg.solve_triangular. Elements on the other
// side of the diagonal are not read.
//   a: [..., n, n]      b: [..., n, k], or [..., k, n] for X A = B      result: like b
// f32 and f64, both of one dtype; leading dimensions broadcast. Throws where sizes do not fit, and
// where an element on the diagonal is 0 (on a CUDA device with the next read): the error names the
// matrix.
Tensor SolveTriangular(const Tensor& a, const Tensor& b, inner::Flag upper,
                       const SolveTriangularOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINALG_CHOLESKY_H_

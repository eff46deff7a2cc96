#ifndef FIRN_TENSOR_OPS_LINALG_SOLVE_H_
#define FIRN_TENSOR_OPS_LINALG_SOLVE_H_

#include "firn/tensor/tensor.h"

namespace firn {

// Square systems by LU factors with partial pivoting. f32 and f64; matrices are the last two
// dimensions. On a CUDA device the error for singular matrices comes with the next read.

// The inverse matrices, like torch.linalg.inv.
//   a: [..., n, n]      result: [..., n, n]
// Throws where a is not square, and where a matrix is singular: the error names it in the batch.
Tensor Inv(const Tensor& a);

// The X of A X = B, like torch.linalg.solve.
//   a: [..., n, n]      b: [..., n, k]      result: [..., n, k]; leading dimensions broadcast
// b may be vectors: [n], or [..., n] with exactly a's leading dimensions. Throws where sizes do not
// fit, and where a matrix is singular: the error names it in the batch.
Tensor Solve(const Tensor& a, const Tensor& b);

// The determinants, like torch.linalg.det.
//   a: [..., n, n]      result: [...]
// The determinant of no elements is 1. Products of some pivots may leave the range of the dtype.
// The gradient is right for singular matrices too, and where rows or columns differ greatly in
// size; the gradient of the gradient needs an inverse and throws for singular ones. Throws where a
// is not square.
Tensor Det(const Tensor& a);

// The sign and the logarithm of a determinant.
struct SignAndLogAbsDet {
  Tensor sign, logabsdet;
};

// Sign (-1, 0 or 1) and logarithm of the absolute value (-inf for 0) of the determinants, which may
// be far beyond the range of the dtype, like torch.linalg.slogdet.
//   a: [..., n, n]      results: [...]
// The sign has no gradient. Throws where a is not square; the gradient throws for singular ones.
SignAndLogAbsDet Slogdet(const Tensor& a);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINALG_SOLVE_H_

#ifndef FIRN_TENSOR_OPS_LINALG_EIGH_H_
#define FIRN_TENSOR_OPS_LINALG_EIGH_H_

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct EighAttrs {
  bool upper = false;
  template <class V>
  void Visit(V& v) {
    v.Field("upper", upper);
  }
};
}  // namespace inner

struct EighResult {
  Tensor values, vectors;
};

// Eigenvalues, in ascending order, and orthonormal eigenvectors, as columns, of symmetric matrices:
// A V = V diag(values), like torch.linalg.eigh.
//   a: [..., n, n]      values: [..., n]      vectors: [..., n, n]
// f32 and f64. Only the lower triangle of a is read (with `upper` the upper one), and the gradient
// is symmetric, as if A were changed symmetrically; it is infinite or NaN through the vectors where
// eigenvalues are equal. The sign of a vector is arbitrary in theory: here its largest element is
// positive, the first one if several differ by less than one part in 4096. Throws where a is not
// square, and where a matrix has elements that are not finite: the error names it in the batch, on
// a CUDA device with the next read from there.
EighResult Eigh(const Tensor& a, inner::Flag upper = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINALG_EIGH_H_

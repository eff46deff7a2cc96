#ifndef FIRN_TENSOR_OPS_LINALG_SVD_H_
#define FIRN_TENSOR_OPS_LINALG_SVD_H_

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct SvdAttrs {
  bool full_matrices = false;
  template <class V>
  void Visit(V& v) {
    v.Field("full_matrices", full_matrices);
  }
};
}  // namespace inner

struct SvdResult {
  Tensor u, s, vh;
};

// A = U diag(s) Vh with orthonormal columns in U and rows in Vh, and singular values s in
// descending order, like torch.linalg.svd (but reduced by default, like NNabla's).
//   a: [..., m, n]      u: [..., m, k]      s: [..., k]      vh: [..., k, n]      k = min(m, n)
// With `full_matrices` u is [..., m, m] and vh [..., n, n]. f32 and f64. Signs are arbitrary in
// theory: here the largest element of each column of U is positive, the first one if several differ
// by less than one part in 4096. The gradient through U and Vh is infinite or NaN where singular
// values are equal or 0, and no gradient passes through the vectors that full_matrices adds,
// because they are arbitrary. Throws where a matrix has elements that are not finite: the error
// names it in the batch, on a CUDA device with the next read from there. Small singular values have
// all their digits only on the CPU.
SvdResult Svd(const Tensor& a, inner::Flag full_matrices = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINALG_SVD_H_

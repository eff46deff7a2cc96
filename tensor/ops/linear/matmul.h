#ifndef FIRN_TENSOR_OPS_LINEAR_MATMUL_H_
#define FIRN_TENSOR_OPS_LINEAR_MATMUL_H_

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct MatmulAttrs {
  bool transpose_a = false, transpose_b = false;
  template <class V>
  void Visit(V& v) {
    v.Field("transpose_a", transpose_a);
    v.Field("transpose_b", transpose_b);
  }
};
}  // namespace inner

// The matrix product of two tensors of one numeric dtype, like torch.matmul:
//   [k] x [k] -> []                    the dot product
//   [n, k] x [k] -> [n], [k] x [k, m] -> [m]
//   [..., n, k] x [..., k, m] -> [..., n, m]    the leading dimensions broadcast
// An operand that is a view (a transposition, a slice) is multiplied without a copy where one of
// its last two strides is 1. `transpose_a` and `transpose_b` exchange the last two dimensions of an
// operand first: the same as a.T() and b.T(), but with one operation less to record. Half types
// accumulate in float, integers wrap around.
// Throws on scalars, different dtypes, bool, inner sizes that differ, batches that do not broadcast
// and on a transposed vector.
Tensor Matmul(const Tensor& a, const Tensor& b, inner::Flag transpose_a = false,
              inner::Flag transpose_b = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_MATMUL_H_

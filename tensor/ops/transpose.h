#ifndef FIRN_TENSOR_OPS_TRANSPOSE_H_
#define FIRN_TENSOR_OPS_TRANSPOSE_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct TransposeAttrs {
  int64_t dim0 = -2;
  int64_t dim1 = -1;
  template <class V>
  void Visit(V& v) {
    v.Field("dim0", dim0);
    v.Field("dim1", dim1);
  }
};
}  // namespace inner

// A view of x with two dimensions swapped (NumPy's swapaxes); see Permute for any order. Throws
// when a dim is out of range.
Tensor Transpose(const Tensor& x, int dim0, int dim1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_TRANSPOSE_H_

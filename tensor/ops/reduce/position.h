#ifndef FIRN_TENSOR_OPS_REDUCE_POSITION_H_
#define FIRN_TENSOR_OPS_REDUCE_POSITION_H_

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
// The attributes of argmax and argmin: one dimension, or all as one (`flatten`; then `dim` means
// nothing).
struct ArgReduceAttrs {
  int64_t dim = 0;
  bool flatten = true;
  bool keepdim = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("flatten", flatten);
    v.Field("keepdim", keepdim);
  }
};
}  // namespace inner

// The index (i64) of the first largest element; NaN counts as larger than any number. Without a
// dimension, the index into the row-major elements. Any dtype. Throws when there are no elements to
// choose from. Not differentiable.
Tensor Argmax(const Tensor& x);
Tensor Argmax(const Tensor& x, inner::Integer dim, inner::Flag keepdim = false);

// The index (i64) of the first smallest element; NaN counts as smaller than any number. Without a
// dimension, the index into the row-major elements. Any dtype. Throws when there are no elements to
// choose from. Not differentiable.
Tensor Argmin(const Tensor& x);
Tensor Argmin(const Tensor& x, inner::Integer dim, inner::Flag keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_POSITION_H_

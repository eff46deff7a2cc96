#ifndef FIRN_TENSOR_OPS_FLATTEN_H_
#define FIRN_TENSOR_OPS_FLATTEN_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct FlattenAttrs {
  int64_t start_dim = 0;
  int64_t end_dim = -1;
  template <class V>
  void Visit(V& v) {
    v.Field("start_dim", start_dim);
    v.Field("end_dim", end_dim);
  }
};
}  // namespace inner

// Dimensions start_dim to end_dim (included; negative counts from the end) joined into one; a 0-d x
// becomes 1-d. A view when x's strides allow, else a copy. Throws when a dim is out of range or
// start_dim lies behind end_dim.
Tensor Flatten(const Tensor& x, int start_dim = 0, int end_dim = -1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_FLATTEN_H_

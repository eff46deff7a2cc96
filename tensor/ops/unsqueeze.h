#ifndef FIRN_TENSOR_OPS_UNSQUEEZE_H_
#define FIRN_TENSOR_OPS_UNSQUEEZE_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
// One dimension as an attribute.
struct DimAttrs {
  int64_t dim = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
  }
};
}  // namespace inner

// A view of x with a dimension of size 1 inserted, so that it becomes number `dim` of the result.
// -rank - 1 <= dim <= rank; throws otherwise.
Tensor Unsqueeze(const Tensor& x, int dim);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_UNSQUEEZE_H_

#ifndef FIRN_TENSOR_OPS_SELECT_H_
#define FIRN_TENSOR_OPS_SELECT_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct SelectAttrs {
  int64_t dim = 0;
  int64_t index = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("index", index);
  }
};
}  // namespace inner

// A view of x at one position of `dim`, which is dropped. Negative dims and indices count from the
// end. Throws when either is out of range.
Tensor Select(const Tensor& x, int dim, int64_t index);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SELECT_H_

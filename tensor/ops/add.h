#ifndef FIRN_TENSOR_OPS_ADD_H_
#define FIRN_TENSOR_OPS_ADD_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct AddAttrs {
  double alpha = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
  }
};
}  // namespace inner

// x + alpha * y, broadcast; dtypes promote as PyTorch's. For bool, alpha 1 is logical or.
Tensor Add(const Tensor& x, const Tensor& y, double alpha = 1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ADD_H_

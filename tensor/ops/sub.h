#ifndef FIRN_TENSOR_OPS_SUB_H_
#define FIRN_TENSOR_OPS_SUB_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct SubAttrs {
  double alpha = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
  }
};
}  // namespace inner

// x - alpha * y, broadcast; dtypes promote as PyTorch's. Integers wrap around and want a whole
// alpha; bool is refused (see LogicalXor). Operator `-`.
Tensor Sub(const Tensor& x, const Tensor& y, double alpha = 1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SUB_H_

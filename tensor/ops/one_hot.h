#ifndef FIRN_TENSOR_OPS_ONE_HOT_H_
#define FIRN_TENSOR_OPS_ONE_HOT_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct OneHotAttrs {
  int64_t num_classes = 0;
  DType dtype = DType::kI64;
  template <class V>
  void Visit(V& v) {
    v.Field("num_classes", num_classes);
    v.Field("dtype", dtype);
  }
};
}  // namespace inner

// indices [...] -> [..., num_classes]: 1 at the index along the last dimension, 0 elsewhere.
// num_classes -1 takes the largest index + 1, which reads the indices on the host: it waits for a
// CUDA device, and is an error during capture. Throws on an index outside [0, num_classes).
Tensor OneHot(const Tensor& indices, int64_t num_classes = -1, DType dtype = DType::kI64);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ONE_HOT_H_

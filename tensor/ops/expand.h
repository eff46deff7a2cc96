#ifndef FIRN_TENSOR_OPS_EXPAND_H_
#define FIRN_TENSOR_OPS_EXPAND_H_

#include "tensor/tensor.h"

namespace firn {

// A target shape as an attribute.
struct ShapeAttrs {
  Dims shape;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
  }
};

// A view of x with dimensions of size 1 (and missing leading ones) repeated without copying. Throws
// when x does not broadcast to `shape`.
Tensor Expand(const Tensor& x, const Shape& shape);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_EXPAND_H_

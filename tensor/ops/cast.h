#ifndef FIRN_TENSOR_OPS_CAST_H_
#define FIRN_TENSOR_OPS_CAST_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct CastAttrs {
  DType dtype = kDefaultFloat;
  template <class V>
  void Visit(V& v) {
    v.Field("dtype", dtype);
  }
};
}  // namespace inner

// The elements converted to `dtype`; x itself when it has it. Floats outside an integer's range
// saturate, NaN becomes 0, anything but zero is true. The gradient is cast back; none passes
// integers.
Tensor Cast(const Tensor& x, DType dtype);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CAST_H_

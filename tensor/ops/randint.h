#ifndef FIRN_TENSOR_OPS_RANDINT_H_
#define FIRN_TENSOR_OPS_RANDINT_H_

#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct RandintAttrs {
  Dims shape;
  int64_t low = 0, high = 1;
  DType dtype = DType::kI64;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
    v.Field("low", low);
    v.Field("high", high);
    v.Field("dtype", dtype);
  }
};
}  // namespace inner

// Integers uniform on [low, high), of any dtype but bool. Throws unless low < high and the dtype
// holds both ends.
Tensor Randint(int64_t low, int64_t high, const Shape& shape, DType dtype = DType::kI64,
               const RandomOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDINT_H_

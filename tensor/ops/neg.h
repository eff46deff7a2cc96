#ifndef FIRN_TENSOR_OPS_NEG_H_
#define FIRN_TENSOR_OPS_NEG_H_

#include "tensor/tensor.h"

namespace firn {

// -x. Integers wrap around (the smallest one is its own negative); bool is refused.
Tensor Neg(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NEG_H_

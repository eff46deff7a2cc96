#ifndef FIRN_TENSOR_OPS_DETACH_H_
#define FIRN_TENSOR_OPS_DETACH_H_

#include "tensor/tensor.h"

namespace firn {

// x's elements (shared, not copied) without history: no gradient flows back through the result.
inline Tensor Detach(const Tensor& x) { return x.Detach(); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_DETACH_H_

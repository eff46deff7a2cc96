#ifndef FIRN_TENSOR_OPS_STACK_H_
#define FIRN_TENSOR_OPS_STACK_H_

#include <vector>

#include "tensor/tensor.h"

namespace firn {

// The tensors side by side along a new dimension `dim` of the result. dtypes promote. Throws on an
// empty list or shapes that differ.
Tensor Stack(const std::vector<Tensor>& tensors, int dim = 0);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_STACK_H_

#ifndef FIRN_TENSOR_OPS_MASKED_SELECT_H_
#define FIRN_TENSOR_OPS_MASKED_SELECT_H_

#include "tensor/tensor.h"

namespace firn {

// The elements of x where `mask` (bool) is true, as a 1-D tensor in row-major order; x and mask
// broadcast together. Its size depends on the mask's values, which are read on the host: an error
// during capture.
Tensor MaskedSelect(const Tensor& x, const Tensor& mask);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MASKED_SELECT_H_

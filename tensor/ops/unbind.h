#ifndef FIRN_TENSOR_OPS_UNBIND_H_
#define FIRN_TENSOR_OPS_UNBIND_H_

#include <vector>

#include "tensor/tensor.h"

namespace firn {

// Views of x at every position of `dim`, which is dropped: the inverse of Stack. Throws when dim is
// out of range.
std::vector<Tensor> Unbind(const Tensor& x, int dim = 0);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_UNBIND_H_

#ifndef FIRN_TENSOR_OPS_LINEAR_EINSUM_H_
#define FIRN_TENSOR_OPS_LINEAR_EINSUM_H_

#include <string>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

// Sums of products by the Einstein convention, like torch.einsum: Einsum("bij,bjk->bik", {a, b}) is
// the product of stacks of matrices. Each tensor's dimensions are named by a letter; dimensions
// with the same name have the same size (or 1, which broadcasts); names that the result does not
// have are summed over. A name twice on one tensor takes its diagonal. "..." stands for the other
// leading dimensions and broadcasts. Without "->" the result has the names that occur once, in
// alphabetical order, after those of "...". Tensors of one numeric dtype are contracted in pairs,
// in the order that takes the fewest multiplications (for more than ten tensors by always taking
// the cheapest pair). Throws on an equation that does not fit the tensors.
Tensor Einsum(const std::string& equation, const std::vector<Tensor>& tensors);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_EINSUM_H_

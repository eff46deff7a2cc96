#ifndef FIRN_TENSOR_OPS_LINEAR_EINSUM_H_
#define FIRN_TENSOR_OPS_LINEAR_EINSUM_H_

#include <string>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

// Sums of products by the Einstein convention, as torch.einsum: Einsum("bij,bjk->bik", {a, b}) is
// the product of stacks of matrices. Each tensor's dimensions are named by a letter; dimensions of
// one name have one size (or 1, which broadcasts); a name that the result does not have is summed
// over. A name twice on one tensor takes its diagonal. "..." stands for the other leading
// dimensions and broadcasts. Without "->" the result has the names that occur once, in alphabetical
// order, after those of "...". Tensors of one numeric dtype are contracted in pairs, in the order
// that takes the fewest multiplications (for more than ten tensors by always taking the cheapest
// pair). Throws on an equation that does not fit the tensors.
Tensor Einsum(const std::string& equation, const std::vector<Tensor>& tensors);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_EINSUM_H_

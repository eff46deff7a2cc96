#ifndef FIRN_TENSOR_OPS_INDEX_INDEX_ARRAYS_H_
#define FIRN_TENSOR_OPS_INDEX_INDEX_ARRAYS_H_

// Index tensors from what users give, for index, index_put and index_write.

#include <string_view>
#include <vector>

#include "firn/tensor/dim_list.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/advanced_index.h"

namespace firn {

namespace inner {
// Converts a user's indices to the index tensors that the operations take: one entry for each
// leading dimension of x, undefined for a whole dimension; a bool tensor stands for as many
// dimensions as it has and means the indices at which it is true. Throws in the name of `op`.
struct IndexArrays {
  DimList dims;
  std::vector<Tensor> arrays;
};
}  // namespace inner

// An error unless a mask of this shape fits dimensions `dim` and following of x.
absl::Status CheckMask(const Shape& x, int dim, const Shape& mask);
// Adds `t` as the index of dimension `dim` (a bool tensor: of dim and the following ones) of a
// tensor of shape x, and returns how many dimensions it stands for.
int AppendIndex(const Shape& x, int dim, const Tensor& t, std::string_view op, IndexArrays* to);
IndexArrays ResolveIndices(const Tensor& x, const std::vector<Tensor>& indices,
                           std::string_view op);

// The inputs of index_put and index_write: x, values (converted, and broadcast to the shape of what
// they replace), index tensors. A number is an operand where values are added.
std::vector<Tensor> WriteInputs(const Tensor& x, const IndexArrays& indices, const Tensor& values,
                                std::string_view op, bool added = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_INDEX_ARRAYS_H_

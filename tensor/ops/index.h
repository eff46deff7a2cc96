#ifndef FIRN_TENSOR_OPS_INDEX_H_
#define FIRN_TENSOR_OPS_INDEX_H_

#include <vector>

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct IndexArrays;

struct IndexAttrs {
  std::vector<int64_t> dims;  // of x, one for each index tensor, ascending
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
  }
};
}  // namespace inner

// NumPy's advanced indexing; x[{...}] (tensor/index.h) is the convenient form. `indices` has an
// entry for each leading dimension of x:
//   undefined          the whole dimension
//   i32 or i64 tensor  these positions of it; negative ones count from the end
//   bool tensor        where it is true; stands for as many dimensions as it has, of equal sizes
// All index tensors broadcast to one shape, which replaces the indexed dimensions if they are
// neighbours, else comes first. A copy. A bool tensor is read on the host: an error during capture.
// Throws on an index outside its dimension.
Tensor Index(const Tensor& x, const std::vector<Tensor>& indices);
Tensor Index(const Tensor& x, const inner::IndexArrays& indices);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_H_

#ifndef FIRN_TENSOR_OPS_SHAPE_JOIN_H_
#define FIRN_TENSOR_OPS_SHAPE_JOIN_H_

#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct ConcatAttrs {
  int64_t dim = 0;
  std::vector<int64_t> sizes;  // of every tensor along dim
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("sizes", sizes);
  }
};
}  // namespace inner

// The tensors one behind the other along `dim`; their other sizes agree. dtypes promote. Throws on
// an empty list or sizes that differ.
Tensor Concat(const std::vector<Tensor>& tensors, inner::Integer dim = 0);

// The tensors side by side along a new dimension `dim` of the result. dtypes promote. Throws on an
// empty list or shapes that differ.
Tensor Stack(const std::vector<Tensor>& tensors, inner::Integer dim = 0);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_JOIN_H_

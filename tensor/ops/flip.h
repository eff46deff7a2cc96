#ifndef FIRN_TENSOR_OPS_FLIP_H_
#define FIRN_TENSOR_OPS_FLIP_H_

#include <vector>

#include "tensor/tensor.h"

namespace firn {

struct FlipAttrs {
  std::vector<int64_t> dims;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
  }
};

// A copy of x with the order of elements along `dims` reversed. No dims: an unchanged copy. Throws
// when a dim is out of range or named twice.
Tensor Flip(const Tensor& x, std::vector<int64_t> dims);
inline Tensor Flip(const Tensor& x, int dim) { return Flip(x, std::vector<int64_t>{dim}); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_FLIP_H_

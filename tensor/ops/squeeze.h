#ifndef FIRN_TENSOR_OPS_SQUEEZE_H_
#define FIRN_TENSOR_OPS_SQUEEZE_H_

#include <vector>

#include "tensor/tensor.h"

namespace firn {

struct SqueezeAttrs {
  std::vector<int64_t> dims;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
  }
};

// A view of x without those of `dims` (empty: all) whose size is 1; the others are left alone.
// Throws when a dim is out of range or named twice.
Tensor Squeeze(const Tensor& x, std::vector<int64_t> dims = {});
inline Tensor Squeeze(const Tensor& x, int dim) { return Squeeze(x, std::vector<int64_t>{dim}); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SQUEEZE_H_

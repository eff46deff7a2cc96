#ifndef FIRN_TENSOR_OPS_SQUEEZE_H_
#define FIRN_TENSOR_OPS_SQUEEZE_H_

#include "tensor/dim_list.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct SqueezeAttrs {
  DimList dims;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
  }
};
}  // namespace inner

// A view of x without those of `dims` (empty: all) whose size is 1; the others are left alone.
// Throws when a dim is out of range or named twice.
Tensor Squeeze(const Tensor& x, const DimList& dims = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SQUEEZE_H_

#ifndef FIRN_TENSOR_OPS_FLIP_H_
#define FIRN_TENSOR_OPS_FLIP_H_

#include "tensor/dim_list.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct FlipAttrs {
  DimList dims;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
  }
};
}  // namespace inner

// A copy of x with the order of elements along `dims` reversed. No dims: an unchanged copy. Throws
// when a dim is out of range or named twice.
Tensor Flip(const Tensor& x, const DimList& dims);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_FLIP_H_

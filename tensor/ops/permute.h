#ifndef FIRN_TENSOR_OPS_PERMUTE_H_
#define FIRN_TENSOR_OPS_PERMUTE_H_

#include "tensor/dim_list.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct PermuteAttrs {
  DimList dims;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
  }
};
}  // namespace inner

// A view whose dimension i is x's dimension dims[i]. `dims` names every dimension once (negative
// counts from the end); throws otherwise.
Tensor Permute(const Tensor& x, const DimList& dims);

// A view with x's dimension source[i] at place destination[i]; the others keep their order. Throws
// when the lists differ in length, or name a dimension twice or out of range.
Tensor Movedim(const Tensor& x, const DimList& source, const DimList& destination);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_PERMUTE_H_

#ifndef FIRN_TENSOR_OPS_SHAPE_PERMUTE_H_
#define FIRN_TENSOR_OPS_SHAPE_PERMUTE_H_

#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

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

namespace inner {
struct TransposeAttrs {
  int64_t dim0 = -2;
  int64_t dim1 = -1;
  template <class V>
  void Visit(V& v) {
    v.Field("dim0", dim0);
    v.Field("dim1", dim1);
  }
};
}  // namespace inner

// A view of x with two dimensions swapped (NumPy's swapaxes); see Permute for any order. Throws
// when a dim is out of range.
Tensor Transpose(const Tensor& x, inner::Integer dim0, inner::Integer dim1);

// Transpose under NumPy's name.
inline Tensor Swapaxes(const Tensor& x, inner::Integer axis0, inner::Integer axis1) {
  return Transpose(x, axis0, axis1);
}

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

#endif  // FIRN_TENSOR_OPS_SHAPE_PERMUTE_H_

#ifndef FIRN_TENSOR_OPS_SHAPE_VIEWS_H_
#define FIRN_TENSOR_OPS_SHAPE_VIEWS_H_

#include <initializer_list>
#include <vector>

#include "absl/types/span.h"
#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The same elements in another shape; one size may be -1. A view when x's strides allow, else a
// copy. Throws when the numbers of elements differ.
Tensor Reshape(const Tensor& x, absl::Span<const int64_t> shape);
inline Tensor Reshape(const Tensor& x, const Shape& shape) { return Reshape(x, shape.span()); }
inline Tensor Reshape(const Tensor& x, std::initializer_list<int64_t> shape) {
  return Reshape(x, absl::Span<const int64_t>(shape.begin(), shape.size()));
}
// Like Reshape, but throws where a copy would be needed.
Tensor View(const Tensor& x, const Shape& shape);

namespace inner {
struct FlattenAttrs {
  int64_t start_dim = 0;
  int64_t end_dim = -1;
  template <class V>
  void Visit(V& v) {
    v.Field("start_dim", start_dim);
    v.Field("end_dim", end_dim);
  }
};
}  // namespace inner

// Dimensions start_dim to end_dim (included; negative counts from the end) joined into one; a 0-d x
// becomes 1-d. A view when x's strides allow, else a copy. Throws when a dim is out of range or
// start_dim lies behind end_dim.
Tensor Flatten(const Tensor& x, inner::Integer start_dim = 0, inner::Integer end_dim = -1);

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

// A view of x with a dimension of size 1 inserted, so that it becomes number `dim` of the result.
// -rank - 1 <= dim <= rank; throws otherwise.
Tensor Unsqueeze(const Tensor& x, inner::Integer dim);

// Dimension `dim` of x split into dimensions of these sizes, one of which may be -1. A view when
// x's strides allow, else a copy. Throws when dim is out of range or the sizes do not make up its
// size.
Tensor Unflatten(const Tensor& x, inner::Integer dim, const std::vector<int64_t>& sizes);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_VIEWS_H_

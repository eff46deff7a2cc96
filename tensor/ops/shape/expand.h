#ifndef FIRN_TENSOR_OPS_SHAPE_EXPAND_H_
#define FIRN_TENSOR_OPS_SHAPE_EXPAND_H_

#include <initializer_list>
#include <vector>

#include "absl/types/span.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
// A target shape as an attribute.
struct ShapeAttrs {
  Dims shape;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
  }
};
}  // namespace inner

// A view of x with dimensions of size 1 (and missing leading ones) repeated without copying; -1
// keeps the size that x has there. Throws when x does not broadcast to `shape`, and on a -1 where x
// has no dimension.
Tensor Expand(const Tensor& x, absl::Span<const int64_t> shape);
inline Tensor Expand(const Tensor& x, const Shape& shape) { return Expand(x, shape.span()); }
inline Tensor Expand(const Tensor& x, std::initializer_list<int64_t> shape) {
  return Expand(x, absl::Span<const int64_t>(shape.begin(), shape.size()));
}

// x repeated repeats[i] times along dimension i. The shorter of x's shape and `repeats` is filled
// up with ones in front (NumPy's rule). Throws on a negative number.
Tensor Tile(const Tensor& x, const std::vector<int64_t>& repeats);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_EXPAND_H_

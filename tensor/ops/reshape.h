#ifndef FIRN_TENSOR_OPS_RESHAPE_H_
#define FIRN_TENSOR_OPS_RESHAPE_H_

#include <initializer_list>

#include "absl/types/span.h"
#include "tensor/tensor.h"

namespace firn {

// The same elements in another shape; one size may be -1. A view when x's strides allow, else a
// copy. Throws when the numbers of elements differ.
Tensor Reshape(const Tensor& x, absl::Span<const int64_t> shape);
inline Tensor Reshape(const Tensor& x, const Shape& shape) { return Reshape(x, shape.span()); }
inline Tensor Reshape(const Tensor& x, std::initializer_list<int64_t> shape) {
  return Reshape(x, absl::Span<const int64_t>(shape.begin(), shape.size()));
}
// As Reshape, but throws where a copy would be needed.
Tensor View(const Tensor& x, const Shape& shape);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RESHAPE_H_

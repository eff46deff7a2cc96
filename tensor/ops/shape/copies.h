#ifndef FIRN_TENSOR_OPS_SHAPE_COPIES_H_
#define FIRN_TENSOR_OPS_SHAPE_COPIES_H_

#include "firn/tensor/tensor.h"

namespace firn {

// Always a copy, row-major (or blocked, if x is).
Tensor Clone(const Tensor& x);

// x with its elements row-major without gaps; x itself when they are.
Tensor Contiguous(const Tensor& x);

// A second name for x's elements, recorded as an operation.
Tensor Identity(const Tensor& x);

// x's elements (shared, not copied) without history: no gradient flows back through the result.
inline Tensor Detach(const Tensor& x) { return x.Detach(); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_COPIES_H_

#ifndef FIRN_TENSOR_OPS_LINEAR_PRODUCTS_H_
#define FIRN_TENSOR_OPS_LINEAR_PRODUCTS_H_

// Products of vectors and matrices that are not sums over a dimension.

#include "firn/tensor/tensor.h"

namespace firn {

// The Kronecker product: every element of x times all of y, in x's order. Sizes multiply; the
// tensor of fewer dimensions gets leading ones. Dtypes promote as PyTorch's. Throws on more than 4
// dimensions.
Tensor Kron(const Tensor& x, const Tensor& y);

// The cross product of vectors of three elements along `dim`, broadcast (torch.linalg.cross).
// Dtypes promote as PyTorch's. Throws unless both have size 3 there.
Tensor Cross(const Tensor& x, const Tensor& y, inner::Integer dim = -1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_PRODUCTS_H_

#ifndef FIRN_TENSOR_OPS_LINEAR_TENSORDOT_H_
#define FIRN_TENSOR_OPS_LINEAR_TENSORDOT_H_

#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Sums of products over dimensions of a and b that are named in pairs, like torch.tensordot: the
// result has the other dimensions of a, then those of b. Negative dims count from the end. Numeric
// tensors of one dtype. Throws where the lists differ in length or name a dimension twice, and
// where sizes differ.
Tensor Tensordot(const Tensor& a, const Tensor& b, const DimList& dims_a, const DimList& dims_b);
// Over the last `dims` dimensions of a and the first ones of b, in order.
Tensor Tensordot(const Tensor& a, const Tensor& b, inner::Integer dims = 2);

// y[o] = sum over i and j of x1[i] weight[o, i, j] x2[j], plus bias[o], like
// torch.nn.functional.bilinear.
//   x1: [..., in1]      x2: [..., in2]      weight: [out, in1, in2]      bias: [out], or undefined
//   result: [..., out]; the leading dimensions of x1 and x2 are the same
// Floating tensors of one dtype. Throws where sizes or dtypes do not fit.
Tensor Bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_TENSORDOT_H_

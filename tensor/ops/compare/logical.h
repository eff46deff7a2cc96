#ifndef FIRN_TENSOR_OPS_COMPARE_LOGICAL_H_
#define FIRN_TENSOR_OPS_COMPARE_LOGICAL_H_

#include "firn/tensor/tensor.h"

namespace firn {

// Whether x and y are both not 0, broadcast. Any dtype; the result is bool. NaN is not 0.
Tensor LogicalAnd(const Tensor& x, const Tensor& y);

// Whether x or y is not 0, broadcast. Any dtype; the result is bool. NaN is not 0.
Tensor LogicalOr(const Tensor& x, const Tensor& y);

// Whether just one of x and y is not 0, broadcast. Any dtype; the result is bool. NaN is not 0.
Tensor LogicalXor(const Tensor& x, const Tensor& y);

// True where x is 0 or false. Any dtype; the result is bool. Operator `!`.
Tensor LogicalNot(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COMPARE_LOGICAL_H_

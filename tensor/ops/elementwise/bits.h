#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_BITS_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_BITS_H_

// The bits of integers. Floats are refused; dtypes promote as PyTorch's, and there is no gradient.

#include "firn/tensor/tensor.h"

namespace firn {

// Every bit inverted; bool: true where x is false. Operator `~`.
Tensor BitwiseNot(const Tensor& x);

// The bits that are set in both, broadcast; bool: true where both are. Operator `&`.
Tensor BitwiseAnd(const Tensor& x, const Tensor& y);

// The bits that are set in either, broadcast; bool: true where one is. Operator `|`.
Tensor BitwiseOr(const Tensor& x, const Tensor& y);

// The bits that are set in just one, broadcast; bool: true where they differ. Operator `^`.
Tensor BitwiseXor(const Tensor& x, const Tensor& y);

// x with its bits moved up by y places, broadcast: x * 2^y, modulo 2^bits. 0 where y is negative or
// not below the number of bits. Bool is refused. Operator `<<`.
Tensor BitwiseLeftShift(const Tensor& x, const Tensor& y);

// x with its bits moved down by y places, broadcast: floor(x / 2^y). 0, or -1 for negative x, where
// y is negative or not below the number of bits. Bool is refused. Operator `>>`.
Tensor BitwiseRightShift(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_BITS_H_

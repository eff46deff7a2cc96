#ifndef FIRN_TENSOR_OPS_COMPARE_COMPARE_H_
#define FIRN_TENSOR_OPS_COMPARE_COMPARE_H_

#include "firn/tensor/tensor.h"

namespace firn {

// True where x equals y, broadcast, in their promoted dtype; an integer number that an integer
// tensor's dtype cannot hold is compared exactly. NaN equals nothing. Tensor::Equals compares whole
// tensors. Operator `==`.
Tensor Eq(const Tensor& x, const Tensor& y);

// True where x differs from y, broadcast, in their promoted dtype; an integer number that an
// integer tensor's dtype cannot hold is compared exactly. NaN differs from everything. Operator
// `!=`.
Tensor Ne(const Tensor& x, const Tensor& y);

// True where x is below y, broadcast, in their promoted dtype; an integer number that an integer
// tensor's dtype cannot hold is compared exactly. False where either is NaN. Operator `<`.
Tensor Lt(const Tensor& x, const Tensor& y);

// True where x is at most y, broadcast, in their promoted dtype; an integer number that an integer
// tensor's dtype cannot hold is compared exactly. False where either is NaN. Operator `<=`.
Tensor Le(const Tensor& x, const Tensor& y);

// True where x is above y, broadcast, in their promoted dtype; an integer number that an integer
// tensor's dtype cannot hold is compared exactly. False where either is NaN. Operator `>`.
Tensor Gt(const Tensor& x, const Tensor& y);

// True where x is at least y, broadcast, in their promoted dtype; an integer number that an integer
// tensor's dtype cannot hold is compared exactly. False where either is NaN. Operator `>=`.
Tensor Ge(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COMPARE_COMPARE_H_

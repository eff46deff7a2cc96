#ifndef FIRN_TENSOR_OPS_CREATE_CONSTANT_H_
#define FIRN_TENSOR_OPS_CREATE_CONSTANT_H_

#include "firn/tensor/number.h"
#include "firn/tensor/problems/full_attrs.h"
#include "firn/tensor/tensor.h"

namespace firn {

// A tensor of one value everywhere. Integer dtypes take the value truncated towards zero; integers
// are exact. Throws on NaN and on values outside of an integer dtype's range, like all functions
// that write a number unchanged; bool takes any value.
Tensor Full(const Shape& shape, inner::Element value, DType dtype = kDefaultFloat,
            Device device = {});
Tensor Zeros(const Shape& shape, DType dtype = kDefaultFloat, Device device = {});
Tensor Ones(const Shape& shape, DType dtype = kDefaultFloat, Device device = {});
// Like x in shape, dtype and device.
Tensor FullLike(const Tensor& x, inner::Element value);
Tensor ZerosLike(const Tensor& x);
Tensor OnesLike(const Tensor& x);
// Uninitialised. A plain factory, not an operation.
Tensor Empty(const Shape& shape, DType dtype = kDefaultFloat, Device device = {});

// An n x m matrix (m absent: n x n) of ones on a diagonal and zeros elsewhere. `offset` moves the
// diagonal to the right, a negative one down. Throws when n or m is negative.
Tensor Eye(inner::Integer n, inner::Integer m, inner::Integer offset = 0,
           DType dtype = kDefaultFloat, Device device = {});
inline Tensor Eye(inner::Integer n) { return Eye(n, n); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CREATE_CONSTANT_H_

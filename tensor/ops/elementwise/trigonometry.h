#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_H_

// Trigonometric and hyperbolic functions; the hyperbolic tangent is in activation/sigmoids.h.

#include "firn/tensor/tensor.h"

namespace firn {

// The sine of x in radians; right for arguments of any size. Integers and bools become f32.
Tensor Sin(const Tensor& x);

// The cosine of x in radians; right for arguments of any size. Integers and bools become f32.
Tensor Cos(const Tensor& x);

// The tangent of x in radians; right for arguments of any size. Integers and bools become f32.
Tensor Tan(const Tensor& x);

// The angle in [-pi / 2, pi / 2] whose sine is x; NaN beyond 1. Integers and bools become f32.
Tensor Asin(const Tensor& x);

// The angle in [0, pi] whose cosine is x; NaN beyond 1. Integers and bools become f32.
Tensor Acos(const Tensor& x);

// The angle in [-pi / 2, pi / 2] whose tangent is x. Integers and bools become f32.
Tensor Atan(const Tensor& x);

// The hyperbolic sine, (e^x - e^-x) / 2. Integers and bools become f32.
Tensor Sinh(const Tensor& x);

// The hyperbolic cosine, (e^x + e^-x) / 2. Integers and bools become f32.
Tensor Cosh(const Tensor& x);

// The number whose hyperbolic sine is x. Integers and bools become f32.
Tensor Asinh(const Tensor& x);

// The number from 0 on whose hyperbolic cosine is x; NaN below 1. Integers and bools become f32.
Tensor Acosh(const Tensor& x);

// The number whose hyperbolic tangent is x; infinite at 1 and -1, NaN beyond. Integers and bools
// become f32.
Tensor Atanh(const Tensor& x);

// The angle of the point (x, y) in radians, in [-pi, pi]; broadcast. The ordinate comes first, as
// in C's atan2. Dtypes promote as PyTorch's; integers and bools become f32.
Tensor Atan2(const Tensor& y, const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_H_

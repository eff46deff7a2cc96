#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_SPECIAL_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_SPECIAL_H_

// Special functions.

#include "firn/tensor/tensor.h"

namespace firn {

// The error function: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x. Integers and bools
// become f32.
Tensor Erf(const Tensor& x);

// sin(pi x) / (pi x), and 1 at 0, like PyTorch's and NumPy's. Integers and bools become f32.
Tensor Sinc(const Tensor& x);

// log |gamma(x)|: infinite at 0, -1, -2, ... Integers and bools become f32.
Tensor Lgamma(const Tensor& x);

// The derivative of Lgamma: -inf at 0, inf at -0, NaN at -1, -2, ... Its derivatives are
// Polygamma's. Integers and bools become f32.
Tensor Digamma(const Tensor& x);

namespace inner {
// The gradient of Digamma: dy times the second derivative of Lgamma.
Tensor DigammaGrad(const Tensor& dy, const Tensor& x);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_SPECIAL_H_

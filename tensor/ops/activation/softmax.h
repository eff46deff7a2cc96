#ifndef FIRN_TENSOR_OPS_ACTIVATION_SOFTMAX_H_
#define FIRN_TENSOR_OPS_ACTIVATION_SOFTMAX_H_

#include "firn/tensor/tensor.h"

namespace firn {

// x normalised to probabilities along `dim`: y_i = exp(x_i) / sum_j exp(x_j). Any finite values are
// safe; a line that is all -inf gives NaN. Floating dtypes; half types compute in float.
Tensor Softmax(const Tensor& x, inner::Integer dim);
// Softmax(-x).
Tensor Softmin(const Tensor& x, inner::Integer dim);

namespace inner {
// The gradient of Softmax for its result y: y * (dy - sum(dy * y)). A fused step of Softmax's own
// rule; not for users.
Tensor SoftmaxGrad(const Tensor& dy, const Tensor& y, int64_t dim);
}  // namespace inner

// The logarithm of Softmax(x, dim), accurate also where the probability is 0 to working precision:
// y_i = x_i - log sum_j exp(x_j).
Tensor LogSoftmax(const Tensor& x, inner::Integer dim);

namespace inner {
// The gradient of LogSoftmax for its result y: dy - exp(y) * sum(dy). A fused step of LogSoftmax's
// own rule; not for users.
Tensor LogSoftmaxGrad(const Tensor& dy, const Tensor& y, int64_t dim);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ACTIVATION_SOFTMAX_H_

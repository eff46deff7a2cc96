#ifndef FIRN_TENSOR_OPS_LOG_SOFTMAX_H_
#define FIRN_TENSOR_OPS_LOG_SOFTMAX_H_

#include "tensor/ops/softmax.h"

namespace firn {

// The logarithm of Softmax(x, dim), accurate also where the probability is 0 to working precision:
// y_i = x_i - log sum_j exp(x_j).
Tensor LogSoftmax(const Tensor& x, int64_t dim);

namespace inner {
// The gradient of LogSoftmax for its result y: dy - exp(y) * sum(dy). A fused step of LogSoftmax's
// own rule; not for users.
Tensor LogSoftmaxGrad(const Tensor& dy, const Tensor& y, int64_t dim);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOG_SOFTMAX_H_

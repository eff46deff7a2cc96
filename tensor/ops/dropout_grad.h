#ifndef FIRN_TENSOR_OPS_DROPOUT_GRAD_H_
#define FIRN_TENSOR_OPS_DROPOUT_GRAD_H_

#include "tensor/ops/dropout.h"
#include "tensor/tensor.h"

namespace firn::inner {

// dy with the elements dropped, and the others scaled, that the dropout at `position` of a random
// stream (i64 {seed, offset}) dropped and scaled.
Tensor DropoutGrad(const Tensor& dy, const Tensor& position, double p);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_DROPOUT_GRAD_H_

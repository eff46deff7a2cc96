#ifndef FIRN_TENSOR_OPS_ACTIVATION_SOFTMAX_RULES_H_
#define FIRN_TENSOR_OPS_ACTIVATION_SOFTMAX_RULES_H_

// Shape rules that softmax and its relatives share on every device.

#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/softmax.h"

namespace firn {

// Output 0 is like input 0, and the dimension in DimAttrs exists.
absl::Status InferSoftmax(InferContext& c);
// Like the above, for a gradient: inputs dy and y have one shape.
absl::Status InferSoftmaxGrad(InferContext& c);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ACTIVATION_SOFTMAX_RULES_H_

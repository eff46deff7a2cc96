#ifndef FIRN_TENSOR_OPS_ATTENTION_ATTENTION_WEIGHTS_H_
#define FIRN_TENSOR_OPS_ATTENTION_ATTENTION_WEIGHTS_H_

// Attention written with operations, on all the weights: for gradients that are recorded, and for
// callers that want the weights themselves.

#include "firn/tensor/op.h"
#include "firn/tensor/ops/attention/attention.h"

namespace firn {

// softmax(scores) along the last dimension of [..., length, source], under a mask that broadcasts
// to them (bool: true is seen; of their dtype: added) or undefined, and the causal mask. 0 where a
// query sees no key.
Tensor WeightsOfScores(const Tensor& scores, const Tensor& mask, bool causal);

// The gradient rule of scaled_dot_product_attention, for all gradients that are needed.
void SetWrittenGradients(GradContext& g);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ATTENTION_ATTENTION_WEIGHTS_H_

#ifndef FIRN_TENSOR_OPS_ATTENTION_ATTENTION_CUDA_H_
#define FIRN_TENSOR_OPS_ATTENTION_ATTENTION_CUDA_H_

// What the CUDA kernels of attention, cuDNN's and our own, know of each other.

#include "absl/status/status.h"
#include "firn/tensor/op.h"

namespace firn {

// By cuDNN, of scaled_dot_product_attention or of its gradient; refuses what cuDNN does not take.
Kernel AttentionByCudnn(bool grad);

// Our own, by tiles, which take every call. The gradient's workspace: a number of f32 (of f64: f64)
// for each query.
absl::Status RunAttentionTiles(KernelContext& k);
absl::Status RunAttentionGradTiles(KernelContext& k);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ATTENTION_ATTENTION_CUDA_H_

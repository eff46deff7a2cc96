#ifndef FIRN_TENSOR_OPS_ATTENTION_ATTENTION_CUDA_H_
#define FIRN_TENSOR_OPS_ATTENTION_ATTENTION_CUDA_H_

// Declarations that the CUDA kernels of attention, cuDNN's and Firn's own, share.

#include "absl/status/status.h"
#include "firn/tensor/op.h"

namespace firn {

// The kernel by cuDNN of scaled_dot_product_attention or of its gradient; it refuses calls that
// cuDNN does not take.
Kernel AttentionByCudnn(bool grad);

// Firn's own kernels, by tiles, which take every call. The gradient's workspace: a number of f32
// (of f64: f64) for each query.
absl::Status RunAttentionTiles(KernelContext& k);
absl::Status RunAttentionGradTiles(KernelContext& k);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ATTENTION_ATTENTION_CUDA_H_

#ifndef FIRN_TENSOR_KERNELS_CUDA_CHANNEL_BIAS_H_
#define FIRN_TENSOR_KERNELS_CUDA_CHANNEL_BIAS_H_

#include "absl/status/status.h"
#include "firn/tensor/kernels/cuda/launch.h"
#include "firn/tensor/problems/norm_options.h"
#include "firn/tensor/spec.h"

namespace firn::cuda {

// y[n, c, ...] = activation(y[n, c, ...] + bias[c]), for `y` of that spec: floating, contiguous or
// NHWC, of rank 2 or more. A null `bias` is 0.
absl::Status AddChannelBias(const Queue& queue, const TensorSpec& spec, const void* bias,
                            FusedActivation activation, void* y);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CHANNEL_BIAS_H_

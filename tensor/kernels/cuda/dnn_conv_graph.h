#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_CONV_GRAPH_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_CONV_GRAPH_H_

// Only the .cc files beside this one include it: it needs CUDA.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cuda/conv_plan_key.h"
#include "firn/tensor/kernels/cuda/dnn_descriptor.h"

namespace firn::cuda {

// The ids of a convolution's tensors in its graph.
enum DnnTensorId : int64_t { kX = 1, kWeight, kY, kBias };

// cuDNN's graph of a call: the convolution, and if `fused` the bias and relu behind it. The graph's
// descriptors, which must live as long, are appended to `parts`.
absl::StatusOr<Descriptor> ConvGraph(cudnnHandle_t handle, const DnnConvCall& call, bool fused,
                                     std::vector<Descriptor>* parts);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_CONV_GRAPH_H_

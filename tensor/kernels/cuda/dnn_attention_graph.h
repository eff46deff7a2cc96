#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_ATTENTION_GRAPH_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_ATTENTION_GRAPH_H_

// Only the .cc files beside this one and tests include it: it needs CUDA.

#include <cstdint>
#include <deque>

#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cuda/dnn_attention.h"
#include "firn/tensor/kernels/cuda/dnn_descriptor.h"

namespace firn::cuda {

// The ids of attention's tensors in its graphs. The last three are numbers of f32 that are read on
// the host when a plan runs: the scale, the value of hidden scores, and 1.
struct DnnAttentionId {
  enum : int64_t {
    kQ = 1,
    kK,
    kV,
    kY,
    kLogsumexp,
    kDy,
    kDq,
    kDk,
    kDv,
    kRowSums,
    kScale,
    kHidden,
    kOne
  };
};

// cuDNN's graph of a call. Its descriptors, which must live as long, are appended to `parts`.
// `handle`: null for a graph that is planned for a device which is not in the machine.
absl::StatusOr<Descriptor> AttentionGraph(const DnnApi& api, cudnnHandle_t handle,
                                          const DnnAttentionCall& call,
                                          std::deque<Descriptor>* parts);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_ATTENTION_GRAPH_H_

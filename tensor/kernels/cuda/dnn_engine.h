#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_ENGINE_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_ENGINE_H_

// Only the .cc files beside this one include it: it needs CUDA.

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cuda/dnn_descriptor.h"

namespace firn::cuda {

// The configurations that cuDNN proposes for a graph, the best first.
absl::StatusOr<std::vector<Descriptor>> Proposals(const Descriptor& graph,
                                                  cudnnBackendHeurMode_t mode);

// The engine of a configuration.
absl::StatusOr<Descriptor> EngineOf(const Descriptor& configuration);

// Errors: Unimplemented, if the engine has a note that is not allowed.
absl::Status CheckNotes(const Descriptor& engine,
                        absl::FunctionRef<bool(cudnnBackendNumericalNote_t)> allowed);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_ENGINE_H_

#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_CONV_PLAN_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_CONV_PLAN_H_

// Only the .cc files beside this one include it: it needs CUDA.

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cuda/conv_plan_key.h"
#include "firn/tensor/kernels/cuda/dnn_descriptor.h"

namespace firn::cuda {

// The tensors of a convolution, whichever is the result; `bias` may be null.
struct DnnOperands {
  const void *x, *weight, *y, *bias;
};

// One convolution as cuDNN plans it: the engine, and the memory it needs. All engines fit their
// call: deterministic, within the memory, of the precision asked for.
class DnnConvPlan {
 public:
  // The first `most` engines that fit, in cuDNN's order of preference, at least one. `fused`: they
  // do the call's bias and relu too; otherwise the caller does. The caller always does tanh.
  static absl::StatusOr<std::vector<DnnConvPlan>> Candidates(cudnnHandle_t handle,
                                                             const DnnConvCall& call, bool fused,
                                                             size_t most);
  // The same plan again. Errors: there is no such engine, or it does not fit.
  static absl::StatusOr<DnnConvPlan> From(cudnnHandle_t handle, const DnnConvCall& call,
                                          const EngineChoice& choice);

  const EngineChoice& choice() const { return choice_; }
  size_t workspace() const { return workspace_; }
  // Whether it is never destroyed, so that calls of it can be kept and repeated.
  bool lasting() const { return lasting_; }
  void MakeLasting() { lasting_ = true; }
  // Queues it on the handle's stream. `workspace` is aligned to kWorkspaceAlignment.
  absl::Status Run(cudnnHandle_t handle, const DnnOperands& operands, void* workspace) const;

 private:
  struct Graph;
  DnnConvPlan() = default;
  // Requires: the configuration comes last in `parts`.
  static absl::StatusOr<DnnConvPlan> Make(cudnnHandle_t handle, const DnnConvCall& call, bool fused,
                                          std::shared_ptr<const Graph> graph,
                                          std::vector<Descriptor> parts);

  std::shared_ptr<const Graph> graph_;
  std::vector<Descriptor> parts_;  // the plan's other descriptors, besides the graph
  Descriptor plan_{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
  EngineChoice choice_;
  size_t workspace_ = 0;
  bool bias_ = false, lasting_ = false;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_CONV_PLAN_H_

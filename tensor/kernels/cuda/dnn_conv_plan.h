#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_CONV_PLAN_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_CONV_PLAN_H_

// Only the .cc files beside this one include it: it needs CUDA.

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "tensor/conv.h"
#include "tensor/kernels/cpu/winograd.h"
#include "tensor/kernels/cuda/dnn_descriptor.h"

namespace firn::cuda {

// What an engine may do to f32 beside rounding sums: products of TF32 numbers; Winograd's and
// Fourier's methods (see tensor/precision.h); nothing.
enum class DnnF32 { kTf32, kTransforms, kExact };

struct DnnConvCall {
  ConvPass pass;
  DType dtype;
  int64_t alignment;  // of the tensors' memory, in bytes
  size_t max_workspace;
  DnnF32 f32;
  ConvProblem problem;
};

// One convolution as cuDNN plans it: the engine, and the memory it needs.
class DnnConvPlan {
 public:
  // The first engine in cuDNN's order of preference that fits: deterministic, within the memory, of
  // the precision asked for.
  static absl::StatusOr<DnnConvPlan> Make(cudnnHandle_t handle, const DnnConvCall& call);

  size_t workspace() const { return workspace_; }
  // Queues the convolution on the handle's stream.
  absl::Status Run(cudnnHandle_t handle, const void* x, const void* weight, const void* y,
                   void* workspace) const;

 private:
  DnnConvPlan(std::vector<Descriptor> parts, Descriptor plan, size_t workspace)
      : parts_(std::move(parts)), plan_(std::move(plan)), workspace_(workspace) {}

  std::vector<Descriptor> parts_;  // what the plan was made of
  Descriptor plan_;
  size_t workspace_;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_CONV_PLAN_H_

#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_TRIAL_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_TRIAL_H_

// Only the .cc files beside this one include it: it needs CUDA.

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cuda/dnn_conv_plan.h"
#include "firn/tensor/kernels/cuda/launch.h"
#include "firn/tensor/storage.h"

namespace firn::cuda {

// Memory full of zeros and events, to time a convolution with.
class DnnTrial {
 public:
  // Errors: memory; the device's stream is being recorded, so that nothing can be waited for.
  static absl::StatusOr<DnnTrial> Make(Device device, const DnnConvCall& call, size_t workspace);

  using Call = absl::FunctionRef<absl::Status(const Queue&, const DnnOperands&, void* workspace)>;
  // Milliseconds of some calls in a row. Waits for the device.
  absl::StatusOr<float> Time(Call call);

 private:
  struct EventDeleter {
    void operator()(CUevent_st* event) const { static_cast<void>(cudaEventDestroy(event)); }
  };
  using Event = std::unique_ptr<CUevent_st, EventDeleter>;

  explicit DnnTrial(Device device) : queue_(device) {}
  absl::StatusOr<void*> Take(int64_t bytes);

  Queue queue_;
  cudaStream_t stream_ = nullptr;
  std::vector<IntrusivePtr<Storage>> memory_;
  DnnOperands operands_ = {};
  void* workspace_ = nullptr;
  Event start_, end_;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_TRIAL_H_

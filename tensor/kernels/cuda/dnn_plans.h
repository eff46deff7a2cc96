#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_PLANS_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_PLANS_H_

// Only the .cc files beside this one include it: it needs CUDA.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensor/kernels/cuda/dnn_conv_plan.h"
#include "tensor/kernels/cuda/launch.h"

namespace firn::cuda {

// cuDNN on one device, and its plans.
class DnnPlans {
 public:
  using Plan = std::shared_ptr<const DnnConvPlan>;

  // Of a device, which becomes the thread's current one. Errors: cuDNN cannot be used there.
  static absl::StatusOr<DnnPlans*> Of(Device device);

  // The plan of a call, made at the first time and kept: so is the reason when there is none.
  // `timed`: the fastest of some, which are run on scratch memory at the first time; otherwise the
  // first that cuDNN proposes. Either may come from the file of plans. Thread-safe.
  absl::StatusOr<Plan> Find(const DnnConvCall& call, bool timed);

  // Queues a call, with the bias and activation that the plan leaves to us. Thread-safe.
  absl::Status Run(const DnnConvPlan& plan, const DnnConvCall& call, const Queue& queue,
                   const DnnOperands& operands, void* workspace);

 private:
  using Entry = std::shared_ptr<const absl::StatusOr<Plan>>;

  absl::Status Init(Device device);
  absl::StatusOr<Plan> Make(const DnnConvCall& call, bool timed);
  absl::StatusOr<Plan> FromCache(const DnnConvCall& call, bool timed);
  absl::Status RunLocked(const DnnConvPlan& plan, const DnnConvCall& call, const Queue& queue,
                         const DnnOperands& operands, void* workspace);
  size_t FastestOf(const DnnConvCall& call, const std::vector<DnnConvPlan>& plans);

  std::mutex mutex_;  // calls only queue work, so that threads share the handle
  Device device_;
  cudnnHandle_t handle_ = nullptr;
  DnnMachine machine_;
  std::map<DnnConvKey, Entry> plans_[2];  // by `timed`
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_PLANS_H_

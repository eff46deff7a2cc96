#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_PLANS_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_PLANS_H_

// Only the .cc files beside this one include it: it needs CUDA.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cuda/dnn_conv_plan.h"
#include "firn/tensor/kernels/cuda/launch.h"

namespace firn::cuda {

// cuDNN on one device, and its plans.
class DnnPlans {
 public:
  using Plan = std::shared_ptr<const DnnConvPlan>;

  // The plans of a device, which becomes the thread's current one. Errors: cuDNN cannot be used
  // there.
  static absl::StatusOr<DnnPlans*> Of(Device device);

  // The plan of a call, or the reason why there is none, made at first use and kept. `timed`: the
  // fastest of some plans, which are run on scratch memory at first use; otherwise the first that
  // cuDNN proposes. Either may come from the file of plans. Thread-safe.
  absl::StatusOr<Plan> Find(const DnnConvCall& call, bool timed);

  // Queues a call, with the bias and activation that the plan leaves to Firn. Thread-safe.
  absl::Status Run(const DnnConvPlan& plan, const DnnConvCall& call, const Queue& queue,
                   const DnnOperands& operands, void* workspace);

 private:
  using Entry = std::shared_ptr<const absl::StatusOr<Plan>>;
  using Entries = std::map<DnnConvKey, Entry>;
  // A plan and what it runs on.
  struct Execution {
    Device device;
    const DnnConvPlan* plan;
    DnnOperands operands;
    void* workspace;
  };

  absl::Status Init(Device device);
  Entry EntryFor(const DnnConvCall& call, const DnnConvKey& key, bool timed);
  absl::StatusOr<Plan> Make(const DnnConvCall& call, bool timed, bool lasting);
  absl::StatusOr<DnnConvPlan> Choose(const DnnConvCall& call, bool timed);
  absl::StatusOr<DnnConvPlan> FromCache(const DnnConvCall& call, bool timed);
  size_t FastestOf(const DnnConvCall& call, const std::vector<DnnConvPlan>& plans);
  static absl::Status Execute(const Execution& e, void* stream);

  Device device_;
  DnnMachine machine_;
  std::mutex mutex_;              // guards the plans
  Entries lasting_[2], passing_;  // by `timed`; for calls beyond those whose plans last
  // Threads share the handle: calls only queue work. Held only for calls of cuDNN, because these
  // are made while launches are held back (Call in launch.h).
  std::mutex handle_mutex_;
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_PLANS_H_

// A plan is looked for in memory, then in the file of plans, and only then asked of cuDNN.
//
// Timed plans are kept apart from the others and for ever: a graph runs with the memory that its
// plan asked for when it was compiled. For the same reason what is not timed depends on nothing but
// the call and the file as it was first read: forgotten, it comes back as it was.

#include "tensor/kernels/cuda/dnn_plans.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tensor/kernels/cuda/channel_bias.h"
#include "tensor/kernels/cuda/dnn_trial.h"
#include "tensor/kernels/cuda/fastest.h"
#include "tensor/kernels/cuda/per_device.h"
#include "tensor/kernels/cuda/plan_cache.h"

namespace firn::cuda {
namespace {

constexpr size_t kMaxPlans = 1024;  // more come from sizes that change all the time
constexpr size_t kMaxTimed = 4;     // engines, fused ones and others each
constexpr int kRepeats = 5;

}  // namespace

absl::StatusOr<DnnPlans*> DnnPlans::Of(Device device) {
  static auto* const all = new PerDevice<DnnPlans>;  // never destroyed, as the contexts
  return all->Get(device, [device](DnnPlans& plans) { return plans.Init(device); });
}

absl::Status DnnPlans::Init(Device device) {
  device_ = device;
  cudaDeviceProp properties;
  const cudaError_t code = cudaGetDeviceProperties(&properties, device.index);
  FIRN_RETURN_IF(code != cudaSuccess,
                 Internal("cudaGetDeviceProperties: ", cudaGetErrorString(code)));
  machine_.device = properties.name;
  machine_.compute_capability = 10 * properties.major + properties.minor;
  static_cast<void>(cudaDriverGetVersion(&machine_.driver));
  static_cast<void>(cudaRuntimeGetVersion(&machine_.runtime));
  machine_.cudnn = static_cast<int>(cudnnGetVersion());
  return DnnStatus(cudnnCreate(&handle_), "cudnnCreate");
}

// The last answer is kept for each thread: a kernel is asked whether it takes a call, then how much
// memory it needs, and then run.
absl::StatusOr<DnnPlans::Plan> DnnPlans::Find(const DnnConvCall& call, bool timed) {
  struct Last {
    const DnnPlans* plans = nullptr;
    bool timed = false;
    DnnConvKey key;
    Entry entry;
  };
  thread_local Last last;
  const DnnConvKey key = KeyOf(call);
  if (last.plans != this || last.timed != timed || last.key != key) {
    const std::lock_guard lock(mutex_);
    auto& plans = plans_[timed ? 1 : 0];
    auto it = plans.find(key);
    if (it == plans.end()) {
      if (!timed && plans.size() >= kMaxPlans) plans.clear();
      auto made = std::make_shared<const absl::StatusOr<Plan>>(Make(call, timed));
      it = plans.emplace(key, std::move(made)).first;
    }
    last = {this, timed, key, it->second};
  }
  return *last.entry;
}

absl::StatusOr<DnnPlans::Plan> DnnPlans::FromCache(const DnnConvCall& call, bool timed) {
  PlanCache& cache = SharedPlanCache();
  const std::string timed_name = PlanCacheKey(machine_, call, true);
  std::optional<std::string> text = timed ? cache.FindNewest(timed_name) : cache.Find(timed_name);
  if (!text && !timed) text = cache.Find(PlanCacheKey(machine_, call, false));
  const std::optional<EngineChoice> choice = text ? EngineChoiceFrom(*text) : std::nullopt;
  FIRN_RETURN_IF(!choice, NotFound("no plan in the cache"));
  FIRN_ASSIGN_OR_RETURN(DnnConvPlan plan, DnnConvPlan::From(handle_, call, *choice));
  return std::make_shared<const DnnConvPlan>(std::move(plan));
}

absl::StatusOr<DnnPlans::Plan> DnnPlans::Make(const DnnConvCall& call, bool timed) {
  if (absl::StatusOr<Plan> cached = FromCache(call, timed); cached.ok()) return cached;
  std::vector<DnnConvPlan> plans;
  absl::Status none;
  for (const bool fused : {true, false}) {
    if (fused && !call.may_fuse()) continue;
    if (!timed && !plans.empty()) continue;
    absl::StatusOr<std::vector<DnnConvPlan>> some =
        DnnConvPlan::Candidates(handle_, call, fused, timed ? kMaxTimed : 1);
    none = some.status();
    if (!some.ok()) continue;
    for (DnnConvPlan& plan : *some) plans.push_back(std::move(plan));
  }
  if (plans.empty()) return none;
  const size_t best = plans.size() == 1 ? 0 : FastestOf(call, plans);
  SharedPlanCache().Add(PlanCacheKey(machine_, call, timed), ToText(plans[best].choice()));
  SharedPlanCache().SaveNowAndThen();
  return std::make_shared<const DnnConvPlan>(std::move(plans[best]));
}

// The first where they cannot be timed: without memory for it, or while a graph is recorded.
size_t DnnPlans::FastestOf(const DnnConvCall& call, const std::vector<DnnConvPlan>& plans) {
  size_t workspace = 0;
  for (const DnnConvPlan& plan : plans) workspace = std::max(workspace, plan.workspace());
  absl::StatusOr<DnnTrial> trial = DnnTrial::Make(device_, call, workspace);
  if (!trial.ok()) return 0;
  const auto time = [&](size_t i) {
    return trial->Time([&](const Queue& queue, const DnnOperands& operands, void* memory) {
      return RunLocked(plans[i], call, queue, operands, memory);
    });
  };
  return Fastest(plans.size(), kRepeats, time).value_or(0);
}

absl::Status DnnPlans::Run(const DnnConvPlan& plan, const DnnConvCall& call, const Queue& queue,
                           const DnnOperands& operands, void* workspace) {
  const std::lock_guard lock(mutex_);
  return RunLocked(plan, call, queue, operands, workspace);
}

absl::Status DnnPlans::RunLocked(const DnnConvPlan& plan, const DnnConvCall& call,
                                 const Queue& queue, const DnnOperands& operands, void* workspace) {
  FIRN_ASSIGN_OR_RETURN(void* const stream, StreamHandle(queue));
  FIRN_RETURN_IF_ERROR(
      DnnStatus(cudnnSetStream(handle_, static_cast<cudaStream_t>(stream)), "cudnnSetStream"));
  FIRN_RETURN_IF_ERROR(plan.Run(handle_, operands, workspace));
  if (!call.has_epilogue() || plan.choice().fused) return absl::OkStatus();
  const ConvProblem& p = call.problem;
  const TensorSpec y = TensorSpec::Contiguous(
      call.dtype, Shape({p.batch, p.out, p.out_size.h, p.out_size.w}), device_);
  return AddChannelBias(queue, y, operands.bias, call.activation, const_cast<void*>(operands.y));
}

}  // namespace firn::cuda

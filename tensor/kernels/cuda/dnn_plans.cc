// A plan is looked for in memory, then in the file of plans, and only then asked of cuDNN.
//
// Timed plans are kept apart from the others and for ever: a graph runs with the memory that its
// plan asked for when it was compiled. For the same reason, plans that are not timed depend only on
// the call and the file as it was first read: a plan that was forgotten comes back as it was. The
// first plans of either kind last, because launches that repeat are known by their address
// (CudaReplay).

#include "firn/tensor/kernels/cuda/dnn_plans.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "firn/tensor/kernels/cuda/channel_bias.h"
#include "firn/tensor/kernels/cuda/dnn_trial.h"
#include "firn/tensor/kernels/cuda/fastest.h"
#include "firn/tensor/kernels/cuda/per_device.h"
#include "firn/tensor/kernels/cuda/plan_cache.h"

namespace firn::cuda {
namespace {

constexpr size_t kMaxPlans = 1024;  // more come from sizes that change all the time
constexpr size_t kMaxTimed = 8;     // engines with fusion, and as many without
constexpr int kRepeats = 5;

}  // namespace

absl::StatusOr<DnnPlans*> DnnPlans::Of(Device device) {
  static auto* const all = new PerDevice<DnnPlans>;  // never destroyed, as the contexts
  absl::StatusOr<DnnPlans*> plans =
      all->Get(device, [device](DnnPlans& made) { return made.Init(device); });
  if (plans.ok()) return plans;
  static const bool said = [&] {
    std::fprintf(stderr, "firn: convolutions run without cuDNN on %s: %s\n",
                 device.ToString().c_str(), std::string(plans.status().message()).c_str());
    return true;
  }();
  static_cast<void>(said);
  return plans;
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
  FIRN_RETURN_IF(machine_.cudnn / 100 < CUDNN_VERSION / 100,
                 FailedPrecondition("this build needs cuDNN ", CUDNN_MAJOR, ".", CUDNN_MINOR,
                                    " or later, the one found is ", machine_.cudnn / 10000, ".",
                                    machine_.cudnn / 100 % 100));
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
    last = {this, timed, key, EntryFor(call, key, timed)};
  }
  return *last.entry;
}

DnnPlans::Entry DnnPlans::EntryFor(const DnnConvCall& call, const DnnConvKey& key, bool timed) {
  Entries& first = lasting_[timed ? 1 : 0];
  if (const auto it = first.find(key); it != first.end()) return it->second;
  if (const auto it = passing_.find(key); !timed && it != passing_.end()) return it->second;
  const bool lasting = timed || first.size() < kMaxPlans;
  if (!lasting && passing_.size() >= kMaxPlans) passing_.clear();
  auto entry = std::make_shared<const absl::StatusOr<Plan>>(Make(call, timed, lasting));
  (lasting ? first : passing_).emplace(key, entry);
  return entry;
}

absl::StatusOr<DnnPlans::Plan> DnnPlans::Make(const DnnConvCall& call, bool timed, bool lasting) {
  FIRN_ASSIGN_OR_RETURN(DnnConvPlan plan, Choose(call, timed));
  if (lasting) plan.MakeLasting();
  return std::make_shared<const DnnConvPlan>(std::move(plan));
}

absl::StatusOr<DnnConvPlan> DnnPlans::FromCache(const DnnConvCall& call, bool timed) {
  PlanCache& cache = SharedPlanCache();
  const std::string timed_name = PlanCacheKey(machine_, call, true);
  std::optional<std::string> text = timed ? cache.FindNewest(timed_name) : cache.Find(timed_name);
  if (!text && !timed) text = cache.Find(PlanCacheKey(machine_, call, false));
  const std::optional<EngineChoice> choice = text ? EngineChoiceFrom(*text) : std::nullopt;
  FIRN_RETURN_IF(!choice, NotFound("no plan in the cache"));
  const std::lock_guard lock(handle_mutex_);
  return DnnConvPlan::From(handle_, call, *choice);
}

absl::StatusOr<DnnConvPlan> DnnPlans::Choose(const DnnConvCall& call, bool timed) {
  if (absl::StatusOr<DnnConvPlan> cached = FromCache(call, timed); cached.ok()) return cached;
  std::vector<DnnConvPlan> plans;
  absl::Status none;
  for (const bool fused : {true, false}) {
    if (fused && !call.may_fuse()) continue;
    if (!plans.empty() && (!timed || call.should_fuse())) continue;
    const std::lock_guard lock(handle_mutex_);
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
  return std::move(plans[best]);
}

// Takes the first plan where plans cannot be timed: without memory for it, or while a graph is
// recorded.
size_t DnnPlans::FastestOf(const DnnConvCall& call, const std::vector<DnnConvPlan>& plans) {
  size_t workspace = 0;
  for (const DnnConvPlan& plan : plans) workspace = std::max(workspace, plan.workspace());
  absl::StatusOr<DnnTrial> trial = DnnTrial::Make(device_, call, workspace);
  if (!trial.ok()) return 0;
  const auto time = [&](size_t i) {
    return trial->Time([&](const Queue& queue, const DnnOperands& operands, void* memory) {
      return Run(plans[i], call, queue, operands, memory);
    });
  };
  return Fastest(plans.size(), kRepeats, time).value_or(0);
}

absl::Status DnnPlans::Execute(const Execution& e, void* stream) {
  FIRN_ASSIGN_OR_RETURN(DnnPlans* const plans, Of(e.device));
  const std::lock_guard lock(plans->handle_mutex_);
  FIRN_RETURN_IF_ERROR(DnnStatus(cudnnSetStream(plans->handle_, static_cast<cudaStream_t>(stream)),
                                 "cudnnSetStream"));
  return e.plan->Run(plans->handle_, e.operands, e.workspace);
}

absl::Status DnnPlans::Run(const DnnConvPlan& plan, const DnnConvCall& call, const Queue& queue,
                           const DnnOperands& operands, void* workspace) {
  const Execution execution{device_, &plan, operands, workspace};
  if (plan.lasting()) {
    FIRN_RETURN_IF_ERROR(Call<Execute>(queue, "cudnnBackendExecute", execution));
  } else {
    FIRN_ASSIGN_OR_RETURN(void* const stream, StreamHandle(queue));
    FIRN_RETURN_IF_ERROR(Execute(execution, stream));
  }
  const bool fused = plan.choice().fused, tanh = call.activation == FusedActivation::kTanh;
  if (!call.has_epilogue() || (fused && !tanh)) return absl::OkStatus();
  const ConvProblem& p = call.problem;
  FIRN_ASSIGN_OR_RETURN(const Shape shape, ShapeOfImages(p.batch, p.out, p.out_size));
  const TensorSpec y =
      TensorSpec::Blocked(call.dtype, shape, device_, call.nhwc ? ChannelsLastBlock(shape) : 0);
  return AddChannelBias(queue, y, fused ? nullptr : operands.bias, call.activation,
                        const_cast<void*>(operands.y));
}

}  // namespace firn::cuda

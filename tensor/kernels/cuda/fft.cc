// Plans of cuFFT, found by their transform. Their scratch memory is the kernel's workspace. Plans
// are never destroyed, because a recording of launches reads their tables on the device whenever it
// is repeated.

#include "firn/tensor/kernels/cuda/fft.h"

#include <map>
#include <mutex>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/fft_api.h"
#include "firn/tensor/kernels/cuda/library_api.h"
#include "firn/tensor/kernels/cuda/per_device.h"

namespace firn::cuda {
namespace {

absl::Status FftStatus(cufftResult code, const char* call) {
  if (code == CUFFT_SUCCESS) return absl::OkStatus();
  if (code == CUFFT_ALLOC_FAILED) return ResourceExhausted(call, ": no memory for a plan");
  return Internal(call, ": cufftResult ", static_cast<int>(code));
}

struct Plan {
  cufftHandle handle;
  size_t workspace;  // bytes
};

// Each call sets a plan's stream and memory, so that threads share all plans under one lock.
struct Context {
  std::mutex mutex;
  std::map<FftLines, Plan> plans;
};

absl::StatusOr<Context*> ContextOf(const FftApi& api, Device device) {
  static auto* const contexts = new PerDevice<Context>;  // never destroyed, as the contexts
  return contexts->Get(
      device, [](Context&) { return absl::OkStatus(); }, api.set_device);
}

absl::Status InitPlan(const FftApi& api, const FftLines& lines, Plan* plan) {
  const bool wide = lines.dtype == DType::kF64;
  const cudaDataType real = wide ? CUDA_R_64F : CUDA_R_32F;
  const cudaDataType complex = wide ? CUDA_C_64F : CUDA_C_32F;
  const bool from_real = lines.kind == FftKind::kFromReal, to_real = lines.kind == FftKind::kToReal;
  long long n = lines.n;
  long long in = to_real ? n / 2 + 1 : n, out = from_real ? n / 2 + 1 : n;
  FIRN_RETURN_IF_ERROR(
      FftStatus(api.set_auto_allocation(plan->handle, 0), "cufftSetAutoAllocation"));
  return FftStatus(
      api.make_plan_many(plan->handle, 1, &n, &in, 1, in, from_real ? real : complex, &out, 1, out,
                         to_real ? real : complex, lines.count, &plan->workspace, complex),
      "cufftXtMakePlanMany");
}

// Requires: the context's lock.
absl::StatusOr<Plan> PlanFor(const FftApi& api, Context& context, const FftLines& lines) {
  if (const auto it = context.plans.find(lines); it != context.plans.end()) return it->second;
  Plan plan{};
  FIRN_RETURN_IF_ERROR(FftStatus(api.create(&plan.handle), "cufftCreate"));
  if (absl::Status status = InitPlan(api, lines, &plan); !status.ok()) {
    api.destroy(plan.handle);
    return status;
  }
  return context.plans.emplace(lines, plan).first->second;
}

struct Transformation {
  Device device;
  FftLines lines;
  bool inverse;
  void *from, *to, *workspace;
};

absl::Status Transform(const Transformation& t, void* stream) {
  const FftApi& api = *LibraryApi<FftApi>::Of(t.device);
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(api, t.device));
  const std::lock_guard lock(context->mutex);
  FIRN_ASSIGN_OR_RETURN(const Plan plan, PlanFor(api, *context, t.lines));
  FIRN_RETURN_IF_ERROR(
      FftStatus(api.set_stream(plan.handle, static_cast<cudaStream_t>(stream)), "cufftSetStream"));
  FIRN_RETURN_IF_ERROR(FftStatus(api.set_work_area(plan.handle, t.workspace), "cufftSetWorkArea"));
  const bool inverse =
      t.lines.kind == FftKind::kComplex ? t.inverse : t.lines.kind == FftKind::kToReal;
  return FftStatus(api.exec(plan.handle, t.from, t.to, inverse ? CUFFT_INVERSE : CUFFT_FORWARD),
                   "cufftXtExec");
}

}  // namespace

absl::StatusOr<size_t> FftWorkspace(Device device, const FftLines& lines) {
  const FftApi* const api = LibraryApi<FftApi>::Of(device);
  FIRN_RETURN_IF(api == nullptr, Unavailable("there is no cuFFT here"));
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(*api, device));
  const std::lock_guard lock(context->mutex);
  FIRN_ASSIGN_OR_RETURN(const Plan plan, PlanFor(*api, *context, lines));
  return plan.workspace;
}

absl::Status FftTransform(const Queue& queue, const FftLines& lines, bool inverse, const void* from,
                          void* to, void* workspace) {
  return Call<Transform>(
      queue, "cufftXtExec",
      Transformation{queue.device, lines, inverse, const_cast<void*>(from), to, workspace});
}

}  // namespace firn::cuda

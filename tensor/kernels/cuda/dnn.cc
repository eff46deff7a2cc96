// Convolutions by cuDNN 9, through its graph API (cudnnBackend*). A plan is made when a kernel is
// asked whether it takes a call, and kept: so is the reason when there is none.
//
// What f32 may be traded for is a kernel of its own, so that a graph keeps to what was allowed when
// it chose its kernels, and to the memory that they asked for.
//
// One context a device: the calls only queue work, so that threads share it under a lock.

#include "tensor/kernels/cuda/dnn.h"

#include <cuda_runtime.h>
#include <cudnn.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "device/status_macros.h"
#include "tensor/conv.h"
#include "tensor/kernels/cuda/channel_bias.h"
#include "tensor/kernels/cuda/dnn_conv_plan.h"
#include "tensor/kernels/cuda/launch.h"
#include "tensor/kernels/cuda/per_device.h"
#include "tensor/kernels/cuda/workspace.h"
#include "tensor/precision.h"

namespace firn::cuda {
namespace {

// --- Contexts and plans --------------------------------------------------------------------------

using Key = std::array<int64_t, 18>;
Key KeyOf(const DnnConvCall& c) {
  const ConvProblem& p = c.problem;
  const ConvAttrs& a = p.attrs;
  return {static_cast<int64_t>(c.pass),
          static_cast<int64_t>(c.dtype),
          c.alignment,
          static_cast<int64_t>(c.f32),
          p.batch,
          p.in,
          p.out,
          p.in_size.h,
          p.in_size.w,
          p.kernel.h,
          p.kernel.w,
          a.stride.h,
          a.stride.w,
          a.padding.h,
          a.padding.w,
          a.dilation.h,
          a.dilation.w,
          a.groups};
}

struct Context {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  std::map<Key, absl::StatusOr<DnnConvPlan>> plans;
};
constexpr size_t kMaxPlans = 1024;  // more come from sizes that change all the time

absl::StatusOr<Context*> ContextOf(Device device) {
  static auto* const contexts = new PerDevice<Context>;  // never destroyed, as the contexts
  return contexts->Get(device, [](Context& context) {
    return DnnStatus(cudnnCreate(&context.handle), "cudnnCreate");
  });
}

// Requires: the context's lock, for as long as the plan is used.
absl::StatusOr<const DnnConvPlan*> PlanOf(Context& context, const DnnConvCall& call) {
  const Key key = KeyOf(call);
  auto it = context.plans.find(key);
  if (it == context.plans.end()) {
    if (context.plans.size() >= kMaxPlans) context.plans.clear();
    it = context.plans.emplace(key, DnnConvPlan::Make(context.handle, call)).first;
  }
  FIRN_RETURN_IF_ERROR(it->second.status());
  return &*it->second;
}

// --- Calls ---------------------------------------------------------------------------------------

constexpr int64_t kAlignment = 16;  // bytes: no load or store is wider

DnnConvCall CallOf(ConvPass pass, DnnF32 f32, DType dtype, const ConvProblem& p) {
  const int64_t elements = p.batch * p.in * p.in_size.h * p.in_size.w +
                           p.batch * p.out * p.out_size.h * p.out_size.w +
                           p.out * p.in_per_group() * p.kernel.h * p.kernel.w;
  // Room for all of it in another layout, and for partial sums.
  const auto room = static_cast<size_t>(2 * elements * SizeOf(dtype)) + (size_t{64} << 20);
  return {pass, dtype, kAlignment, room, f32, p};
}

template <ConvPass kPass>
absl::StatusOr<ConvProblem> ProblemOf(const Shape& a, const Shape& b, const ConvAttrs& attrs) {
  if constexpr (kPass == ConvPass::kForward) return ConvForward(a, b, attrs);
  if constexpr (kPass == ConvPass::kBackwardData) return ConvBackwardData(a, b, attrs);
  if constexpr (kPass == ConvPass::kBackwardWeight) return ConvBackwardWeight(a, b, attrs);
}

// The bytes that the call needs, or why cuDNN does not take it.
template <ConvPass kPass, DnnF32 kF32>
absl::StatusOr<size_t> Need(const KernelQuery& q) {
  const Device device = q.out().device;
  FIRN_RETURN_IF(!HasLibraries(device), Unavailable("there is no cuDNN here"));
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ProblemOf<kPass>(q.in(0).shape, q.in(1).shape, q.attrs<ConvAttrs>()));
  for (int i = 0; i < 2; ++i) {
    FIRN_RETURN_IF(q.in(i).num_elements() == 0, Unimplemented("takes no empty tensors"));
  }
  FIRN_RETURN_IF(q.out().num_elements() == 0, Unimplemented("takes no empty tensors"));
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(device));
  std::lock_guard lock(context->mutex);
  FIRN_ASSIGN_OR_RETURN(const DnnConvPlan* const plan,
                        PlanOf(*context, CallOf(kPass, kF32, q.in(0).dtype, p)));
  return plan->workspace() == 0 ? 0 : plan->workspace() + kWorkspaceAlignment;
}

template <ConvPass kPass, DnnF32 kF32>
absl::Status Supports(const KernelQuery& q) {
  if constexpr (kF32 != DnnF32::kExact) {
    const bool allowed = kF32 == DnnF32::kTf32 ? ConvMath() == F32Math::kTf32 : WinogradAllowed();
    FIRN_RETURN_IF(!allowed, Unimplemented("is switched off"));
    FIRN_RETURN_IF(q.in(0).dtype != DType::kF32, Unimplemented("takes f32 only"));
  }
  return Need<kPass, kF32>(q).status();
}
template <ConvPass kPass, DnnF32 kF32>
size_t Workspace(const KernelQuery& q) {
  return Need<kPass, kF32>(q).value_or(0);
}

// The three tensors of a problem, whichever is the result.
struct Roles {
  const void *x, *weight, *y;
};
template <ConvPass kPass>
Roles RolesOf(const KernelContext& k) {
  const void *a = k.in<void>(0), *b = k.in<void>(1), *out = k.out<void>();
  if constexpr (kPass == ConvPass::kForward) return {a, b, out};
  if constexpr (kPass == ConvPass::kBackwardData) return {out, b, a};
  if constexpr (kPass == ConvPass::kBackwardWeight) return {a, out, b};
}

template <ConvPass kPass, DnnF32 kF32>
absl::Status Run(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(
      const ConvProblem p,
      ProblemOf<kPass>(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs<ConvAttrs>()));
  const DType dtype = k.in_spec(0).dtype;
  const Roles r = RolesOf<kPass>(k);
  FIRN_ASSIGN_OR_RETURN(void* const stream, StreamHandle(k));
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(k.out_spec().device));
  {
    std::lock_guard lock(context->mutex);
    DnnConvCall call = CallOf(kPass, kF32, dtype, p);
    FIRN_ASSIGN_OR_RETURN(const DnnConvPlan* plan, PlanOf(*context, call));
    const auto places = reinterpret_cast<uintptr_t>(r.x) | reinterpret_cast<uintptr_t>(r.weight) |
                        reinterpret_cast<uintptr_t>(r.y);
    if (places % kAlignment != 0) {  // another plan, in the memory of the usual one
      call.alignment = SizeOf(dtype);
      call.max_workspace = plan->workspace();
      FIRN_ASSIGN_OR_RETURN(plan, PlanOf(*context, call));
    }
    FIRN_RETURN_IF_ERROR(DnnStatus(
        cudnnSetStream(context->handle, static_cast<cudaStream_t>(stream)), "cudnnSetStream"));
    FIRN_RETURN_IF_ERROR(plan->Run(context->handle, r.x, r.weight, r.y, AlignedWorkspace(k)));
  }
  if (kPass != ConvPass::kForward || !k.has(2)) return absl::OkStatus();
  return AddChannelBias(k, k.out_spec(), k.in<void>(2), k.out<void>());
}

template <ConvPass kPass, DnnF32 kF32>
Kernel KernelOf(std::string_view name) {
  return {.name = name,
          .device = DeviceType::kCuda,
          .supports = Supports<kPass, kF32>,
          .workspace = Workspace<kPass, kF32>,
          .run = Run<kPass, kF32>};
}

template <ConvPass kPass>
std::vector<Kernel> KernelsOf() {
  return {KernelOf<kPass, DnnF32::kTf32>("cudnn_tf32"),
          KernelOf<kPass, DnnF32::kTransforms>("cudnn_winograd"),
          KernelOf<kPass, DnnF32::kExact>("cudnn")};
}

}  // namespace

std::vector<Kernel> DnnConvKernels(ConvPass pass) {
  if (pass == ConvPass::kForward) return KernelsOf<ConvPass::kForward>();
  return pass == ConvPass::kBackwardData ? KernelsOf<ConvPass::kBackwardData>()
                                         : KernelsOf<ConvPass::kBackwardWeight>();
}

}  // namespace firn::cuda

// Convolutions by cuDNN 9, through its graph API (cudnnBackend*). A plan is made when a kernel is
// asked whether it takes a call (dnn_plans.h).
//
// Images and weights are NHWC where that is worth it and an engine takes it: engines that run on
// tensor cores otherwise turn them around in every call. A weight's gradient is turned back here.
//
// What f32 may be traded for, and whether plans were timed, is a kernel of its own each, so that a
// graph keeps to what was allowed when it chose its kernels, and to the memory that they asked for.

#include "tensor/kernels/cuda/dnn.h"

#include <string_view>

#include "device/status_macros.h"
#include "tensor/kernels/cuda/dnn_plans.h"
#include "tensor/kernels/cuda/launch.h"
#include "tensor/kernels/cuda/layouts.h"
#include "tensor/kernels/cuda/workspace.h"
#include "tensor/ops/conv/conv_problem.h"
#include "tensor/precision.h"
#include "tensor/reorder.h"
#include "tensor/tuning.h"

namespace firn::cuda {
namespace {

constexpr int64_t kAlignment = 16;  // bytes: no load or store is wider

constexpr bool IsForward(DnnConv conv) {
  return conv == DnnConv::kForward || conv == DnnConv::kForwardActivation;
}

constexpr ConvPass PassOf(DnnConv conv) {
  if (IsForward(conv)) return ConvPass::kForward;
  return conv == DnnConv::kBackwardData ? ConvPass::kBackwardData : ConvPass::kBackwardWeight;
}

template <DnnConv kConv>
absl::StatusOr<ConvProblem> ProblemOf(const Shape& a, const Shape& b, AttrsRef attrs) {
  if constexpr (kConv == DnnConv::kForwardActivation) {
    return ConvForward(a, b, attrs.get<ConvActAttrs>().conv);
  }
  if constexpr (kConv == DnnConv::kForward) return ConvForward(a, b, attrs.get<ConvAttrs>());
  if constexpr (kConv == DnnConv::kBackwardData) {
    return ConvBackwardData(a, b, attrs.get<ConvAttrs>());
  }
  if constexpr (kConv == DnnConv::kBackwardWeight) {
    return ConvBackwardWeight(a, b, attrs.get<ConvAttrs>());
  }
}

// Of a query or of a run's context.
template <DnnConv kConv, DnnF32 kF32>
absl::StatusOr<DnnConvCall> CallOf(const TensorSpec& a, const TensorSpec& b, bool bias,
                                   AttrsRef attrs) {
  FIRN_ASSIGN_OR_RETURN(ConvProblem p, ProblemOf<kConv>(a.shape, b.shape, attrs));
  if (p.dims() == 1) p = p.Lifted(2);  // cuDNN has no sequences
  const int64_t elements = p.batch * p.in * p.in_size.volume() +
                           p.batch * p.out * p.out_size.volume() +
                           p.out * p.in_per_group() * p.kernel.volume();
  // Room for all of it in another layout, and for partial sums.
  const auto room = static_cast<size_t>(2 * elements * SizeOf(a.dtype)) + (size_t{64} << 20);
  DnnConvCall call{PassOf(kConv), a.dtype, kAlignment, room, kF32, p};
  call.bias = IsForward(kConv) && bias;
  if constexpr (kConv == DnnConv::kForwardActivation) {
    call.activation = attrs.get<ConvActAttrs>().activation;
  }
  return call;
}

// A call and its plan, the same whenever it is asked for.
struct Planned {
  DnnPlans* plans;
  DnnConvCall call;
  DnnPlans::Plan plan;
};
template <DnnF32 kF32, bool kTimed>
absl::StatusOr<Planned> PlanOf(Device device, DnnConvCall call) {
  FIRN_ASSIGN_OR_RETURN(DnnPlans* const plans, DnnPlans::Of(device));
  call.nhwc = ConvWantsNhwc(call.dtype, kF32 == DnnF32::kTf32);
  absl::StatusOr<DnnPlans::Plan> plan = plans->Find(call, kTimed);
  if (!plan.ok() && call.nhwc) {
    call.nhwc = false;
    plan = plans->Find(call, kTimed);
  }
  FIRN_RETURN_IF_ERROR(plan.status());
  return Planned{plans, call, *std::move(plan)};
}

// Of a query, or why cuDNN does not take it.
template <DnnConv kConv, DnnF32 kF32, bool kTimed>
absl::StatusOr<Planned> PlanOf(const KernelQuery& q) {
  const Device device = q.out().device;
  FIRN_RETURN_IF(!HasLibraries(device), Unavailable("there is no cuDNN here"));
  FIRN_ASSIGN_OR_RETURN(const DnnConvCall call,
                        (CallOf<kConv, kF32>(q.in(0), q.in(1), q.has(2), q.attrs_ref())));
  for (int i = 0; i < 2; ++i) {
    FIRN_RETURN_IF(q.in(i).num_elements() == 0, Unimplemented("takes no empty tensors"));
  }
  FIRN_RETURN_IF(q.out().num_elements() == 0, Unimplemented("takes no empty tensors"));
  return PlanOf<kF32, kTimed>(device, call);
}

// Memory for a gradient that comes in another order than it is wanted in.
size_t TurnedBytes(const DnnConvCall& call, const TensorSpec& out) {
  const bool turned = call.pass == ConvPass::kBackwardWeight && call.nhwc;
  if (!turned || ChannelsLastBlock(out.shape) == 0) return 0;
  return (out.bytes() + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

template <DnnConv kConv, DnnF32 kF32, bool kTimed>
absl::Status Supports(const KernelQuery& q) {
  FIRN_RETURN_IF(kTimed && !TuningScope::Wanted(), Unimplemented("is for compiled graphs"));
  if constexpr (kF32 != DnnF32::kExact) {
    const bool allowed = kF32 == DnnF32::kTf32 ? ConvMath() == F32Math::kTf32 : WinogradAllowed();
    FIRN_RETURN_IF(!allowed, Unimplemented("is switched off"));
    FIRN_RETURN_IF(q.in(0).dtype != DType::kF32, Unimplemented("takes f32 only"));
  }
  return PlanOf<kConv, kF32, kTimed>(q).status();
}
template <DnnConv kConv, DnnF32 kF32, bool kTimed>
void Layouts(const KernelQuery& q, LayoutRequest& want) {
  const absl::StatusOr<Planned> planned = PlanOf<kConv, kF32, kTimed>(q);
  if (!planned.ok() || !planned->call.nhwc) return;
  RequestNhwc(q, kConv == DnnConv::kBackwardWeight, want);
}
template <DnnConv kConv, DnnF32 kF32, bool kTimed>
size_t Workspace(const KernelQuery& q) {
  const absl::StatusOr<Planned> planned = PlanOf<kConv, kF32, kTimed>(q);
  if (!planned.ok()) return 0;
  const size_t bytes = planned->plan->workspace() + TurnedBytes(planned->call, q.out());
  return bytes == 0 ? 0 : bytes + kWorkspaceAlignment;
}

template <DnnConv kConv>
DnnOperands OperandsOf(const KernelContext& k) {
  const void *a = k.in<void>(0), *b = k.in<void>(1), *out = k.out<void>();
  if constexpr (IsForward(kConv)) return {a, b, out, k.in<void>(2)};
  if constexpr (kConv == DnnConv::kBackwardData) return {out, b, a, nullptr};
  if constexpr (kConv == DnnConv::kBackwardWeight) return {a, out, b, nullptr};
}

template <DnnConv kConv, DnnF32 kF32, bool kTimed>
absl::Status Run(KernelContext& k) {
  const TensorSpec& out = k.out_spec();
  FIRN_ASSIGN_OR_RETURN(const DnnConvCall asked,
                        (CallOf<kConv, kF32>(k.in_spec(0), k.in_spec(1), k.has(2), k.attrs_ref())));
  FIRN_ASSIGN_OR_RETURN(Planned planned, (PlanOf<kF32, kTimed>(out.device, asked)));
  auto& [plans, call, plan] = planned;
  DnnOperands on = OperandsOf<kConv>(k);
  char* workspace = static_cast<char*>(AlignedWorkspace(k));
  const size_t turned = TurnedBytes(call, out);
  if (turned != 0) {
    on.weight = workspace;
    workspace += turned;
  }
  uintptr_t places = 0;
  for (const void* place : {on.x, on.weight, on.y, on.bias}) {
    places |= reinterpret_cast<uintptr_t>(place);
  }
  if (places % kAlignment != 0) {  // another plan, in the memory of the usual one
    call.alignment = SizeOf(call.dtype);
    call.max_workspace = plan->workspace();
    FIRN_ASSIGN_OR_RETURN(plan, plans->Find(call, false));
  }
  FIRN_RETURN_IF_ERROR(plans->Run(*plan, call, k, on, workspace));
  if (turned == 0) return absl::OkStatus();
  const TensorSpec from =
      TensorSpec::Blocked(out.dtype, out.shape, out.device, ChannelsLastBlock(out.shape));
  return CopyElements(from, on.weight, out, k.out<void>(), k.stream());
}

template <DnnConv kConv, DnnF32 kF32, bool kTimed>
Kernel KernelOf(std::string_view name) {
  return {.name = name,
          .device = DeviceType::kCuda,
          .supports = Supports<kConv, kF32, kTimed>,
          .workspace = Workspace<kConv, kF32, kTimed>,
          .layouts = Layouts<kConv, kF32, kTimed>,
          .run = Run<kConv, kF32, kTimed>};
}

template <DnnConv kConv>
std::vector<Kernel> KernelsOf() {
  return {KernelOf<kConv, DnnF32::kTf32, true>("cudnn_tf32_timed"),
          KernelOf<kConv, DnnF32::kTf32, false>("cudnn_tf32"),
          KernelOf<kConv, DnnF32::kTransforms, true>("cudnn_winograd_timed"),
          KernelOf<kConv, DnnF32::kTransforms, false>("cudnn_winograd"),
          KernelOf<kConv, DnnF32::kExact, true>("cudnn_timed"),
          KernelOf<kConv, DnnF32::kExact, false>("cudnn")};
}

}  // namespace

std::vector<Kernel> DnnConvKernels(DnnConv conv) {
  switch (conv) {
    case DnnConv::kForward:
      return KernelsOf<DnnConv::kForward>();
    case DnnConv::kForwardActivation:
      return KernelsOf<DnnConv::kForwardActivation>();
    case DnnConv::kBackwardData:
      return KernelsOf<DnnConv::kBackwardData>();
    case DnnConv::kBackwardWeight:
      break;
  }
  return KernelsOf<DnnConv::kBackwardWeight>();
}

}  // namespace firn::cuda

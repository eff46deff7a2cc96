// Convolutions by cuDNN 9, through its graph API (cudnnBackend*). A plan is made when Apply asks a
// kernel whether it takes a call (dnn_plans.h).
//
// Images and weights are NHWC where that pays and an engine takes it: engines that run on tensor
// cores otherwise convert them in every call. A weight's gradient is converted back here.
//
// There is a kernel for each precision that is allowed for f32, with plans that are timed or not,
// so that a graph keeps what was allowed when it chose its kernels, and the memory that they asked
// for.

#include "firn/tensor/kernels/cuda/dnn.h"

#include <memory>
#include <string_view>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/dnn_plans.h"
#include "firn/tensor/kernels/cuda/launch.h"
#include "firn/tensor/kernels/cuda/layouts.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/tuning.h"

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
ConvProblem ProblemOf(const KernelQuery& q) {
  const Shape &a = q.in(0).shape, &b = q.in(1).shape, &out = q.out().shape;
  if constexpr (kConv == DnnConv::kForwardActivation) {
    return ConvProblemOf(a, b, out, q.attrs<ConvActAttrs>().conv);
  }
  if constexpr (kConv == DnnConv::kForward) return ConvProblemOf(a, b, out, q.attrs<ConvAttrs>());
  if constexpr (kConv == DnnConv::kBackwardData) {
    return ConvProblemOf(out, b, a, q.attrs<ConvAttrs>());
  }
  if constexpr (kConv == DnnConv::kBackwardWeight) {
    return ConvProblemOf(a, out, b, q.attrs<ConvAttrs>());
  }
}

template <DnnConv kConv, DnnF32 kF32>
DnnConvCall CallOf(const KernelQuery& q) {
  ConvProblem p = ProblemOf<kConv>(q);
  const DType dtype = q.in(0).dtype;
  if (p.dims() == 1) p = p.Lifted(2);  // cuDNN has no sequences
  const int64_t elements = p.batch * p.in * p.in_size.volume() +
                           p.batch * p.out * p.out_size.volume() +
                           p.out * p.in_per_group() * p.kernel.volume();
  // Room for a whole tensor in another layout, and for partial sums.
  const auto room = static_cast<size_t>(2 * elements * SizeOf(dtype)) + (size_t{64} << 20);
  DnnConvCall call{PassOf(kConv), dtype, kAlignment, room, kF32, p};
  call.bias = IsForward(kConv) && q.has(2);
  if constexpr (kConv == DnnConv::kForwardActivation) {
    call.activation = q.attrs<ConvActAttrs>().activation;
  }
  return call;
}

// A call and its plan, which a run keeps from the preparation.
struct Planned {
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
  return Planned{call, *std::move(plan)};
}

// The plan of a query, or the reason why cuDNN does not take it.
template <DnnConv kConv, DnnF32 kF32, bool kTimed>
absl::StatusOr<Planned> PlanOf(const KernelQuery& q) {
  const Device device = q.out().device;
  FIRN_RETURN_IF(!HasLibraries(device), Unavailable("there is no cuDNN here"));
  for (int i = 0; i < 2; ++i) {
    FIRN_RETURN_IF(q.in(i).num_elements() == 0, Unimplemented("takes no empty tensors"));
  }
  FIRN_RETURN_IF(q.out().num_elements() == 0, Unimplemented("takes no empty tensors"));
  return PlanOf<kF32, kTimed>(device, CallOf<kConv, kF32>(q));
}

// Memory for a gradient that cuDNN writes in another order than it is wanted in.
size_t TurnedBytes(const DnnConvCall& call, const TensorSpec& out) {
  const bool turned = call.pass == ConvPass::kBackwardWeight && call.nhwc;
  if (!turned || ChannelsLastBlock(out.shape) == 0) return 0;
  return (out.bytes() + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

template <DnnConv kConv, DnnF32 kF32, bool kTimed>
absl::Status Prepare(const KernelQuery& q, Prepared& answer) {
  FIRN_RETURN_IF(kTimed && !TuningScope::Wanted(), Unimplemented("is for compiled graphs"));
  if constexpr (kF32 != DnnF32::kExact) {
    const bool allowed = kF32 == DnnF32::kTf32 ? ConvMath() == F32Math::kTf32 : WinogradAllowed();
    FIRN_RETURN_IF(!allowed, Unimplemented("is switched off"));
    FIRN_RETURN_IF(q.in(0).dtype != DType::kF32, Unimplemented("takes f32 only"));
  }
  FIRN_ASSIGN_OR_RETURN(Planned planned, (PlanOf<kConv, kF32, kTimed>(q)));
  if (planned.call.nhwc) RequestNhwc(q, kConv == DnnConv::kBackwardWeight, answer.layouts);
  const size_t bytes = planned.plan->workspace() + TurnedBytes(planned.call, q.out());
  answer.workspace = bytes == 0 ? 0 : bytes + kWorkspaceAlignment;
  answer.state = std::make_shared<const Planned>(std::move(planned));
  return absl::OkStatus();
}

template <DnnConv kConv>
DnnOperands OperandsOf(const KernelContext& k) {
  const void *a = k.in<void>(0), *b = k.in<void>(1), *out = k.out<void>();
  if constexpr (IsForward(kConv)) return {a, b, out, k.in<void>(2)};
  if constexpr (kConv == DnnConv::kBackwardData) return {out, b, a, nullptr};
  if constexpr (kConv == DnnConv::kBackwardWeight) return {a, out, b, nullptr};
}

template <DnnConv kConv>
absl::Status Run(KernelContext& k) {
  const TensorSpec& out = k.out_spec();
  auto [call, plan] = k.state<Planned>();
  FIRN_ASSIGN_OR_RETURN(DnnPlans* const plans, DnnPlans::Of(out.device));
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
          .run = Run<kConv>,
          .prepare = Prepare<kConv, kF32, kTimed>};
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

// The three convolution passes over one set of kernels. A pass differs in which of x, weight and y
// is the result; everything else is shared.

#include "tensor/kernels/cpu/conv_kernels.h"

#include "device/simd.h"
#include "tensor/kernels/cpu/conv_first_layer.h"
#include "tensor/kernels/cpu/conv_onednn.h"
#include "tensor/kernels/cpu/conv_reference.h"
#include "tensor/ops/conv/conv_problem.h"
#include "tensor/precision.h"

namespace firn::cpu {
namespace {

constexpr ConvPass kForward = ConvPass::kForward;
constexpr ConvPass kData = ConvPass::kBackwardData;
constexpr ConvPass kWeight = ConvPass::kBackwardWeight;

template <ConvPass kPass>
ConvProblem Problem(const Shape& a, const Shape& b, const ConvAttrs& attrs) {
  // The shape rule accepted them.
  if constexpr (kPass == kForward) return *ConvForward(a, b, attrs);
  if constexpr (kPass == kData) return *ConvBackwardData(a, b, attrs);
  if constexpr (kPass == kWeight) return *ConvBackwardWeight(a, b, attrs);
}
template <ConvPass kPass>
ConvProblem ProblemOf(const KernelQuery& q) {
  return Problem<kPass>(q.in(0).shape, q.in(1).shape, q.attrs<ConvAttrs>());
}
template <ConvPass kPass>
ConvProblem ProblemOf(const KernelContext& k) {
  return Problem<kPass>(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs<ConvAttrs>());
}

// The tensors of a call by their role in the problem.
template <class T>
struct Roles {
  T *x, *weight, *bias, *y;
};
template <ConvPass kPass, class T>
Roles<T> RolesOf(const KernelContext& k) {
  T* a = const_cast<T*>(k.in<T>(0));
  T* b = const_cast<T*>(k.in<T>(1));
  T* out = k.out<T>();
  if constexpr (kPass == kForward) return {a, b, const_cast<T*>(k.in<T>(2)), out};
  if constexpr (kPass == kData) return {out, b, nullptr, a};
  if constexpr (kPass == kWeight) return {a, out, nullptr, b};
}

// Asks for channel blocks by role; weights are always row-major.
template <ConvPass kPass>
void Request(int32_t x, int32_t y, LayoutRequest& want) {
  if constexpr (kPass == kForward) want.in[0] = x, want.out[0] = y;
  if constexpr (kPass == kData) want.in[0] = y, want.out[0] = x;
  if constexpr (kPass == kWeight) want.in[0] = x, want.in[1] = y;
}

absl::Status WantsF32(const KernelQuery& q) {
  FIRN_RETURN_IF(q.in(0).dtype != DType::kF32, Unimplemented("takes f32 only"));
  return absl::OkStatus();
}

// --- Winograd ------------------------------------------------------------------------------------

WinogradShape WinogradShapeOf(const ConvProblem& p) {
  return {p.batch, p.in, p.out, p.in_size[0], p.in_size[1], static_cast<int>(p.kernel[0])};
}

template <ConvPass kPass>
absl::Status WinogradTakes(const KernelQuery& q) {
  FIRN_RETURN_IF_ERROR(WantsF32(q));
  FIRN_RETURN_IF(!WinogradAllowed(), Unimplemented("is switched off"));
  const ConvProblem p = ProblemOf<kPass>(q);
  const ConvAttrs& a = p.attrs;
  const bool fits = p.dims() == 2 && (p.kernel.Are(3) || p.kernel.Are(5)) && a.stride.Are(1) &&
                    a.padding.Are(p.kernel[0] / 2) && a.dilation.Are(1) && a.groups == 1;
  FIRN_RETURN_IF(!fits, Unimplemented("wants a 3x3 or 5x5 kernel with stride 1 and its padding"));
  FIRN_RETURN_IF(!WinogradSupports(WinogradShapeOf(p)),
                 Unimplemented("wants channels in multiples of ", kChannelBlock));
  FIRN_RETURN_IF(!WinogradIsFaster(WinogradShapeOf(p), kPass),
                 Unimplemented("slower for this shape"));
  return absl::OkStatus();
}

template <ConvPass kPass>
absl::Status RunWinograd(KernelContext& k) {
  const WinogradShape s = WinogradShapeOf(ProblemOf<kPass>(k));
  const Roles<float> r = RolesOf<kPass, float>(k);
  if constexpr (kPass == kForward) {
    WinogradForward(s, r.x, r.weight, r.bias, r.y, k.workspace());
  } else if constexpr (kPass == kData) {
    WinogradBackwardData(s, r.y, r.weight, r.x, k.workspace());
  } else {
    WinogradBackwardWeight(s, r.x, r.y, r.weight, k.workspace());
  }
  return absl::OkStatus();
}

template <ConvPass kPass>
Kernel WinogradKernel() {
  return {
      .name = "winograd",
      .supports = WinogradTakes<kPass>,
      .workspace =
          [](const KernelQuery& q) {
            return WinogradWorkspace(WinogradShapeOf(ProblemOf<kPass>(q)), kPass);
          },
      .layouts = [](const KernelQuery&,
                    LayoutRequest& want) { Request<kPass>(kChannelBlock, kChannelBlock, want); },
      .run = RunWinograd<kPass>};
}

// --- The first layer's weights -------------------------------------------------------------------

// Sequences are images of height 1.
ConvProblem AsImages(const ConvProblem& p) { return p.dims() == 1 ? p.Lifted(2) : p; }

Kernel FirstLayerKernel() {
  return {
      .name = "first_layer",
      .supports =
          [](const KernelQuery& q) {
            FIRN_RETURN_IF_ERROR(WantsF32(q));
            return FirstLayerTakes(AsImages(ProblemOf<kWeight>(q)));
          },
      .workspace =
          [](const KernelQuery& q) { return FirstLayerWorkspace(AsImages(ProblemOf<kWeight>(q))); },
      .layouts = [](const KernelQuery&,
                    LayoutRequest& want) { Request<kWeight>(0, kChannelBlock, want); },
      .run =
          [](KernelContext& k) {
            const Roles<float> r = RolesOf<kWeight, float>(k);
            FirstLayerWeightGrad(AsImages(ProblemOf<kWeight>(k)), r.x, r.y, r.weight,
                                 k.workspace<float>());
            return absl::OkStatus();
          }};
}

// --- oneDNN --------------------------------------------------------------------------------------

template <ConvPass kPass>
bool HasBias(const KernelQuery& q) {
  return kPass == kForward && q.has(2);
}

template <ConvPass kPass>
Kernel OneDnnKernel() {
  return {.name = "onednn",
          .supports =
              [](const KernelQuery& q) {
                FIRN_RETURN_IF_ERROR(WantsF32(q));
                return OneDnnConvSupports(ProblemOf<kPass>(q), kPass, HasBias<kPass>(q));
              },
          .workspace =
              [](const KernelQuery& q) {
                return OneDnnConvWorkspace(ProblemOf<kPass>(q), kPass, HasBias<kPass>(q));
              },
          .layouts =
              [](const KernelQuery& q, LayoutRequest& want) {
                const ConvLayouts l =
                    OneDnnConvLayouts(ProblemOf<kPass>(q), kPass, HasBias<kPass>(q));
                Request<kPass>(l.x, l.y, want);
              },
          .run =
              [](KernelContext& k) {
                const Roles<float> r = RolesOf<kPass, float>(k);
                return OneDnnConvRun(ProblemOf<kPass>(k), kPass, r.x, r.weight, r.bias, r.y,
                                     k.workspace());
              }};
}

// --- The definition ------------------------------------------------------------------------------

template <ConvPass kPass>
absl::Status RunLoop(KernelContext& k) {
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const ConvProblem p = ProblemOf<kPass>(k).Lifted(Sizes::kMost);
    const Roles<T> r = RolesOf<kPass, T>(k);
    if constexpr (kPass == kForward) {
      ConvForwardReference<T>(p, r.x, r.weight, r.bias, r.y);
    } else if constexpr (kPass == kData) {
      ConvBackwardDataReference<T>(p, r.y, r.weight, r.x, k.workspace<double>());
    } else {
      ConvBackwardWeightReference<T>(p, r.x, r.y, r.weight, k.workspace<double>());
    }
  });
  return absl::OkStatus();
}

template <ConvPass kPass>
Kernel LoopKernel() {
  return {.name = "loop",
          .workspace =
              [](const KernelQuery& q) {
                return kPass == kForward
                           ? 0
                           : static_cast<size_t>(q.out().num_elements()) * sizeof(double);
              },
          .run = RunLoop<kPass>};
}

template <ConvPass kPass>
std::vector<Kernel> KernelsOf(int dims) {
  std::vector<Kernel> kernels;
  if (dims == 2) kernels.push_back(WinogradKernel<kPass>());
  if (dims == 2 && kPass == kWeight) kernels.push_back(FirstLayerKernel());
  kernels.push_back(OneDnnKernel<kPass>());
  kernels.push_back(LoopKernel<kPass>());
  return kernels;
}

}  // namespace

std::vector<Kernel> ConvKernels(ConvPass pass, int dims) {
  if (pass == kForward) return KernelsOf<kForward>(dims);
  return pass == kData ? KernelsOf<kData>(dims) : KernelsOf<kWeight>(dims);
}

}  // namespace firn::cpu

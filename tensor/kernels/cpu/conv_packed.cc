// A packed call asks the plain call's kernel, with the spec of the plain weight, and uses the state
// that it has prepared. Winograd's filters are the same for any number of threads. The layout of
// oneDNN's weights may change with that number: then the primitive for the number of threads at
// packing runs.

#include "firn/tensor/kernels/cpu/conv_packed.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "firn/device/simd.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/kernels/cpu/conv_kernels.h"
#include "firn/tensor/kernels/cpu/in_f32.h"

namespace firn::cpu {
namespace {

// The kernel of this name in ConvKernels for images. oneDNN's is the same for sequences and
// volumes.
template <ConvPass kPass>
const Kernel& PlainKernel(std::string_view name) {
  static const auto* const kernels = new std::vector<Kernel>(ConvKernels(kPass, 2));
  return *std::find_if(kernels->begin(), kernels->end(),
                       [&](const Kernel& k) { return k.name == name; });
}

absl::Status CheckBytes(const KernelQuery& q, size_t want) {
  FIRN_RETURN_IF(q.in(1).bytes() != want,
                 InvalidArgument("packed weights ", q.in(1).ToString(), ", want ", want, " bytes"));
  return absl::OkStatus();
}

// --- Winograd ------------------------------------------------------------------------------------

absl::Status PrepareWinograd(const KernelQuery& q, Prepared& answer) {
  const auto& a = q.attrs<PackedConvAttrs>();
  FIRN_RETURN_IF(a.threads != 0, Unimplemented("the weights are packed for oneDNN"));
  const Shape& x = q.in(0).shape;
  const auto s = std::make_shared<const WinogradShape>(
      WinogradShape{x[0], x[1], a.weight.d[0], x[2], x[3], static_cast<int>(a.weight.d[2])});
  FIRN_RETURN_IF(q.in(0).dtype != DType::kF32, Unimplemented("takes f32 only"));
  FIRN_RETURN_IF_ERROR(
      CheckBytes(q, static_cast<size_t>(WinogradFilterFloats(*s)) * sizeof(float)));
  answer.layouts.in[0] = answer.layouts.out[0] = kChannelBlock;
  answer.workspace = WinogradFilteredWorkspace(*s);
  answer.state = s;
  return absl::OkStatus();
}

absl::Status RunWinograd(KernelContext& k) {
  WinogradForwardFiltered(k.state<WinogradShape>(), k.in<float>(0), k.in<float>(1), k.in<float>(2),
                          k.out<float>(), k.workspace());
  return absl::OkStatus();
}

// --- oneDNN --------------------------------------------------------------------------------------

template <ConvPass kPass>
absl::Status PrepareOneDnn(const KernelQuery& q, Prepared& answer) {
  static const Kernel& plain = PlainKernel<kPass>("onednn");
  const auto& a = q.attrs<PackedConvAttrs>();
  FIRN_RETURN_IF(a.threads == 0, Unimplemented("the weights are Winograd's filters"));
  const TensorSpec weight = TensorSpec::Contiguous(q.in(0).dtype, Shape(a.weight.span()), {});
  const TensorSpec* const in[] = {&q.in(0), &weight, q.has(2) ? &q.in(2) : nullptr};
  const KernelQuery call({in, static_cast<size_t>(q.num_inputs())}, {&q.out(), 1}, a.conv);
  FIRN_RETURN_IF_ERROR(plain.prepare(call, answer));
  FIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const OneDnnConv> conv,
                        OneDnnConvOfPacked(std::static_pointer_cast<const OneDnnConv>(answer.state),
                                           static_cast<int>(a.threads)));
  FIRN_RETURN_IF_ERROR(CheckBytes(q, OneDnnConvWeightBytes(*conv)));
  answer.workspace = OneDnnConvWorkspace(*conv);
  answer.state = conv;
  return absl::OkStatus();
}

// For f32 and the other dtypes that oneDNN multiplies.
template <ConvPass kPass>
const std::vector<Kernel>& FastKernels() {
  static const auto* const kernels = [] {
    auto* made = new std::vector<Kernel>;
    made->reserve(2);
    if (kPass == ConvPass::kForward) {
      made->push_back({.name = "winograd", .run = RunWinograd, .prepare = PrepareWinograd});
    }
    Kernel onednn = PlainKernel<kPass>("onednn");
    onednn.prepare = PrepareOneDnn<kPass>;
    made->push_back(onednn);
    return made;
  }();
  return *kernels;
}

template <ConvPass kPass>
std::vector<Kernel> KernelsOf() {
  std::vector<Kernel> kernels = FastKernels<kPass>();
  kernels.push_back(InF32<FastKernels<kPass>>());
  return kernels;
}

}  // namespace

absl::StatusOr<WeightPacking> WeightPackingOf(const KernelQuery& call, const Kernel& kernel) {
  WeightPacking packing;
  if (kernel.prepare == nullptr) return packing;
  Prepared answer;
  FIRN_RETURN_IF_ERROR(inner::internal::Ask(kernel, call, &answer));
  packing.in_f32 = kernel.name == "in_f32";
  if (packing.in_f32) answer = Prepared(*static_cast<const Prepared*>(answer.state.get()));
  if (answer.run == PlainKernel<ConvPass::kForward>("winograd").run) {
    packing.winograd = std::static_pointer_cast<const WinogradShape>(answer.state);
    packing.bytes = static_cast<size_t>(WinogradFilterFloats(*packing.winograd)) * sizeof(float);
  } else if (answer.kernel->name == "onednn") {
    auto conv = std::static_pointer_cast<const OneDnnConv>(answer.state);
    if (!OneDnnConvPacksWeight(*conv)) return packing;
    packing.bytes = OneDnnConvWeightBytes(*conv);
    packing.onednn = std::move(conv);
  }
  return packing;
}

absl::Status PackWeight(const WeightPacking& packing, const void* weight, void* packed) {
  if (packing.onednn != nullptr) return OneDnnConvPackWeight(*packing.onednn, weight, packed);
  WinogradTransformFilters(*packing.winograd, static_cast<const float*>(weight),
                           static_cast<float*>(packed));
  return absl::OkStatus();
}

std::vector<Kernel> PackedConvKernels(ConvPass pass) {
  return pass == ConvPass::kForward ? KernelsOf<ConvPass::kForward>()
                                    : KernelsOf<ConvPass::kBackwardData>();
}

}  // namespace firn::cpu

// The three convolution passes over one set of kernels. A pass differs in which of x, weight and y
// is the result; everything else is shared.

#include "firn/tensor/kernels/cpu/conv_kernels.h"

#include <memory>
#include <utility>

#include "firn/device/simd.h"
#include "firn/device/status_macros.h"
#include "firn/device/tiles.h"
#include "firn/tensor/kernels/cpu/conv_columns.h"
#include "firn/tensor/kernels/cpu/conv_first_layer.h"
#include "firn/tensor/kernels/cpu/conv_onednn.h"
#include "firn/tensor/kernels/cpu/conv_reference.h"
#include "firn/tensor/kernels/cpu/conv_shifts.h"
#include "firn/tensor/kernels/cpu/conv_tiles.h"
#include "firn/tensor/kernels/cpu/in_f32.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cpu {
namespace {

constexpr ConvPass kForward = ConvPass::kForward;
constexpr ConvPass kData = ConvPass::kBackwardData;
constexpr ConvPass kWeight = ConvPass::kBackwardWeight;

// The pass decides which of the specs (a, b -> out) are x, weight and y.
template <ConvPass kPass>
ConvProblem Problem(const TensorSpec& a, const TensorSpec& b, const TensorSpec& out,
                    const ConvAttrs& attrs) {
  if constexpr (kPass == kForward) return ConvProblemOf(a.shape, b.shape, out.shape, attrs);
  if constexpr (kPass == kData) return ConvProblemOf(out.shape, b.shape, a.shape, attrs);
  if constexpr (kPass == kWeight) return ConvProblemOf(a.shape, out.shape, b.shape, attrs);
}
template <ConvPass kPass>
ConvProblem ProblemOf(const KernelQuery& q) {
  return Problem<kPass>(q.in(0), q.in(1), q.out(), q.attrs<ConvAttrs>());
}
template <ConvPass kPass>
ConvProblem ProblemOf(const KernelContext& k) {
  return Problem<kPass>(k.in_spec(0), k.in_spec(1), k.out_spec(), k.attrs<ConvAttrs>());
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

// The problem for Winograd, where it beats a direct convolution that is so many times as fast as
// one in f32; otherwise the reason why not.
template <ConvPass kPass>
absl::StatusOr<WinogradShape> WinogradShapeOf(const ConvProblem& p, double direct_speed) {
  FIRN_RETURN_IF(!WinogradAllowed(), Unimplemented("is switched off"));
  const ConvAttrs& a = p.attrs;
  const bool fits = p.dims() == 2 && (p.kernel.Are(3) || p.kernel.Are(5)) && a.stride.Are(1) &&
                    a.padding.Are(p.kernel[0] / 2) && a.dilation.Are(1) && a.groups == 1;
  FIRN_RETURN_IF(!fits, Unimplemented("wants a 3x3 or 5x5 kernel with stride 1 and its padding"));
  const WinogradShape s = {p.batch,      p.in,         p.out,
                           p.in_size[0], p.in_size[1], static_cast<int>(p.kernel[0])};
  FIRN_RETURN_IF(!WinogradSupports(s),
                 Unimplemented("wants channels in multiples of ", kChannelBlock));
  FIRN_RETURN_IF(!WinogradIsFaster(s, kPass, direct_speed), Unimplemented("slower for this shape"));
  return s;
}

template <ConvPass kPass>
absl::Status PrepareWinograd(const KernelQuery& q, Prepared& answer) {
  FIRN_RETURN_IF_ERROR(WantsF32(q));
  FIRN_ASSIGN_OR_RETURN(const WinogradShape s, WinogradShapeOf<kPass>(ProblemOf<kPass>(q), 1));
  Request<kPass>(kChannelBlock, kChannelBlock, answer.layouts);
  answer.workspace = WinogradWorkspace(s, kPass);
  answer.state = std::make_shared<const WinogradShape>(s);
  return absl::OkStatus();
}

template <ConvPass kPass>
absl::Status RunWinograd(KernelContext& k) {
  const WinogradShape& s = k.state<WinogradShape>();
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

// --- The first layer's weights -------------------------------------------------------------------

absl::Status PrepareFirstLayer(const KernelQuery& q, Prepared& answer) {
  FIRN_RETURN_IF_ERROR(WantsF32(q));
  ConvProblem p = ProblemOf<kWeight>(q);
  if (p.dims() == 1) p = p.Lifted(2);  // sequences are images of height 1
  FIRN_RETURN_IF_ERROR(FirstLayerTakes(p));
  Request<kWeight>(0, kChannelBlock, answer.layouts);
  answer.workspace = FirstLayerWorkspace(p);
  answer.state = std::make_shared<const ConvProblem>(p);
  return absl::OkStatus();
}

absl::Status RunFirstLayer(KernelContext& k) {
  const Roles<float> r = RolesOf<kWeight, float>(k);
  FirstLayerWeightGrad(k.state<ConvProblem>(), r.x, r.y, r.weight, k.workspace<float>());
  return absl::OkStatus();
}

// --- Few channels a group ------------------------------------------------------------------------

// Depthwise convolutions of whole blocks of channels of images and volumes, in the dtypes that
// oneDNN computes in: its kernels take 0.7 of the time of Firn's. For sequences, oneDNN's take five
// times as long.
bool OneDnnIsFaster(const ConvProblem& p, DType dtype) {
  return p.attrs.groups == p.in && p.in == p.out && p.in % kChannelBlock == 0 && p.dims() > 1 &&
         (dtype == DType::kF32 || dtype == DType::kBF16);
}

template <ConvPass kPass>
absl::Status PrepareShifts(const KernelQuery& q, Prepared& answer) {
  const ConvProblem given = ProblemOf<kPass>(q);
  FIRN_RETURN_IF(OneDnnIsFaster(given, q.in(0).dtype), Unimplemented("slower than oneDNN's"));
  const ConvProblem p = given.Lifted(Sizes::kMost);
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<const ShiftConv> conv,
                        ShiftConvFor(p, kPass, q.in(0).dtype));
  answer.workspace = ShiftConvWorkspace(*conv);
  answer.state = std::move(conv);
  return absl::OkStatus();
}

template <ConvPass kPass>
absl::Status RunShifts(KernelContext& k) {
  const Roles<void> r = RolesOf<kPass, void>(k);
  ShiftConvRun(k.state<ShiftConv>(), r.x, r.weight, r.bias, r.y, k.workspace());
  return absl::OkStatus();
}

// --- oneDNN --------------------------------------------------------------------------------------

// The layout in which a tensor of the call is given.
uint8_t GivenLayout(const TensorSpec& s) {
  if (IsChannelsLast(s)) return kChannelsLast;
  const bool blocks = s.layout.blocked() && s.shape[1] % kChannelBlock == 0;
  return blocks ? static_cast<uint8_t>(kChannelBlock) : 0;
}
// Results have no layout yet; the best is the one in which AMX writes them.
template <ConvPass kPass>
ConvLayouts GivenLayouts(const KernelQuery& q) {
  if constexpr (kPass == kForward) return {GivenLayout(q.in(0)), kChannelsLast};
  if constexpr (kPass == kData) return {kChannelsLast, GivenLayout(q.in(0))};
  if constexpr (kPass == kWeight) return {GivenLayout(q.in(0)), GivenLayout(q.in(1))};
}

// The layouts that Request asks for.
int32_t BlockOf(uint8_t layout, const TensorSpec& s) {
  return layout == kChannelsLast ? ChannelsLastBlock(s.shape) : layout;
}
template <ConvPass kPass>
void RequestGiven(const ConvLayouts& l, const KernelQuery& q, LayoutRequest& want) {
  const TensorSpec& x = kPass == kData ? q.out() : q.in(0);
  const TensorSpec& y = kPass == kForward ? q.out() : q.in(kPass == kData ? 0 : 1);
  Request<kPass>(BlockOf(l.x, x), BlockOf(l.y, y), want);
}

template <ConvPass kPass>
absl::Status PrepareOneDnn(const KernelQuery& q, Prepared& answer) {
  const ConvProblem p = ProblemOf<kPass>(q);
  // Where bf16 is twice as fast as f32, Winograd in f32 may still be faster than both, but not
  // where AMX multiplies. On processors with AMX a primitive is made to find out whether it does.
  const auto is_slower = [&] {
    constexpr double kBF16Speed = 2;
    return q.in(0).dtype == DType::kBF16 && WinogradShapeOf<kPass>(p, kBF16Speed).ok();
  };
  FIRN_RETURN_IF(!MultipliesTiles() && is_slower(), Unimplemented("slower than Winograd in f32"));
  const bool bias = kPass == kForward && q.has(2);
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<const OneDnnConv> conv,
                        OneDnnConvFor(p, kPass, q.in(0).dtype, bias, GivenLayouts<kPass>(q)));
  FIRN_RETURN_IF(MultipliesTiles() && !OneDnnConvWithTiles(*conv) && is_slower(),
                 Unimplemented("slower than Winograd in f32"));
  RequestGiven<kPass>(OneDnnConvLayouts(*conv), q, answer.layouts);
  answer.workspace = OneDnnConvWorkspace(*conv);
  answer.state = std::move(conv);
  return absl::OkStatus();
}

template <ConvPass kPass>
absl::Status RunOneDnn(KernelContext& k) {
  const Roles<void> r = RolesOf<kPass, void>(k);
  return OneDnnConvRun(k.state<OneDnnConv>(), r.x, r.weight, r.bias, r.y, k.workspace());
}

// --- Weight gradients by AMX ---------------------------------------------------------------------

// The block of the layout that the tensor has, or channels-last.
int32_t BlockOfTiles(const TensorSpec& s) {
  const bool blocks = s.layout.channel_block == kChannelBlock && kChannelBlock == 16;
  return blocks ? s.layout.channel_block : ChannelsLastBlock(s.shape);
}

absl::Status PrepareTiles(const KernelQuery& q, Prepared& answer) {
  const ConvProblem p = ProblemOf<kWeight>(q).Lifted(Sizes::kMost);
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<const TileConv> conv, TileConvFor(p, q.in(0).dtype));
  Request<kWeight>(BlockOfTiles(q.in(0)), BlockOfTiles(q.in(1)), answer.layouts);
  answer.workspace = TileConvWorkspace(*conv);
  answer.state = std::move(conv);
  return absl::OkStatus();
}

absl::Status RunTiles(KernelContext& k) {
  const Roles<void> r = RolesOf<kWeight, void>(k);
  TileConvWeightGrad(k.state<TileConv>(), k.in_spec(0), r.x, k.in_spec(1), r.y, r.weight,
                     k.workspace());
  return absl::OkStatus();
}

// --- Products of columns, for f64 and what oneDNN has not ----------------------------------------

template <ConvPass kPass>
absl::Status PrepareColumns(const KernelQuery& q, Prepared& answer) {
  const DType dtype = q.in(0).dtype;
  FIRN_RETURN_IF(dtype != DType::kF32 && dtype != DType::kF64,
                 Unimplemented("takes f32 and f64 only"));
  auto p = std::make_shared<const ConvProblem>(ProblemOf<kPass>(q).Lifted(Sizes::kMost));
  FIRN_RETURN_IF(p->flops() == 0, Unimplemented("empty tensors"));
  answer.workspace = dtype == DType::kF32 ? ConvOfColumnsWorkspace<float>(*p, kPass)
                                          : ConvOfColumnsWorkspace<double>(*p, kPass);
  answer.state = std::move(p);
  return absl::OkStatus();
}

template <ConvPass kPass, class T>
void RunColumnsOf(KernelContext& k) {
  const Roles<T> r = RolesOf<kPass, T>(k);
  ConvOfColumns<T>(k.state<ConvProblem>(), kPass, r.x, r.weight, r.bias, r.y, k.workspace());
}

template <ConvPass kPass>
absl::Status RunColumns(KernelContext& k) {
  k.in_spec(0).dtype == DType::kF32 ? RunColumnsOf<kPass, float>(k)
                                    : RunColumnsOf<kPass, double>(k);
  return absl::OkStatus();
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

// The kernels for f32; the last one takes f64 too.
template <ConvPass kPass, int kDims>
const std::vector<Kernel>& FastKernels() {
  static const auto* const kernels = [] {
    auto* made = new std::vector<Kernel>;
    made->reserve(4);  // g++ 14 warns that a growing list writes past its end
    if (kDims == 2) {
      made->push_back(
          {.name = "winograd", .run = RunWinograd<kPass>, .prepare = PrepareWinograd<kPass>});
    }
    if (kDims <= 2 && kPass == kWeight) {
      made->push_back({.name = "first_layer", .run = RunFirstLayer, .prepare = PrepareFirstLayer});
    }
    made->push_back({.name = "onednn", .run = RunOneDnn<kPass>, .prepare = PrepareOneDnn<kPass>});
    made->push_back(
        {.name = "columns", .run = RunColumns<kPass>, .prepare = PrepareColumns<kPass>});
    return made;
  }();
  return *kernels;
}

template <ConvPass kPass, int kDims>
std::vector<Kernel> KernelsOf() {
  std::vector<Kernel> kernels;
  kernels.push_back({.name = "shifts", .run = RunShifts<kPass>, .prepare = PrepareShifts<kPass>});
  if (kPass == kWeight && inner::internal::HasTiles()) {
    kernels.push_back({.name = "tiles", .run = RunTiles, .prepare = PrepareTiles});
  }
  const std::vector<Kernel>& fast = FastKernels<kPass, kDims>();
  kernels.insert(kernels.end(), fast.begin(), fast.end());
  kernels.push_back(InF32<FastKernels<kPass, kDims>>());
  kernels.push_back(LoopKernel<kPass>());
  return kernels;
}

template <ConvPass kPass>
std::vector<Kernel> KernelsOf(int dims) {
  if (dims == 1) return KernelsOf<kPass, 1>();
  return dims == 2 ? KernelsOf<kPass, 2>() : KernelsOf<kPass, 3>();
}

}  // namespace

std::vector<Kernel> ConvKernels(ConvPass pass, int dims) {
  if (pass == kForward) return KernelsOf<kForward>(dims);
  return pass == kData ? KernelsOf<kData>(dims) : KernelsOf<kWeight>(dims);
}

}  // namespace firn::cpu

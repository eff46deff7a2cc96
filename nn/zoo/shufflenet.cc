// Names count activations too, though they are no layers here: a norm applies the activation behind
// it. Channels are dealt out behind the convolution of 3x3, while the paper deals them before it:
// that convolution works on each channel alone, so only the order of its weights differs. They go
// to the groups in turn, the first to the first group, the second to the second one.
#include "firn/nn/zoo/shufflenet.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/conv_norm.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/rearrange.h"

namespace firn::zoo {
namespace {

using Layers = std::vector<nn::LayerSpec>;

void AddNormed(Layers& layers, int at, const nn::ConvOptions& conv, FusedActivation activation) {
  layers.emplace_back(absl::StrCat(at), nn::New<nn::Conv2d>(conv));
  layers.emplace_back(absl::StrCat(at + 1),
                      nn::New<nn::BatchNorm2d>({.channels = conv.out, .activation = activation}));
}

Layers Narrow(const ShufflenetUnitOptions& o) {
  const int64_t inner = o.out / 4;
  Layers layers;
  AddNormed(layers, 0, PaddedConv(o.in, inner, 1, 1, o.in_groups), FusedActivation::kRelu);
  AddNormed(layers, 3, PaddedConv(inner, inner, 3, o.stride, inner), FusedActivation::kNone);
  return layers;
}

Layers Wide(const ShufflenetUnitOptions& o) {
  const bool beside = o.stride != 1;
  Layers layers;
  AddNormed(layers, 0, PaddedConv(o.out / 4, beside ? o.out - o.in : o.out, 1, 1, o.out_groups),
            beside ? FusedActivation::kRelu : FusedActivation::kNone);
  return layers;
}

Layers Stem(int64_t out) {
  Layers layers;
  AddNormed(layers, 0, PaddedConv(3, out, 3, 2, 1), FusedActivation::kRelu);
  return layers;
}

Layers Units(const ShufflenetOptions& o) {
  Layers layers;
  for (size_t stage = 1; stage < 4; ++stage) {
    const int64_t before = o.channels[stage - 1], out = o.channels[stage];
    const int units = stage == 2 ? 8 : 4;
    for (int i = 0; i < units; ++i) {
      layers.push_back(nn::New<ShufflenetUnit>({.in = i == 0 ? before : out,
                                                .out = out,
                                                .stride = i == 0 ? 2 : 1,
                                                .in_groups = stage == 1 && i == 0 ? 1 : o.groups,
                                                .out_groups = o.groups}));
    }
  }
  return layers;
}

ShufflenetOptions Checked(const ShufflenetOptions& o) {
  const std::vector<int64_t>& c = o.channels;
  bool right = o.groups > 0 && c.size() == 4 && c[0] > 0;
  for (size_t i = 1; right && i < c.size(); ++i) {
    right = c[i] > c[i - 1] && c[i] % 4 == 0 && c[i] / 4 % o.groups == 0 &&
            (c[i] - c[i - 1]) % o.groups == 0;
  }
  if (!right) {
    RaiseStatus(InvalidArgument("expected four growing numbers of channels, those of stages "
                                "multiples of four times the groups, got [",
                                absl::StrJoin(c, ", "), "] and ", o.groups, " groups"),
                "zoo::Shufflenet");
  }
  return o;
}

}  // namespace

ShufflenetUnit::ShufflenetUnit(const Options& options)
    : LayerWithOptions(options),
      branch_main_1_(Add<nn::Sequential>("branch_main_1", Narrow(options))),
      branch_main_2_(Add<nn::Sequential>("branch_main_2", Wide(options))) {}

Tensor ShufflenetUnit::Forward(const Tensor& x) {
  const int64_t of_a_group = options().out / 4 / options().out_groups;
  const Tensor y = branch_main_2_(ChannelShuffle(branch_main_1_(x), of_a_group));
  if (options().stride == 1) return Relu(y + x);
  const Tensor means = AvgPool2d(x, {.kernel = 3, .stride = options().stride, .padding = 1});
  return Concat({means, y}, 1);
}

Shufflenet::Shufflenet(const Options& options)
    : LayerWithOptions(Checked(options)),
      first_conv_(Add<nn::Sequential>("first_conv", Stem(options.channels[0]))),
      features_(Add<nn::Sequential>("features", Units(options))),
      classifier_(Add<nn::Sequential>(
          "classifier", {nn::New<nn::Linear>({.in = options.channels[3],
                                              .out = options.classes,
                                              .bias = false,
                                              .weight_init = nn::init::Normal(0, 0.01)})})) {}

Tensor Shufflenet::Forward(const Tensor& x) {
  const Tensor h = MaxPool2d(first_conv_(x), {.kernel = 3, .stride = 2, .padding = 1});
  return classifier_(Mean(features_(h), {2, 3}));
}

namespace {

const PublishedClassifiers<ShufflenetOptions>& All() {
  static const auto* const all = new PublishedClassifiers<ShufflenetOptions>{
      {"shufflenet_x0_5", {{.channels = {12, 120, 240, 480}}, 717'324, 0.038}},
      {"shufflenet_x1_0", {{}, 1'864'728, 0.138}},
      {"shufflenet_x1_5", {{.channels = {24, 360, 720, 1440}}, 3'441'168, 0.292}},
      {"shufflenet_x2_0", {{.channels = {48, 480, 960, 1920}}, 5'449'776, 0.524}},
  };
  return *all;
}

}  // namespace

ShufflenetOptions ShufflenetOf(const std::string& name, const Options& options) {
  ShufflenetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  return of;
}

std::vector<Network> ShufflenetNetworks() {
  std::vector<Network> networks = ClassifiersOf<Shufflenet>(
      All(), ShufflenetOf,
      "Zhang et al., \"ShuffleNet: an extremely efficient convolutional neural network for mobile "
      "devices\", 2017");
  for (Network& n : networks) n.origin = "the authors' ShuffleNetV1 (group=3)";
  return networks;
}

}  // namespace firn::zoo

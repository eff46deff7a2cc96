// Names count activations too, though they are no layers here: a norm applies the activation behind
// it.
#include "firn/nn/zoo/shufflenet_v2.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/rearrange.h"
#include "firn/tensor/ops/shape/split.h"

namespace firn::zoo {
namespace {

using Layers = std::vector<nn::LayerSpec>;

void AddNormed(Layers& layers, int at, const nn::ConvOptions& conv, FusedActivation activation) {
  layers.emplace_back(absl::StrCat(at), nn::New<nn::Conv2d>(conv));
  layers.emplace_back(absl::StrCat(at + 1),
                      nn::New<nn::BatchNorm2d>({.channels = conv.out, .activation = activation}));
}

nn::ConvOptions Dense(int64_t in, int64_t out) {
  return {.in = in, .out = out, .kernel = 1, .bias = false};
}

nn::ConvOptions Spatial(int64_t in, int64_t out, int64_t stride, int64_t groups) {
  return {.in = in,
          .out = out,
          .kernel = 3,
          .stride = stride,
          .padding = 1,
          .groups = groups,
          .bias = false};
}

Layers Branch1(const ShufflenetV2UnitOptions& o) {
  Layers layers;
  AddNormed(layers, 0, Spatial(o.in, o.in, o.stride, o.in), FusedActivation::kNone);
  AddNormed(layers, 2, Dense(o.in, o.out / 2), FusedActivation::kRelu);
  return layers;
}

Layers Branch2(const ShufflenetV2UnitOptions& o) {
  const int64_t half = o.out / 2;
  Layers layers;
  AddNormed(layers, 0, Dense(o.stride == 1 ? half : o.in, half), FusedActivation::kRelu);
  AddNormed(layers, 3, Spatial(half, half, o.stride, half), FusedActivation::kNone);
  AddNormed(layers, 5, Dense(half, half), FusedActivation::kRelu);
  return layers;
}

Layers Outer(const nn::ConvOptions& conv) {
  Layers layers;
  AddNormed(layers, 0, conv, FusedActivation::kRelu);
  return layers;
}

ShufflenetV2Options Checked(const ShufflenetV2Options& options) {
  const std::vector<int64_t>& c = options.channels;
  bool right = c.size() == 5;
  for (size_t i = 0; i < c.size(); ++i) {
    const bool stage = i > 0 && i < 4;
    right = right && c[i] > 0 && (!stage || c[i] % 2 == 0);
  }
  if (!right) {
    RaiseStatus(InvalidArgument("expected five positive numbers of channels, the middle three "
                                "even, got [",
                                absl::StrJoin(c, ", "), "]"),
                "zoo::ShufflenetV2");
  }
  return options;
}

}  // namespace

ShufflenetV2Unit::ShufflenetV2Unit(const Options& options)
    : LayerWithOptions(options),
      branch1_(options.stride == 1 ? nullptr : &Add<nn::Sequential>("branch1", Branch1(options))),
      branch2_(Add<nn::Sequential>("branch2", Branch2(options))) {}

Tensor ShufflenetV2Unit::Forward(const Tensor& x) {
  if (branch1_ != nullptr) return ChannelShuffle(Concat({(*branch1_)(x), branch2_(x)}, 1), 2);
  const std::vector<Tensor> halves = Chunk(x, 2, 1);
  return ChannelShuffle(Concat({halves[0], branch2_(halves[1])}, 1), 2);
}

ShufflenetV2::ShufflenetV2(const Options& options)
    : LayerWithOptions(Checked(options)),
      conv1_(Add<nn::Sequential>("conv1", Outer(Spatial(3, options.channels[0], 2, 1)))),
      stages_({&AddStage(1), &AddStage(2), &AddStage(3)}),
      conv5_(Add<nn::Sequential>("conv5", Outer(Dense(options.channels[3], options.channels[4])))),
      fc_(Add<nn::Linear>("fc", {.in = options.channels[4], .out = options.classes})) {}

nn::Sequential& ShufflenetV2::AddStage(size_t stage) {
  const std::vector<int64_t>& channels = options().channels;
  nn::Sequential& units = Add<nn::Sequential>(absl::StrCat("stage", stage + 1));
  units.Append<ShufflenetV2Unit>({.in = channels[stage - 1], .out = channels[stage], .stride = 2});
  const int more = stage == 2 ? 7 : 3;
  for (int i = 0; i < more; ++i) {
    units.Append<ShufflenetV2Unit>({.in = channels[stage], .out = channels[stage]});
  }
  return units;
}

Tensor ShufflenetV2::Forward(const Tensor& x) {
  Tensor h = MaxPool2d(conv1_(x), {.kernel = 3, .stride = 2, .padding = 1});
  for (nn::Sequential* stage : stages_) h = (*stage)(h);
  return fc_(Mean(conv5_(h), {2, 3}));
}

namespace {

const PublishedClassifiers<ShufflenetV2Options>& All() {
  static const auto* const all = new PublishedClassifiers<ShufflenetV2Options>{
      {"shufflenet_v2_x0_5", {{.channels = {24, 48, 96, 192, 1024}}, 1'366'792, 0.04}},
      {"shufflenet_v2_x1_0", {{.channels = {24, 116, 232, 464, 1024}}, 2'278'604, 0.145}},
      {"shufflenet_v2_x1_5", {{.channels = {24, 176, 352, 704, 1024}}, 3'503'624, 0.296}},
      {"shufflenet_v2_x2_0", {{.channels = {24, 244, 488, 976, 2048}}, 7'393'996, 0.583}},
  };
  return *all;
}

}  // namespace

ShufflenetV2Options ShufflenetV2Of(const std::string& name, const Options& options) {
  ShufflenetV2Options of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  return of;
}

std::vector<Network> ShufflenetV2Networks() {
  return ClassifiersOf<ShufflenetV2>(
      All(), ShufflenetV2Of,
      "Ma et al., \"ShuffleNet V2: practical guidelines for efficient CNN architecture design\", "
      "2018");
}

}  // namespace firn::zoo

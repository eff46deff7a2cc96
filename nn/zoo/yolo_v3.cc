// From the coarsest grid on, a head's result goes up to the next grid: it is made twice as large
// and joined to Darknet-53's result of that size.
#include "firn/nn/zoo/yolo_v3.h"

#include <array>
#include <map>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/vision/interpolate.h"

namespace firn::zoo {
namespace {

constexpr std::array<int64_t, 5> kUnits = {1, 2, 8, 8, 4};

Tensor Leaky(const Tensor& x) { return LeakyRelu(x, 0.1); }

ConvNormOptions ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  return {.in = in, .out = out, .kernel = kernel, .stride = stride, .activation = Leaky};
}

std::vector<nn::LayerSpec> HeadConvs(const YoloV3HeadOptions& o) {
  std::vector<nn::LayerSpec> layers;
  for (int i = 0; i < 5; ++i) {
    const int64_t in = i == 0 ? o.in : i % 2 == 0 ? 2 * o.channels : o.channels;
    layers.push_back(
        nn::New<ConvNorm>(i % 2 == 0 ? ConvOf(in, o.channels, 1) : ConvOf(in, 2 * o.channels, 3)));
  }
  return layers;
}

YoloV3Options Checked(const YoloV3Options& o) {
  bool right = o.grids.size() == 3;
  for (size_t i = 0; right && i < 3; ++i) {
    right = o.grids[i].stride == 32 >> i && !o.grids[i].anchors.empty();
  }
  if (!right) {
    RaiseStatus(InvalidArgument("expected three grids with cells of 32, 16 and 8 pixels, each with "
                                "anchors, got ",
                                o.grids.size()),
                "zoo::YoloV3");
  }
  return o;
}

}  // namespace

DarknetUnit::DarknetUnit(const Options& options)
    : LayerWithOptions(options),
      conv1_(Add<ConvNorm>("conv1", ConvOf(options.in, options.in / 2, 1))),
      conv2_(Add<ConvNorm>("conv2", ConvOf(options.in / 2, options.in, 3))) {}

Tensor DarknetUnit::Forward(const Tensor& x) { return x + conv2_(conv1_(x)); }

YoloV3Head::YoloV3Head(const Options& options)
    : LayerWithOptions(options),
      convs_(Add<nn::Sequential>("convs", HeadConvs(options))),
      out_(Add<ConvNorm>("out", ConvOf(options.channels, 2 * options.channels, 3))),
      predict_(Add<nn::Conv2d>("predict", {.in = 2 * options.channels, .out = options.predicted})) {
}

YoloV3::YoloV3(const Options& options)
    : LayerWithOptions(Checked(options)),
      stem_(Add<ConvNorm>("stem", ConvOf(3, 32, 3))),
      stages_(Add<nn::ModuleList<nn::Sequential>>("stages")),
      heads_(Add<nn::ModuleList<YoloV3Head>>("heads")),
      laterals_(Add<nn::ModuleList<ConvNorm>>("laterals")) {
  int64_t in = 32;
  for (const int64_t units : kUnits) {
    std::vector<nn::LayerSpec> stage = {nn::New<ConvNorm>(ConvOf(in, 2 * in, 3, 2))};
    in *= 2;
    stage.insert(stage.end(), static_cast<size_t>(units), nn::New<DarknetUnit>({.in = in}));
    stages_.Append(stage);
  }
  for (size_t i = 0; i < 3; ++i) {
    const int64_t channels = 512 >> i;
    const auto anchors = static_cast<int64_t>(options.grids[i].anchors.size());
    heads_.Append({.in = i == 0 ? 1024 : 3 * channels,
                   .channels = channels,
                   .predicted = anchors * (5 + options.classes)});
    if (i < 2) laterals_.Append(ConvOf(channels, channels / 2, 1));
  }
}

Tensor YoloV3::Forward(const Tensor& x) {
  if (x.rank() != 4 || x.size(2) % 32 != 0 || x.size(3) % 32 != 0) {
    RaiseStatus(InvalidArgument("expected images [n, 3, h, w] with sides that 32 divides, got ",
                                x.shape().ToString()),
                "zoo::YoloV3");
  }
  std::vector<Tensor> made = {stem_(x)};
  for (nn::Sequential& stage : stages_) made.push_back(stage(made.back()));
  std::vector<Tensor> rows;
  Tensor h = made.back();
  for (size_t i = 0; i < 3; ++i) {
    const Tensor features = heads_[i].Features(h);
    rows.push_back(BoxRows(heads_[i].Predict(features),
                           static_cast<int64_t>(options().grids[i].anchors.size())));
    if (i == 2) break;
    h = Interpolate(laterals_[i](features), {.scale_factor = {2}});
    h = Concat({h, made[kUnits.size() - 1 - i]}, 1);
  }
  return Concat(rows, 1);
}

ScoredBoxes YoloV3::Boxes(const Tensor& predicted, int64_t height, int64_t width) const {
  return YoloBoxes(predicted, options().grids, height, width, false);
}

namespace {

const std::map<std::string, YoloV3Options>& All() {
  static const auto* const all = new std::map<std::string, YoloV3Options>{{"yolo_v3", {}}};
  return *all;
}

}  // namespace

YoloV3Options YoloV3Of(const std::string& name, const Options& options) {
  YoloV3Options of = FindPublished(All(), name);
  of.classes = ClassesOr(options, of.classes);
  return of;
}

std::vector<Network> YoloV3Networks() {
  return {{.name = "yolo_v3",
           .paper = "Redmon and Farhadi, \"YOLOv3: an incremental improvement\", 2018",
           .inputs = {Image(416)},
           .classes = 80,
           .class_set = "coco",
           .parameters = 61'949'149,
           .giga_multiply_adds = 32.93,  // half of the 65.86 Bn of Darknet's page
           .of_pixels_or_boxes = true,
           .make = MakerOf<YoloV3>(YoloV3Of, "yolo_v3")}};
}

}  // namespace firn::zoo

// MobileNet v3's last stage has half its channels here (table 6 of its paper), and is cut behind
// its first expansion, whose result is the first grid.
#include "firn/nn/zoo/ssdlite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "firn/device/status_macros.h"
#include "firn/nn/conv.h"
#include "firn/nn/init.h"
#include "firn/nn/zoo/conv_norm.h"
#include "firn/nn/zoo/inverted_residual.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

constexpr double kEps = 1e-3, kMomentum = 0.03;  // of the norms
constexpr std::array<int64_t, 6> kChannels = {672, 480, 512, 256, 256, 128};
constexpr int64_t kBoxes = 6;  // of each place

struct Unit {
  int64_t kernel, expanded, out;
  bool squeezes, hard;  // hard: Hardswish, else Relu
  int64_t stride;
};
// The parts before and behind the place where the network is cut.
constexpr Unit kBefore[] = {
    {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
    {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
    {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
    {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1}};
constexpr Unit kBehind[] = {{5, 480, 80, true, true, 1}, {5, 480, 80, true, true, 1}};

ConvNormOptions ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups,
                       ActivationFunction activation) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .groups = groups,
          .activation = activation,
          .eps = kEps,
          .momentum = kMomentum,
          .weight_init = nn::init::Normal(0, 0.03)};
}

SqueezeExcitationOptions GateOf(int64_t channels) {
  return {.channels = channels,
          .squeezed = RoundChannels(static_cast<double>(channels) / 4),
          .gate = HardGate};
}

nn::LayerSpec Residual(int64_t in, const Unit& unit) {
  return nn::New<InvertedResidual>({.in = in,
                                    .expanded = unit.expanded,
                                    .out = unit.out,
                                    .kernel = unit.kernel,
                                    .stride = unit.stride,
                                    .squeezed = unit.squeezes ? GateOf(unit.expanded).squeezed : 0,
                                    .activation = unit.hard ? Hardswish : Relu,
                                    .gate = HardGate,
                                    .eps = kEps,
                                    .momentum = kMomentum});
}

std::vector<nn::LayerSpec> Before() {
  std::vector<nn::LayerSpec> layers = {nn::New<ConvNorm>(ConvOf(3, 16, 3, 2, 1, Hardswish))};
  int64_t in = 16;
  for (const Unit& unit : kBefore) {
    layers.push_back(Residual(in, unit));
    in = unit.out;
  }
  layers.push_back(nn::New<ConvNorm>(ConvOf(in, kChannels[0], 1, 1, 1, Hardswish)));
  return layers;
}

std::vector<nn::LayerSpec> Behind() {
  const int64_t expanded = kChannels[0];
  const std::vector<nn::LayerSpec> rest = {
      {"1", nn::New<ConvNorm>(ConvOf(expanded, expanded, 5, 2, expanded, Hardswish))},
      {"2", nn::New<SqueezeExcitation>(GateOf(expanded))},
      {"3", nn::New<ConvNorm>(ConvOf(expanded, 80, 1, 1, 1, nullptr))}};
  std::vector<nn::LayerSpec> layers = {nn::New<nn::Sequential>(rest)};
  for (const Unit& unit : kBehind) layers.push_back(Residual(80, unit));
  layers.push_back(nn::New<ConvNorm>(ConvOf(80, kChannels[1], 1, 1, 1, Hardswish)));
  return layers;
}

std::vector<nn::LayerSpec> Extra(int64_t in, int64_t out) {
  const int64_t inner = out / 2;
  return {nn::New<ConvNorm>(ConvOf(in, inner, 1, 1, 1, Relu6)),
          nn::New<ConvNorm>(ConvOf(inner, inner, 3, 2, inner, Relu6)),
          nn::New<ConvNorm>(ConvOf(inner, out, 1, 1, 1, Relu6))};
}

std::vector<nn::LayerSpec> Predictor(int64_t channels, int64_t numbers) {
  return {nn::New<ConvNorm>(ConvOf(channels, channels, 3, 1, channels, Relu6)),
          nn::New<nn::Conv2d>({.in = channels,
                               .out = kBoxes * numbers,
                               .weight_init = nn::init::Normal(0, 0.03),
                               .bias_init = nn::init::Constant(0)})};
}

}  // namespace

SsdliteBackbone::SsdliteBackbone()
    : features_(Add<nn::ModuleList<nn::Sequential>>("features")),
      extra_(Add<nn::ModuleList<nn::Sequential>>("extra")) {
  features_.Append(Before());
  features_.Append(Behind());
  for (size_t i = 2; i < kChannels.size(); ++i) {
    extra_.Append(Extra(kChannels[i - 1], kChannels[i]));
  }
}

std::vector<Tensor> SsdliteBackbone::Features(const Tensor& x) {
  std::vector<Tensor> made;
  for (nn::Sequential& part : features_) made.push_back(part(made.empty() ? x : made.back()));
  for (nn::Sequential& part : extra_) made.push_back(part(made.back()));
  return made;
}

SsdliteHead::SsdliteHead(int64_t numbers)
    : module_list_(Add<nn::ModuleList<nn::Sequential>>("module_list")) {
  for (const int64_t channels : kChannels) module_list_.Append(Predictor(channels, numbers));
}

Tensor SsdliteHead::Predict(const std::vector<Tensor>& features) {
  std::vector<Tensor> rows;
  for (size_t i = 0; i < features.size(); ++i) {
    rows.push_back(BoxRows(module_list_[i](features[i]), kBoxes));
  }
  return Concat(rows, 1);
}

struct Ssdlite::Heads final : nn::Module {
  explicit Heads(int64_t classes)
      : classification(Add<SsdliteHead>("classification_head", classes)),
        regression(Add<SsdliteHead>("regression_head", int64_t{4})) {}

  SsdliteHead& classification;
  SsdliteHead& regression;
};

Ssdlite::Ssdlite(const Options& options)
    : LayerWithOptions(options),
      backbone_(Add<SsdliteBackbone>("backbone")),
      head_(Add<Heads>("head", options.classes)) {}

Tensor Ssdlite::Forward(const Tensor& x) {
  const std::vector<Tensor> features = backbone_.Features(x);
  return Concat({head_.regression.Predict(features), head_.classification.Predict(features)}, 2);
}

namespace {

// The sides of a default box, with the image's as 1.
struct Size {
  double width, height;
};

// The boxes of grid i's places: squares of its scale and of one between it and the next, and four
// of other shapes.
std::vector<Size> DefaultSizes(size_t i) {
  const auto scale = [](size_t grid) {
    return grid == kChannels.size() ? 1.0 : 0.2 + 0.75 * static_cast<double>(grid) / 5;
  };
  const double s = scale(i), between = std::sqrt(s * scale(i + 1));
  std::vector<Size> sizes = {{s, s}, {between, between}};
  for (const double ratio : {2.0, 3.0}) {
    const double root = std::sqrt(ratio);
    sizes.push_back({s * root, s / root});
    sizes.push_back({s / root, s * root});
  }
  for (Size& size : sizes) size = {std::min(size.width, 1.0), std::min(size.height, 1.0)};
  return sizes;
}

// Corners of one default box's predictions, in pixels, within the image.
// x: [n, h, w, 4 + classes]      y: [n, h, w, 4]
Tensor Corners(const Tensor& x, const Size& box, double height, double width) {
  const double most = std::log(1000.0 / 16);  // sizes differ by no more
  const auto rows = static_cast<double>(x.size(1)), columns = static_cast<double>(x.size(2));
  const Tensor middle_x =
      Select(x, 3, 0) * (box.width / 10) + (GridColumns(x.size(2), x) + 0.5) / columns;
  const Tensor middle_y =
      Select(x, 3, 1) * (box.height / 10) + (GridRows(x.size(1), x) + 0.5) / rows;
  const Tensor half_x = Exp(Minimum(Select(x, 3, 2) / 5, most)) * (box.width / 2);
  const Tensor half_y = Exp(Minimum(Select(x, 3, 3) / 5, most)) * (box.height / 2);
  const auto pixels = [](const Tensor& at, double side) { return Clamp(at * side, 0, side); };
  return Stack({pixels(middle_x - half_x, width), pixels(middle_y - half_y, height),
                pixels(middle_x + half_x, width), pixels(middle_y + half_y, height)},
               3);
}

}  // namespace

ScoredBoxes Ssdlite::Boxes(const Tensor& predicted, int64_t height, int64_t width) const {
  std::vector<Tensor> boxes;
  int64_t rows = (height + 15) / 16, columns = (width + 15) / 16, at = 0;
  for (size_t i = 0; i < kChannels.size(); ++i) {
    const int64_t count = rows * columns * kBoxes;
    if (predicted.rank() != 3 || predicted.size(2) != 4 + options().classes ||
        predicted.size(1) < at + count) {
      RaiseStatus(InvalidArgument("expected predictions [n, boxes, ", 4 + options().classes,
                                  "] of images of ", height, " by ", width, " pixels, got ",
                                  predicted.shape().ToString()),
                  "zoo::Ssdlite::Boxes");
    }
    const Tensor cells = Reshape(Narrow(predicted, 1, at, count),
                                 {predicted.size(0), rows, columns, kBoxes, predicted.size(2)});
    std::vector<Tensor> corners;
    const std::vector<Size> sizes = DefaultSizes(i);
    for (size_t box = 0; box < sizes.size(); ++box) {
      corners.push_back(Corners(Select(cells, 3, static_cast<int64_t>(box)), sizes[box],
                                static_cast<double>(height), static_cast<double>(width)));
    }
    boxes.push_back(Reshape(Stack(corners, 3), {predicted.size(0), count, 4}));
    at += count;
    rows = (rows + 1) / 2;
    columns = (columns + 1) / 2;
  }
  if (at != predicted.size(1)) {
    RaiseStatus(InvalidArgument("expected predictions of ", at, " boxes for images of ", height,
                                " by ", width, " pixels, got ", predicted.size(1)),
                "zoo::Ssdlite::Boxes");
  }
  const Tensor scores = Softmax(Narrow(predicted, 2, 4, options().classes), 2);
  return {Concat(boxes, 1), Narrow(scores, 2, 1, options().classes - 1)};
}

namespace {

const std::map<std::string, SsdliteOptions>& All() {
  static const auto* const all =
      new std::map<std::string, SsdliteOptions>{{"ssdlite320_mobilenet_v3_large", {}}};
  return *all;
}

}  // namespace

SsdliteOptions SsdliteOf(const std::string& name, const Options& options) {
  SsdliteOptions of = FindPublished(All(), name);
  of.classes = ClassesOr(options, of.classes);
  return of;
}

std::vector<Network> SsdliteNetworks() {
  const char* const name = "ssdlite320_mobilenet_v3_large";
  return {{.name = name,
           .paper = "Liu et al., \"SSD: single shot multibox detector\", 2015; Howard et al., "
                    "\"Searching for MobileNetV3\", 2019",
           .origin = "torchvision.models.detection.ssdlite320_mobilenet_v3_large",
           .inputs = {Image(320)},
           .classes = 91,
           .class_set = "coco_91",
           .colours = {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
           .parameters = 3'440'060,
           .giga_multiply_adds = 0.583,
           .of_pixels_or_boxes = true,
           .make = MakerOf<Ssdlite>(SsdliteOf, name)}};
}

}  // namespace firn::zoo

// The 26x26 places before the last pooling pass it by: four neighbours become one place of four
// times as many channels (PixelUnshuffle; the authors' reorg has the same numbers in another
// order).
#include "firn/nn/zoo/yolo_v2.h"

#include <map>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/rearrange.h"

namespace firn::zoo {
namespace {

constexpr int64_t kStride = 32;

Tensor Leaky(const Tensor& x) { return LeakyRelu(x, 0.1); }

// Channels of Darknet-19's stages, between which is pooling; convolutions are 3x3 and 1x1 in turn.
const std::vector<std::vector<int64_t>>& Stages() {
  static const auto* const stages =
      new std::vector<std::vector<int64_t>>{{32},
                                            {64},
                                            {128, 64, 128},
                                            {256, 128, 256},
                                            {512, 256, 512, 256, 512},
                                            {1024, 512, 1024, 512, 1024}};
  return *stages;
}

ConvNormOptions ConvOf(int64_t in, int64_t out, int64_t kernel) {
  return {.in = in, .out = out, .kernel = kernel, .activation = Leaky};
}

int64_t Predicted(const YoloV2Options& o) {
  if (o.anchors.empty()) RaiseStatus(InvalidArgument("expected anchors, got none"), "zoo::YoloV2");
  return static_cast<int64_t>(o.anchors.size()) * (5 + o.classes);
}

}  // namespace

YoloV2::YoloV2(const Options& options)
    : LayerWithOptions(options),
      darknet_(Add<nn::ModuleList<ConvNorm>>("darknet")),
      head_(Add<nn::ModuleList<ConvNorm>>("head", {ConvOf(1024, 1024, 3), ConvOf(1024, 1024, 3)})),
      passthrough_(Add<ConvNorm>("passthrough", ConvOf(512, 64, 1))),
      merge_(Add<ConvNorm>("merge", ConvOf(1024 + 4 * 64, 1024, 3))),
      predict_(Add<nn::Conv2d>("predict", {.in = 1024, .out = Predicted(options)})) {
  int64_t in = 3;
  for (const std::vector<int64_t>& stage : Stages()) {
    for (size_t i = 0; i < stage.size(); ++i) {
      darknet_.Append(ConvOf(in, stage[i], i % 2 == 0 ? 3 : 1));
      in = stage[i];
    }
  }
}

Tensor YoloV2::Forward(const Tensor& x) {
  if (x.rank() != 4 || x.size(2) % kStride != 0 || x.size(3) % kStride != 0) {
    RaiseStatus(InvalidArgument("expected images [n, 3, h, w] with sides that ", kStride,
                                " divides, got ", x.shape().ToString()),
                "zoo::YoloV2");
  }
  Tensor h = x, fine;
  size_t at = 0;
  for (const std::vector<int64_t>& stage : Stages()) {
    if (at > 0) {
      fine = h;
      h = MaxPool2d(h, 2);
    }
    for (size_t i = 0; i < stage.size(); ++i) h = darknet_[at++](h);
  }
  for (ConvNorm& conv : head_) h = conv(h);
  h = merge_(Concat({PixelUnshuffle(passthrough_(fine), 2), h}, 1));
  return BoxRows(predict_(h), static_cast<int64_t>(options().anchors.size()));
}

ScoredBoxes YoloV2::Boxes(const Tensor& predicted, int64_t height, int64_t width) const {
  YoloGrid grid = {.stride = kStride, .anchors = options().anchors};
  for (std::array<double, 2>& anchor : grid.anchors) {
    for (double& side : anchor) side *= kStride;
  }
  return YoloBoxes(predicted, {grid}, height, width, true);
}

namespace {

const std::map<std::string, YoloV2Options>& All() {
  static const auto* const all =
      new std::map<std::string, YoloV2Options>{{"yolo_v2", {}},
                                               {"yolo_v2_voc",
                                                {.classes = 20,
                                                 .anchors = {{1.3221, 1.73145},
                                                             {3.19275, 4.00944},
                                                             {5.05587, 8.09892},
                                                             {9.47112, 4.84053},
                                                             {11.2364, 10.0071}}}}};
  return *all;
}

Network Of(const char* name, const char* class_set, int64_t parameters, double giga = 0) {
  return {.name = name,
          .paper = "Redmon and Farhadi, \"YOLO9000: better, faster, stronger\", 2016",
          .inputs = {Image(416)},
          .classes = All().at(name).classes,
          .class_set = class_set,
          .parameters = parameters,
          .giga_multiply_adds = giga,
          .of_pixels_or_boxes = true,
          .make = MakerOf<YoloV2>(YoloV2Of, name)};
}

}  // namespace

YoloV2Options YoloV2Of(const std::string& name, const Options& options) {
  YoloV2Options of = FindPublished(All(), name);
  of.classes = ClassesOr(options, of.classes);
  return of;
}

std::vector<Network> YoloV2Networks() {
  // Darknet's page has 62.94 Bn operations, two for a multiply-add, for 608x608 pixels. Its number
  // for VOC, 59.68 Bn for 544x544, does not agree with the count, 50.21.
  return {Of("yolo_v2", "coco", 50'962'889, 14.73), Of("yolo_v2_voc", "voc", 50'655'389)};
}

}  // namespace firn::zoo

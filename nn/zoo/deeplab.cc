// Strides of the last stages become dilations until the output stride is reached; the pyramid's
// rates are for an output stride of 16, and grow in proportion for smaller ones.
#include "firn/nn/zoo/deeplab.h"

#include <array>
#include <map>

#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/vision/interpolate.h"

namespace firn::zoo {
namespace {

constexpr int64_t kNarrow = 48;

using Layers = std::vector<nn::LayerSpec>;

// A convolution that keeps the size, and its norm, which applies relu.
Layers ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t rate = 1) {
  return {nn::New<nn::Conv2d>({.in = in,
                               .out = out,
                               .kernel = kernel,
                               .padding = kernel / 2 * rate,
                               .dilation = rate,
                               .bias = false}),
          nn::New<nn::BatchNorm2d>({.channels = out, .activation = FusedActivation::kRelu})};
}

// A convolution of 3x3, separable in a network whose backbone's are.
Layers ConvOf3(bool separable, int64_t in, int64_t out, int64_t rate = 1) {
  return separable ? NormedSeparable({.in = in, .out = out, .rate = rate})
                   : ConvOf(in, out, 3, rate);
}

Layers Joined(Layers layers, const Layers& more) {
  layers.insert(layers.end(), more.begin(), more.end());
  return layers;
}

DeeplabOptions Checked(const DeeplabOptions& o) {
  if (o.output_stride != 8 && o.output_stride != 16 && o.output_stride != 32) {
    RaiseStatus(InvalidArgument("expected an output stride of 8, 16 or 32, got ", o.output_stride),
                "zoo::Deeplab");
  }
  return o;
}

ResnetOptions Backbone(const DeeplabOptions& o) {
  return {.units = o.units,
          .bottleneck = true,
          .classes = 0,
          .dilated = {false, o.output_stride < 16, o.output_stride < 32}};
}

AtrousPyramidOptions Pyramid(const DeeplabOptions& o) {
  AtrousPyramidOptions pyramid = {.separable = o.xception, .dropout = o.dropout};
  for (int64_t& rate : pyramid.rates) rate = rate * 16 / o.output_stride;
  return pyramid;
}

// Bilinear, to the size of `like`.
Tensor Enlarged(const Tensor& x, const Tensor& like) {
  return Interpolate(x, {.size = {like.size(2), like.size(3)}, .mode = InterpolateMode::kLinear});
}

}  // namespace

AtrousPyramid::AtrousPyramid(const Options& options)
    : LayerWithOptions(options),
      convs_(Add<nn::ModuleList<nn::Sequential>>("convs")),
      project_(Add<nn::Sequential>(
          "project",
          Joined(
              ConvOf(static_cast<int64_t>(options.rates.size() + 2) * options.out, options.out, 1),
              {nn::New<nn::Identity>(), nn::New<nn::Dropout>({.p = options.dropout})}))) {
  convs_.Append(ConvOf(options.in, options.out, 1));
  for (const int64_t rate : options.rates) {
    convs_.Append(ConvOf3(options.separable, options.in, options.out, rate));
  }
  convs_.Append(Joined({[](const Tensor& x) {
                         return Mean(x, {2, 3}, true);
                       }},
                       ConvOf(options.in, options.out, 1)));
}

Tensor AtrousPyramid::Forward(const Tensor& x) {
  std::vector<Tensor> made;
  for (nn::Sequential& conv : convs_) made.push_back(conv(x));
  made.back() = Expand(made.back(), {-1, -1, x.size(2), x.size(3)});
  return project_(Concat(made, 1));
}

Deeplab::Deeplab(const Options& options)
    : LayerWithOptions(Checked(options)),
      resnet_(options.xception ? nullptr : &Add<Resnet>("backbone", Backbone(options))),
      xception_(options.xception
                    ? &Add<Xception65>("backbone", {.middle = options.middle,
                                                    .output_stride = options.output_stride})
                    : nullptr),
      aspp_(Add<AtrousPyramid>("aspp", Pyramid(options))),
      low_(Add<nn::Sequential>("low", ConvOf(256, kNarrow, 1))),
      classifier_(Add<nn::Sequential>(
          "classifier", Joined(Joined(ConvOf3(options.xception, 256 + kNarrow, 256),
                                      ConvOf3(options.xception, 256, 256)),
                               {nn::New<nn::Conv2d>({.in = 256, .out = options.classes})}))) {}

Tensor Deeplab::Forward(const Tensor& x) {
  Tensor fine, coarse;
  if (xception_ != nullptr) {
    const std::array<Tensor, 2> stages = xception_->Stages(x);
    fine = stages[0], coarse = stages[1];
  } else {
    const std::array<Tensor, 4> stages = resnet_->Stages(x);
    fine = stages[0], coarse = stages[3];
  }
  const Tensor low = low_(fine);
  const Tensor scores = classifier_(Concat({Enlarged(aspp_(coarse), low), low}, 1));
  return Enlarged(scores, x);
}

namespace {

constexpr char kResnet[] = "deeplab_v3_plus_resnet50", kXception[] = "deeplab_v3_plus_xception65";

const std::map<std::string, DeeplabOptions>& All() {
  static const auto* const all = new std::map<std::string, DeeplabOptions>{
      {kResnet, {}}, {kXception, {.xception = true, .dropout = 0.1}}};
  return *all;
}

Network Of(const char* name, const Normalization& colours, int64_t parameters) {
  return {.name = name,
          .paper =
              "Chen et al., \"Encoder-decoder with atrous separable convolution for semantic "
              "image segmentation\", 2018",
          .inputs = {Image(513)},
          .classes = 21,
          .class_set = "voc_21",
          .colours = colours,
          .parameters = parameters,
          .of_pixels_or_boxes = true,
          .make = MakerOf<Deeplab>(DeeplabOf, name)};
}

}  // namespace

DeeplabOptions DeeplabOf(const std::string& name, const Options& options) {
  DeeplabOptions of = FindPublished(All(), name);
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> DeeplabNetworks() {
  return {Of(kResnet, ImagenetColours(), 40'352'181),
          Of(kXception, {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}, 41'055'413)};
}

}  // namespace firn::zoo

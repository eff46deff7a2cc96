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
  AtrousPyramidOptions pyramid = {.dropout = o.dropout};
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
    convs_.Append(ConvOf(options.in, options.out, 3, rate));
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
      backbone_(Add<Resnet>("backbone", Backbone(options))),
      aspp_(Add<AtrousPyramid>("aspp", Pyramid(options))),
      low_(Add<nn::Sequential>("low", ConvOf(256, kNarrow, 1))),
      classifier_(Add<nn::Sequential>(
          "classifier", Joined(Joined(ConvOf(256 + kNarrow, 256, 3), ConvOf(256, 256, 3)),
                               {nn::New<nn::Conv2d>({.in = 256, .out = options.classes})}))) {}

Tensor Deeplab::Forward(const Tensor& x) {
  const std::array<Tensor, 4> stages = backbone_.Stages(x);
  const Tensor low = low_(stages[0]);
  const Tensor scores = classifier_(Concat({Enlarged(aspp_(stages[3]), low), low}, 1));
  return Enlarged(scores, x);
}

namespace {

const std::map<std::string, DeeplabOptions>& All() {
  static const auto* const all =
      new std::map<std::string, DeeplabOptions>{{"deeplab_v3_plus_resnet50", {}}};
  return *all;
}

}  // namespace

DeeplabOptions DeeplabOf(const std::string& name, const Options& options) {
  DeeplabOptions of = FindPublished(All(), name);
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> DeeplabNetworks() {
  const char* const name = "deeplab_v3_plus_resnet50";
  return {{.name = name,
           .paper = "Chen et al., \"Encoder-decoder with atrous separable convolution for semantic "
                    "image segmentation\", 2018",
           .inputs = {Image(513)},
           .classes = 21,
           .colours = ImagenetColours(),
           .parameters = 40'352'181,
           .of_pixels_or_boxes = true,
           .make = MakerOf<Deeplab>(DeeplabOf, name)}};
}

}  // namespace firn::zoo

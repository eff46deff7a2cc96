// A layer that sees one point is a convolution of kernel 1 along the points.
#include "firn/nn/zoo/pointnet.h"

#include <cstddef>
#include <map>

#include "absl/strings/str_cat.h"
#include "firn/nn/init.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

nn::BatchNormOptions NormOf(int64_t channels) {
  return {.channels = channels, .activation = FusedActivation::kRelu};
}

Tensor Identity(int64_t size, const Tensor& like) {
  return Eye(size, size, 0, like.dtype(), like.device());
}

}  // namespace

PointFeatures::PointFeatures(const Options& options) : LayerWithOptions(options) {
  int64_t in = options.in;
  for (size_t i = 0; i < options.channels.size(); ++i) {
    const int64_t out = options.channels[i];
    convs_.push_back(
        &Add<nn::Conv1d>(absl::StrCat("conv", i + 1), {.in = in, .out = out, .kernel = 1}));
    norms_.push_back(&Add<nn::BatchNorm1d>(absl::StrCat("bn", i + 1), NormOf(out)));
    in = out;
  }
}

Tensor PointFeatures::Points(const Tensor& x) {
  Tensor h = x;
  for (size_t i = 0; i < convs_.size(); ++i) h = (*norms_[i])((*convs_[i])(h));
  return h;
}

Tensor PointFeatures::Forward(const Tensor& x) { return Max(Points(x), 2).values; }

PointTransform::PointTransform(const Options& options)
    : LayerWithOptions(options),
      points_(Add<PointFeatures>("points", {.in = options.size})),
      fc1_(Add<nn::Linear>("fc1", {.in = 1024, .out = 512})),
      bn1_(Add<nn::BatchNorm1d>("bn1", NormOf(512))),
      fc2_(Add<nn::Linear>("fc2", {.in = 512, .out = 256})),
      bn2_(Add<nn::BatchNorm1d>("bn2", NormOf(256))),
      fc3_(Add<nn::Linear>("fc3", {.in = 256,
                                   .out = options.size * options.size,
                                   .weight_init = nn::init::Constant(0),
                                   .bias_init = nn::init::Constant(0)})) {}

Tensor PointTransform::Forward(const Tensor& x) {
  const int64_t size = options().size;
  const Tensor h = bn2_(fc2_(bn1_(fc1_(points_(x)))));
  return Reshape(fc3_(h), {x.size(0), size, size}) + Identity(size, x);
}

Pointnet::Pointnet(const Options& options)
    : LayerWithOptions(options),
      transform_(Add<PointTransform>("transform", {.size = 3})),
      local_(Add<PointFeatures>("local", {.in = 3, .channels = {64, 64}})),
      feature_transform_(Add<PointTransform>("feature_transform", {.size = 64})),
      global_(Add<PointFeatures>("global", {.in = 64, .channels = {64, 128, 1024}})),
      fc1_(Add<nn::Linear>("fc1", {.in = 1024, .out = 512})),
      bn1_(Add<nn::BatchNorm1d>("bn1", NormOf(512))),
      fc2_(Add<nn::Linear>("fc2", {.in = 512, .out = 256})),
      bn2_(Add<nn::BatchNorm1d>("bn2", NormOf(256))),
      dropout_(Add<nn::Dropout>("dropout", {.p = options.dropout})),
      fc3_(Add<nn::Linear>("fc3", {.in = 256, .out = options.classes})) {}

Tensor Pointnet::Local(const Tensor& x) { return local_.Points(Matmul(transform_(x), x, true)); }

Tensor Pointnet::Regularizer(const Tensor& x) {
  const Tensor a = feature_transform_(Local(x));
  return Mean(Sum(Square(Identity(64, a) - Matmul(a, a, false, true)), {1, 2}));
}

Tensor Pointnet::Forward(const Tensor& x) {
  const Tensor local = Local(x);
  const Tensor h = global_(Matmul(feature_transform_(local), local, true));
  return fc3_(dropout_(bn2_(fc2_(bn1_(fc1_(h))))));
}

namespace {

const std::map<std::string, PointnetOptions>& All() {
  static const auto* const all = new std::map<std::string, PointnetOptions>{{"pointnet", {}}};
  return *all;
}

}  // namespace

PointnetOptions PointnetOf(const std::string& name, const Options& options) {
  PointnetOptions of = FindPublished(All(), name);
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> PointnetNetworks() {
  return {{.name = "pointnet",
           .paper = "Qi et al., \"PointNet: deep learning on point sets for 3D classification and "
                    "segmentation\", 2016",
           .inputs = {{"points", {3, 1024}}},
           .classes = 40,
           .parameters = 3'480'049,
           .make = MakerOf<Pointnet>(PointnetOf, "pointnet")}};
}

}  // namespace firn::zoo

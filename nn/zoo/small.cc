#include "firn/nn/zoo/small.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {

Tensor Lenet::Forward(const Tensor& x) {
  Tensor h = MaxPool2d(bn1_(conv1_(x)), 2);  // the norms apply relu
  h = MaxPool2d(bn2_(conv2_(h)), 2);
  return fc2_(Relu(fc1_(Flatten(h, 1))));
}

Mlp::Mlp(const Options& options) : LayerWithOptions(options) {
  int64_t in = nn::kDeferred;
  std::vector<int64_t> sizes = options.hidden;
  sizes.push_back(options.classes);
  for (const int64_t out : sizes) {
    layers_.push_back(
        &Add<nn::Linear>(absl::StrCat("fc", layers_.size() + 1), {.in = in, .out = out}));
    in = out;
  }
}

Tensor Mlp::Forward(const Tensor& x) {
  Tensor h = Flatten(x, 1);
  for (size_t i = 0; i < layers_.size(); ++i) {
    h = (*layers_[i])(h);
    if (i + 1 < layers_.size()) h = Relu(h);
  }
  return h;
}

Tensor SmallResnet::Forward(const Tensor& x) {
  const Tensor h = unit3_(unit2_(unit1_(bn1_(conv1_(x)))));
  return fc_(Mean(h, {2, 3}));
}

void AddDeepCnnBlocks(int64_t depth, nn::ModuleList<nn::Conv2d>* convs,
                      nn::ModuleList<nn::BatchNorm2d>* bns) {
  if (depth < 0) RaiseStatus(InvalidArgument("depth is ", depth, " (want >= 0)"), "DeepCnn");
  std::vector<int64_t> widths = {1, 64};
  widths.insert(widths.end(), static_cast<size_t>(depth), 128);
  widths.push_back(512);
  for (size_t i = 1; i < widths.size(); ++i) {
    convs->Append({.in = widths[i - 1], .out = widths[i], .kernel = 3, .padding = 1});
    bns->Append({.channels = widths[i]});
  }
}

DeepCnn::DeepCnn(const Options& options) : LayerWithOptions(options) {
  AddDeepCnnBlocks(options.depth, &convs_, &bns_);
}

Tensor DeepCnn::Forward(const Tensor& x) {
  Tensor h = x;
  for (size_t i = 0; i < convs_.size(); ++i) h = Tanh(bns_[i](convs_[i](h)));
  h = Flatten(AvgPool2d(h, 2), 1);
  return fc2_(Tanh(fc1_(h)));
}

namespace {

SmallOptions SmallOf(const Options& options) {
  return {.channels = ChannelsOr(options, 1), .classes = ClassesOr(options, 10)};
}

Network Small(std::string name, const char* paper, int64_t side, int64_t parameters) {
  return {.name = std::move(name),
          .paper = paper,
          .origin = "Firn",
          .inputs = {Image(side, 1)},
          .classes = 10,
          .parameters = parameters,
          .any_channels = true};
}

}  // namespace

std::vector<Network> SmallNetworks() {
  Network lenet = Small("lenet", "after LeCun et al., 1998, with batch norms", 28, 215'466);
  lenet.make = [](const Options& o) { return std::make_unique<Lenet>(SmallOf(o)); };
  Network resnet = Small("small_resnet", "after He et al., 2015", 28, 77'770);
  resnet.make = [](const Options& o) { return std::make_unique<SmallResnet>(SmallOf(o)); };
  Network mlp = Small("mlp", "linear layers", 8, 4'810);
  mlp.any_channels = false;
  mlp.make = [](const Options& o) {
    return std::make_unique<Mlp>(MlpOptions{.classes = ClassesOr(o, 10)});
  };
  Network deep =
      Small("deep_cnn", "NNabla's tutorial of static and dynamic networks", 8, 10'396'682);
  deep.any_channels = false;
  deep.make = [](const Options& o) {
    return std::make_unique<DeepCnn>(DeepCnnOptions{.classes = ClassesOr(o, 10)});
  };
  return {std::move(lenet), std::move(resnet), std::move(mlp), std::move(deep)};
}

}  // namespace firn::zoo

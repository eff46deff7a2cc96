// Sizes of images are not written down anywhere: the first linear layer learns what it gets from
// the first batch, so that each network takes Fashion-MNIST's 28x28 pixels and the digits' 8x8.
#include "models.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::examples {

Tensor Lenet::Forward(const Tensor& x) {
  Tensor h = MaxPool2d(bn1_(conv1_(x)), 2);  // the norms apply relu
  h = MaxPool2d(bn2_(conv2_(h)), 2);
  return fc2_(Relu(fc1_(Flatten(h, 1))));
}

Tensor Mlp::Forward(const Tensor& x) { return fc2_(Relu(fc1_(Flatten(x, 1)))); }

Tensor Resnet::Forward(const Tensor& x) {
  const Tensor h = unit3_(unit2_(unit1_(bn1_(conv1_(x)))));
  return fc_(Mean(h, {2, 3}));
}

void AddBlocks(int64_t depth, nn::ModuleList<nn::Conv2d>* convs,
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

DeepCnn::DeepCnn(const Options& options) : options_(options) {
  AddBlocks(options.depth, &convs_, &bns_);
}

Tensor DeepCnn::Forward(const Tensor& x) {
  Tensor h = x;
  for (size_t i = 0; i < convs_.size(); ++i) h = Tanh(bns_[i](convs_[i](h)));
  h = Flatten(AvgPool2d(h, 2), 1);
  return fc2_(Tanh(fc1_(h)));
}

absl::StatusOr<std::unique_ptr<nn::Layer>> MakeModel(const std::string& name, int64_t depth) {
  if (name == "lenet") return std::make_unique<Lenet>();
  if (name == "mlp") return std::make_unique<Mlp>();
  if (name == "resnet") return std::make_unique<Resnet>();
  if (name == "deep_cnn") return std::make_unique<DeepCnn>(DeepCnnOptions{.depth = depth});
  return InvalidArgument("there is no model '", name, "' (want lenet, mlp, resnet or deep_cnn)");
}

}  // namespace firn::examples

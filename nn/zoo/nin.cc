// Pooling rounds up, as Caffe does: an image of 224x224 pixels has 6x6 places in the end.
#include "firn/nn/zoo/nin.h"

#include <cstddef>
#include <map>

#include "absl/strings/str_cat.h"
#include "firn/nn/init.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {

Nin::Nin(const Options& options)
    : LayerWithOptions(options), drop_(Add<nn::Dropout>("drop", {.p = options.dropout})) {
  AddStage({.in = 3, .out = 96, .kernel = 11, .stride = 4}, 96);
  AddStage({.in = 96, .out = 256, .kernel = 5, .padding = 2}, 256);
  AddStage({.in = 256, .out = 384, .kernel = 3, .padding = 1}, 384);
  AddStage({.in = 384, .out = 1024, .kernel = 3, .padding = 1}, options.classes);
}

void Nin::AddStage(const nn::ConvOptions& conv, int64_t last) {
  const auto add = [&](const std::string& name, nn::ConvOptions of) {
    of.weight_init = nn::init::Normal(0, 0.05);
    of.bias_init = nn::init::Constant(0);
    convs_.push_back(&Add<nn::Conv2d>(name, of));
  };
  const size_t stage = convs_.size() / 3;
  add(absl::StrCat("conv", stage + 1), conv);
  add(absl::StrCat("cccp", 2 * stage + 1), {.in = conv.out, .out = conv.out});
  add(absl::StrCat("cccp", 2 * stage + 2), {.in = conv.out, .out = last});
}

Tensor Nin::Forward(const Tensor& x) {
  Tensor h = x;
  for (size_t i = 0; i < convs_.size(); ++i) {
    if (i > 0 && i % 3 == 0) h = MaxPool2d(h, {.kernel = 3, .stride = 2, .ceil_mode = true});
    if (i == 9) h = drop_(h);
    h = Relu((*convs_[i])(h));
  }
  return Mean(h, {2, 3});
}

namespace {

const std::map<std::string, NinOptions>& All() {
  static const auto* const all = new std::map<std::string, NinOptions>{{"nin", {}}};
  return *all;
}

}  // namespace

NinOptions NinOf(const std::string& name, const Options& options) {
  NinOptions of = FindPublished(All(), name);
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> NinNetworks() {
  return {{.name = "nin",
           .paper = "Lin et al., \"Network in network\", 2013",
           .origin = "the authors' Caffe model",
           .inputs = {Image(224)},
           .classes = 1000,
           .class_set = "imagenet",
           .parameters = 7'595'176,
           .make = MakerOf<Nin>(NinOf, "nin")}};
}

}  // namespace firn::zoo

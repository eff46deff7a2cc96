// The paper's images have 32x32 pixels; padding the first convolution gives the same of 28x28.
#include "firn/nn/zoo/lenet5.h"

#include <map>

#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {

Lenet5::Lenet5(const Options& options)
    : LayerWithOptions(options),
      conv1_(Add<nn::Conv2d>("conv1", {.in = options.in, .out = 6, .kernel = 5, .padding = 2})),
      conv2_(Add<nn::Conv2d>("conv2", {.in = 6, .out = 16, .kernel = 5})),
      fc1_(Add<nn::Linear>("fc1", {.in = 16 * 5 * 5, .out = 120})),
      fc2_(Add<nn::Linear>("fc2", {.in = 120, .out = 84})),
      fc3_(Add<nn::Linear>("fc3", {.in = 84, .out = options.classes})) {}

Tensor Lenet5::Forward(const Tensor& x) {
  Tensor h = AvgPool2d(Tanh(conv1_(x)), 2);
  h = AvgPool2d(Tanh(conv2_(h)), 2);
  return fc3_(Tanh(fc2_(Tanh(fc1_(Flatten(h, 1))))));
}

namespace {

const std::map<std::string, Lenet5Options>& All() {
  static const auto* const all = new std::map<std::string, Lenet5Options>{{"lenet5", {}}};
  return *all;
}

}  // namespace

Lenet5Options Lenet5Of(const std::string& name, const Options& options) {
  Lenet5Options of = FindPublished(All(), name);
  of.in = ChannelsOr(options, of.in);
  of.classes = ClassesOr(options, of.classes);
  return of;
}

std::vector<Network> Lenet5Networks() {
  return {{.name = "lenet5",
           .paper = "LeCun et al., \"Gradient-based learning applied to document recognition\", "
                    "1998",
           .inputs = {Image(28, 1)},
           .classes = 10,
           .parameters = 61'706,
           .any_channels = true,
           .make = MakerOf<Lenet5>(Lenet5Of, "lenet5")}};
}

}  // namespace firn::zoo

// A level's result on the way down is joined, with its channels first, to the tensor that comes up
// to the level.
#include "firn/nn/zoo/unet.h"

#include <cstddef>
#include <map>

#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/init.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/shape/join.h"

namespace firn::zoo {
namespace {

std::vector<nn::LayerSpec> Pair(const UnetOptions& o, int64_t in, int64_t out) {
  std::vector<nn::LayerSpec> layers;
  for (int i = 0; i < 2; ++i) {
    layers.push_back(nn::New<nn::Conv2d>({.in = i == 0 ? in : out,
                                          .out = out,
                                          .kernel = 3,
                                          .padding = 1,
                                          .bias = !o.batch_norm,
                                          .weight_init = nn::init::KaimingNormal()}));
    if (o.batch_norm) {
      layers.push_back(
          nn::New<nn::BatchNorm2d>({.channels = out, .activation = FusedActivation::kRelu}));
    } else {
      layers.push_back(nn::New<nn::Relu>());
    }
  }
  return layers;
}

UnetOptions Checked(const UnetOptions& o) {
  if (o.levels < 2 || o.levels > 16) {
    RaiseStatus(InvalidArgument("expected 2 to 16 levels, got ", o.levels), "zoo::Unet");
  }
  return o;
}

}  // namespace

Unet::Unet(const Options& options)
    : LayerWithOptions(Checked(options)),
      down_(Add<nn::ModuleList<nn::Sequential>>("down")),
      dropout_(Add<nn::Dropout>("dropout", {.p = options.dropout})),
      up_(Add<nn::ModuleList<nn::ConvTranspose2d>>("up")),
      merge_(Add<nn::ModuleList<nn::Sequential>>("merge")),
      head_(Add<nn::Conv2d>("head", {.in = options.channels, .out = options.classes})) {
  int64_t in = options.in;
  for (int64_t level = 0; level < options.levels; ++level) {
    const int64_t out = options.channels << level;
    down_.Append(Pair(options, in, out));
    in = out;
  }
  for (int64_t level = options.levels - 2; level >= 0; --level) {
    const int64_t out = options.channels << level;
    up_.Append({.in = 2 * out, .out = out, .kernel = 2, .stride = 2});
    merge_.Append(Pair(options, 2 * out, out));
  }
}

Tensor Unet::Forward(const Tensor& x) {
  const int64_t least = int64_t{1} << (options().levels - 1);
  if (x.rank() != 4 || x.size(2) % least != 0 || x.size(3) % least != 0) {
    RaiseStatus(InvalidArgument("expected images [n, ", options().in, ", h, w] with sides that ",
                                least, " divides, got ", x.shape().ToString()),
                "zoo::Unet");
  }
  std::vector<Tensor> made;
  Tensor h = x;
  for (nn::Sequential& pair : down_) {
    if (!made.empty()) h = MaxPool2d(h, 2);
    h = pair(h);
    made.push_back(h);
  }
  h = dropout_(h);
  for (size_t i = 0; i < up_.size(); ++i) {
    h = merge_[i](Concat({made[up_.size() - 1 - i], up_[i](h)}, 1));
  }
  return head_(h);
}

namespace {

const std::map<std::string, UnetOptions>& All() {
  static const auto* const all = new std::map<std::string, UnetOptions>{{"unet", {}}};
  return *all;
}

}  // namespace

UnetOptions UnetOf(const std::string& name, const Options& options) {
  UnetOptions of = FindPublished(All(), name);
  of.in = ChannelsOr(options, of.in);
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> UnetNetworks() {
  return {{.name = "unet",
           .paper = "Ronneberger et al., \"U-Net: convolutional networks for biomedical image "
                    "segmentation\", 2015",
           .inputs = {Image(512, 1)},
           .classes = 2,
           .parameters = 31'030'658,
           .any_channels = true,
           .of_pixels_or_boxes = true,
           .make = MakerOf<Unet>(UnetOf, "unet")}};
}

}  // namespace firn::zoo

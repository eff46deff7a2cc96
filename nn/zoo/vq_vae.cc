// The nearest vector e of the codebook to z has the least |e|^2 - 2 z e, for |z|^2 is the same for
// all of them.
#include "firn/nn/zoo/vq_vae.h"

#include <map>

#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/conv.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/straight_through.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

nn::Conv2dOptions ConvOf(int64_t in, int64_t out, int64_t kernel) {
  return {.in = in, .out = out, .kernel = kernel, .padding = kernel / 2};
}

using Layers = std::vector<nn::LayerSpec>;

Layers EncoderOf(const VqVaeOptions& o) {
  const auto halved = [](int64_t in, int64_t out) {
    return nn::New<nn::Conv2d>({.in = in, .out = out, .kernel = 4, .stride = 2, .padding = 1});
  };
  Layers layers = {halved(o.channels, o.hidden), nn::New<nn::Relu>(), halved(o.hidden, o.hidden),
                   nn::New<nn::Relu>(), nn::New<nn::Conv2d>(ConvOf(o.hidden, o.hidden, 3))};
  for (int64_t i = 0; i < o.units; ++i) layers.push_back(nn::New<VqVaeUnit>({o.hidden}));
  layers.push_back(nn::New<nn::Relu>());
  layers.push_back(nn::New<nn::Conv2d>(ConvOf(o.hidden, o.code_size, 1)));
  return layers;
}

Layers DecoderOf(const VqVaeOptions& o) {
  const auto doubled = [](int64_t in, int64_t out) {
    return nn::New<nn::ConvTranspose2d>(
        {.in = in, .out = out, .kernel = 4, .stride = 2, .padding = 1});
  };
  Layers layers = {nn::New<nn::Conv2d>(ConvOf(o.code_size, o.hidden, 3))};
  for (int64_t i = 0; i < o.units; ++i) layers.push_back(nn::New<VqVaeUnit>({o.hidden}));
  layers.insert(layers.end(), {nn::New<nn::Relu>(), doubled(o.hidden, o.hidden),
                               nn::New<nn::Relu>(), doubled(o.hidden, o.channels)});
  return layers;
}

}  // namespace

VqVaeUnit::VqVaeUnit(const Options& o)
    : LayerWithOptions(o),
      conv3x3_(Add<nn::Conv2d>("conv3x3", ConvOf(o.channels, o.channels, 3))),
      conv1x1_(Add<nn::Conv2d>("conv1x1", ConvOf(o.channels, o.channels, 1))) {}

Tensor VqVaeUnit::Forward(const Tensor& x) { return Add(x, conv1x1_(Relu(conv3x3_(Relu(x))))); }

VqVae::VqVae(const Options& o)
    : LayerWithOptions(o),
      encoder_(Add<nn::Sequential>("encoder", EncoderOf(o))),
      codebook_(Add<nn::Embedding>(
          "codebook", {.count = o.codes,
                       .size = o.code_size,
                       .weight_init = nn::init::Uniform(-1 / static_cast<double>(o.codes),
                                                        1 / static_cast<double>(o.codes))})),
      decoder_(Add<nn::Sequential>("decoder", DecoderOf(o))) {}

Tensor VqVae::Vectors(const Tensor& x) {
  if (x.rank() != 4 || x.size(2) % 4 != 0 || x.size(3) % 4 != 0) {
    RaiseStatus(InvalidArgument("expected images of sizes that are multiples of 4, got ",
                                x.shape().ToString()),
                "zoo::VqVae");
  }
  return encoder_(x).Permute({0, 2, 3, 1});
}

Tensor VqVae::Nearest(const Tensor& vectors) const {
  const Tensor book = codebook_.weight().Detach();
  const Tensor products = Matmul(vectors.Detach(), book, false, true);
  return Argmin(Sub(Sum(Mul(book, book), 1), Mul(products, 2)), -1);
}

Tensor VqVae::Pictures(const Tensor& vectors) { return decoder_(vectors.Permute({0, 3, 1, 2})); }

VqVaeResult VqVae::Reconstruct(const Tensor& x) {
  const nn::CallScope scope(*this);
  const Tensor vectors = Vectors(x);
  const Tensor codes = Nearest(vectors);
  const Tensor found = codebook_(codes);
  const auto apart = [](const Tensor& a, const Tensor& b) {
    const Tensor d = Sub(a, b);
    return Mean(Mul(d, d));
  };
  return {Pictures(StraightThrough(found, vectors)), codes, apart(found, vectors.Detach()),
          apart(found.Detach(), vectors)};
}

Tensor VqVae::Encode(const Tensor& x) {
  const nn::CallScope scope(*this);
  return Nearest(Vectors(x));
}

Tensor VqVae::Decode(const Tensor& codes) {
  const nn::CallScope scope(*this);
  return Pictures(codebook_(codes));
}

Tensor VqVae::Forward(const Tensor& x) {
  const Tensor vectors = Vectors(x);
  return Pictures(StraightThrough(codebook_(Nearest(vectors)), vectors));
}

VqVaeOptions VqVaeOf(const std::string& name, const Options& options) {
  VqVaeOptions of = FindPublished(std::map<std::string, VqVaeOptions>{{"vq_vae", {}}}, name);
  ExpectNoClasses(options, name);
  of.channels = ChannelsOr(options, of.channels);
  return of;
}

std::vector<Network> VqVaeNetworks() {
  return {{.name = "vq_vae",
           .paper = "van den Oord et al., \"Neural discrete representation learning\", 2017",
           .origin = "Firn",
           .inputs = {Image(128)},
           .parameters = 5'532'995,
           .any_channels = true,
           .make = MakerOf<VqVae>(VqVaeOf, "vq_vae")}};
}

}  // namespace firn::zoo

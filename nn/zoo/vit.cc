// Patches become tokens by a convolution whose stride is its kernel; the class is read off a token
// of its own, which stands first.
#include "firn/nn/zoo/vit.h"

#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/init.h"
#include "firn/nn/linear.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

constexpr double kEps = 1e-6;

VitOptions Checked(const VitOptions& o) {
  if (o.patch < 1 || o.image < o.patch || o.image % o.patch != 0) {
    RaiseStatus(InvalidArgument("expected an image that patches fill, got an image of ", o.image,
                                " and patches of ", o.patch, " pixels"),
                "zoo::Vit");
  }
  if (o.layers < 1) {
    RaiseStatus(InvalidArgument("expected at least one layer, got ", o.layers), "zoo::Vit");
  }
  return o;
}

std::vector<nn::LayerSpec> Mlp(const VitOptions& o) {
  const auto linear = [](int64_t in, int64_t out) {
    return nn::New<nn::Linear>({.in = in,
                                .out = out,
                                .weight_init = nn::init::XavierUniform(),
                                .bias_init = nn::init::Normal(0, 1e-6)});
  };
  const nn::LayerSpec drop = nn::New<nn::Dropout>({.p = o.dropout});
  return {linear(o.hidden, o.mlp), nn::New<nn::Gelu>(), drop, linear(o.mlp, o.hidden), drop};
}

std::vector<nn::LayerSpec> EncoderLayers(const VitOptions& o) {
  std::vector<nn::LayerSpec> layers;
  for (int64_t i = 0; i < o.layers; ++i) {
    layers.emplace_back(absl::StrCat("encoder_layer_", i), nn::New<VitLayer>(o));
  }
  return layers;
}

Tensor Places(const VitOptions& o) {
  const int64_t side = o.image / o.patch;
  Tensor places = Zeros({1, side * side + 1, o.hidden});
  nn::init::Normal(0, 0.02)(places);
  return places;
}

nn::ConvOptions Projection(const VitOptions& o) {
  const double stddev = 1 / std::sqrt(static_cast<double>(3 * o.patch * o.patch));
  return {.in = 3,
          .out = o.hidden,
          .kernel = o.patch,
          .stride = o.patch,
          .weight_init = nn::init::TruncatedNormal(0, stddev),
          .bias_init = nn::init::Constant(0)};
}

}  // namespace

VitLayer::VitLayer(const Options& options)
    : LayerWithOptions(options),
      ln_1_(Add<nn::LayerNorm>("ln_1", {.shape = {options.hidden}, .eps = kEps})),
      self_attention_(Add<nn::MultiHeadAttention>(
          "self_attention",
          {.embed = options.hidden, .heads = options.heads, .batch_first = true})),
      dropout_(Add<nn::Dropout>("dropout", {.p = options.dropout})),
      ln_2_(Add<nn::LayerNorm>("ln_2", {.shape = {options.hidden}, .eps = kEps})),
      mlp_(Add<nn::Sequential>("mlp", Mlp(options))) {}

Tensor VitLayer::Forward(const Tensor& x) {
  const Tensor normed = ln_1_(x);
  const Tensor h = x + dropout_(self_attention_(normed, normed, normed));
  return h + mlp_(ln_2_(h));
}

VitEncoder::VitEncoder(const Options& options)
    : LayerWithOptions(options),
      pos_embedding_(AddParameter("pos_embedding", Places(options))),
      dropout_(Add<nn::Dropout>("dropout", {.p = options.dropout})),
      layers_(Add<nn::Sequential>("layers", EncoderLayers(options))),
      ln_(Add<nn::LayerNorm>("ln", {.shape = {options.hidden}, .eps = kEps})) {}

Tensor VitEncoder::Forward(const Tensor& x) { return ln_(layers_(dropout_(x + pos_embedding_))); }

Vit::Vit(const Options& options)
    : LayerWithOptions(Checked(options)),
      class_token_(AddParameter("class_token", Zeros({1, 1, options.hidden}))),
      conv_proj_(Add<nn::Conv2d>("conv_proj", Projection(options))),
      encoder_(Add<VitEncoder>("encoder", options)),
      heads_(Add<nn::Sequential>(
          "heads", {{"head", nn::New<nn::Linear>({.in = options.hidden,
                                                  .out = options.classes,
                                                  .weight_init = nn::init::Constant(0),
                                                  .bias_init = nn::init::Constant(0)})}})) {}

Tensor Vit::Forward(const Tensor& x) {
  const int64_t side = options().image;
  if (x.rank() != 4 || x.size(2) != side || x.size(3) != side) {
    RaiseStatus(InvalidArgument("expected images [n, 3, ", side, ", ", side, "], got ",
                                x.shape().ToString()),
                "zoo::Vit");
  }
  const Tensor patches = Transpose(Flatten(conv_proj_(x), 2), 1, 2);  // [n, tokens, hidden]
  const Tensor first = Expand(class_token_, {patches.size(0), -1, -1});
  return heads_(Select(encoder_(Concat({first, patches}, 1)), 1, 0));
}

namespace {

struct Published {
  VitOptions options;
  const char* paper;
  int64_t parameters;
  double giga_multiply_adds;
  const char* origin;  // nothing: torchvision's network of the name
};

constexpr const char* kVit =
    "Dosovitskiy et al., \"An image is worth 16x16 words: transformers for image recognition at "
    "scale\", 2020";
constexpr const char* kDeit =
    "Touvron et al., \"Training data-efficient image transformers & distillation through "
    "attention\", 2020";
constexpr const char* kSizes = "torchvision.models.VisionTransformer of the paper's sizes";

const std::map<std::string, Published>& All() {
  static const auto* const all = new std::map<std::string, Published>{
      {"vit_ti_16", {{.heads = 3, .hidden = 192, .mlp = 768}, kDeit, 5'717'416, 1.26, kSizes}},
      {"vit_s_16", {{.heads = 6, .hidden = 384, .mlp = 1536}, kDeit, 22'050'664, 4.61, kSizes}},
      {"vit_b_16", {{}, kVit, 86'567'656, 17.564, ""}},
      {"vit_b_32", {{.patch = 32}, kVit, 88'224'232, 4.409, ""}},
      {"vit_l_16",
       {{.layers = 24, .heads = 16, .hidden = 1024, .mlp = 4096}, kVit, 304'326'632, 61.555, ""}},
  };
  return *all;
}

}  // namespace

VitOptions VitOf(const std::string& name, const Options& options) {
  VitOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> VitNetworks() {
  std::vector<Network> networks;
  for (const auto& [name, published] : All()) {
    networks.push_back(OfTorchvision({.name = name,
                                      .paper = published.paper,
                                      .origin = published.origin,
                                      .parameters = published.parameters,
                                      .giga_multiply_adds = published.giga_multiply_adds,
                                      .make = MakerOf<Vit>(VitOf, name)}));
  }
  return networks;
}

}  // namespace firn::zoo

// The input of nn::Transformer is embeddings times sqrt(hidden) plus sinusoids of the tokens'
// places.
#include "firn/nn/zoo/transformer.h"

#include <cmath>
#include <map>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/trigonometry.h"
#include "firn/tensor/ops/shape/join.h"

namespace firn::zoo {
namespace {

const TransformerOptions& Checked(const TransformerOptions& o) {
  if (o.hidden < 2 || o.hidden % 2 != 0) {
    RaiseStatus(InvalidArgument("expected an even number of hidden features, got ", o.hidden),
                "zoo::Transformer");
  }
  return o;
}

// sin(p / 10000^(2i / width)) and the cosine of it beside each other: [length, width], as
// `like` in dtype and device.
Tensor Sinusoids(int64_t length, int64_t width, const Tensor& like) {
  const ArangeOptions exact = {.dtype = DType::kF64, .device = like.device()};
  const double slowing = -std::log(1e4) / static_cast<double>(width);
  const Tensor rates = Exp(Mul(Arange(int64_t{0}, width, 2, exact), slowing));
  const Tensor angles = Mul(Arange(int64_t{0}, length, 1, exact).Unsqueeze(1), rates);
  return Stack({Sin(angles), Cos(angles)}, 2).Flatten(1).To(like.dtype());
}

nn::TransformerOptions StackOf(const TransformerOptions& o) {
  return {.layer = {.embed = o.hidden,
                    .heads = o.heads,
                    .feedforward = o.feedforward,
                    .dropout = o.dropout,
                    .batch_first = true},
          .encoder_layers = o.layers,
          .decoder_layers = o.layers};
}

}  // namespace

Transformer::Transformer(const Options& o)
    : LayerWithOptions(Checked(o)),
      embedding_(Add<nn::Embedding>(
          "embedding",
          {.count = o.vocabulary,
           .size = o.hidden,
           .weight_init = nn::init::Normal(0, 1 / std::sqrt(static_cast<double>(o.hidden)))})),
      dropout_(Add<nn::Dropout>("dropout", {.p = o.dropout})),
      transformer_(Add<nn::Transformer>("transformer", StackOf(o))),
      generator_(
          Add<nn::Linear>("generator", {.in = o.hidden, .out = o.vocabulary, .bias = false})) {
  ShareParameter("generator.weight", embedding_.weight());
}

Tensor Transformer::Embedded(const Tensor& ids) {
  if (ids.rank() != 2) {
    RaiseStatus(InvalidArgument("expected ids [n, length], got ", ids.shape().ToString()),
                "zoo::Transformer");
  }
  const Tensor x = Mul(embedding_(ids), std::sqrt(static_cast<double>(options().hidden)));
  return dropout_(Add(x, Sinusoids(ids.size(1), options().hidden, x)));
}

Tensor Transformer::Compute(const Tensor& src, const Tensor& tgt, nn::TransformerMasks masks) {
  masks.tgt.self.is_causal = true;
  return generator_(transformer_(Embedded(src), Embedded(tgt), masks));
}

Tensor Transformer::Forward(const Tensor& src, const Tensor& tgt) { return Compute(src, tgt, {}); }

Tensor Transformer::operator()(const Tensor& src, const Tensor& tgt,
                               const nn::TransformerMasks& masks) {
  return CallAs([&](const Tensor& s, const Tensor& t) { return Compute(s, t, masks); }, src, tgt);
}

TransformerOptions TransformerOf(const std::string& name, const Options& options) {
  TransformerOptions of =
      FindPublished(std::map<std::string, TransformerOptions>{{"transformer", {}}}, name);
  ExpectNoClasses(options, name);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> TransformerNetworks() {
  return {{.name = "transformer",
           .paper = "Vaswani et al., \"Attention is all you need\", 2017",
           .origin = "torch.nn.Transformer",
           .inputs = {{"src", {256}, 37000}, {"tgt", {256}, 37000}},
           .parameters = 63'084'544,
           .make = MakerOf<Transformer>(TransformerOf, "transformer")}};
}

}  // namespace firn::zoo

// The layers of the Transformer. A block is norm(x + dropout(f(x))) or, with norm_first, x +
// dropout(f(norm(x))): R. Xiong et al., "On layer normalization in the Transformer architecture",
// 2020.

#include "firn/nn/transformer.h"

#include <vector>

#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"

namespace firn::nn {
namespace {

MultiHeadAttentionOptions AttentionOf(const TransformerLayerOptions& o) {
  return {.embed = o.embed,
          .heads = o.heads,
          .dropout = o.dropout,
          .bias = o.bias,
          .batch_first = o.batch_first};
}
LayerNormOptions NormOf(const TransformerLayerOptions& o) {
  return {.shape = {o.embed}, .eps = o.eps, .bias = o.bias};
}
LinearOptions ProductOf(int64_t in, int64_t out, const TransformerLayerOptions& o) {
  return {.in = in, .out = out, .bias = o.bias};
}

const TransformerLayerOptions& Checked(const char* layer, const TransformerLayerOptions& o) {
  CheckSizes(layer, {{"embed", o.embed}, {"heads", o.heads}, {"feedforward", o.feedforward}});
  if (o.activation > TransformerActivation::kGelu) {
    RaiseStatus(InvalidArgument("activation ", static_cast<int>(o.activation), " is none"), layer);
  }
  return o;
}

Tensor Activated(const Tensor& x, const TransformerLayerOptions& o) {
  return o.activation == TransformerActivation::kGelu ? Gelu(x) : Relu(x);
}

// f(x) added to x, with the norm before or after.
template <class F>
Tensor Residual(const Tensor& x, LayerNorm& norm, Dropout& dropout, bool norm_first, const F& f) {
  if (norm_first) return firn::Add(x, dropout(f(norm(x))));
  return norm(firn::Add(x, dropout(f(x))));
}

// Options of each layer of a stack.
std::vector<TransformerLayerOptions> Repeated(const char* layer, const TransformerStackOptions& o) {
  CheckSizes(layer, {{"count", o.count}});
  return std::vector<TransformerLayerOptions>(static_cast<size_t>(o.count),
                                              Checked(layer, o.layer));
}

}  // namespace

// --- Encoder -------------------------------------------------------------------------------------

TransformerEncoderLayer::TransformerEncoderLayer(const Options& o)
    : LayerWithOptions(Checked("nn::TransformerEncoderLayer", o)),
      self_attn_(Add<MultiHeadAttention>("self_attn", AttentionOf(o))),
      linear1_(Add<Linear>("linear1", ProductOf(o.embed, o.feedforward, o))),
      dropout_(Add<Dropout>("dropout", {.p = o.dropout})),
      linear2_(Add<Linear>("linear2", ProductOf(o.feedforward, o.embed, o))),
      norm1_(Add<LayerNorm>("norm1", NormOf(o))),
      norm2_(Add<LayerNorm>("norm2", NormOf(o))),
      dropout1_(Add<Dropout>("dropout1", {.p = o.dropout})),
      dropout2_(Add<Dropout>("dropout2", {.p = o.dropout})) {}

Tensor TransformerEncoderLayer::Compute(const Tensor& src, const AttentionMasks& masks) {
  const bool first = options().norm_first;
  const Tensor x = Residual(src, norm1_, dropout1_, first,
                            [&](const Tensor& t) { return self_attn_(t, t, t, masks); });
  return Residual(x, norm2_, dropout2_, first, [&](const Tensor& t) {
    return linear2_(dropout_(Activated(linear1_(t), options())));
  });
}

Tensor TransformerEncoderLayer::Forward(const Tensor& src) { return Compute(src, {}); }

Tensor TransformerEncoderLayer::operator()(const Tensor& src, const AttentionMasks& masks) {
  return CallAs([&](const Tensor& x) { return Compute(x, masks); }, src);
}

TransformerEncoder::TransformerEncoder(const Options& o)
    : LayerWithOptions(o),
      layers_(Add<ModuleList<TransformerEncoderLayer>>("layers",
                                                       Repeated("nn::TransformerEncoder", o))) {
  if (o.norm) norm_ = &Add<LayerNorm>("norm", NormOf(o.layer));
}

Tensor TransformerEncoder::Compute(const Tensor& src, const AttentionMasks& masks) {
  Tensor x = src;
  for (TransformerEncoderLayer& layer : layers_) x = layer(x, masks);
  return norm_ == nullptr ? x : (*norm_)(x);
}

Tensor TransformerEncoder::Forward(const Tensor& src) { return Compute(src, {}); }

Tensor TransformerEncoder::operator()(const Tensor& src, const AttentionMasks& masks) {
  return CallAs([&](const Tensor& x) { return Compute(x, masks); }, src);
}

// --- Decoder -------------------------------------------------------------------------------------

TransformerDecoderLayer::TransformerDecoderLayer(const Options& o)
    : LayerWithOptions(Checked("nn::TransformerDecoderLayer", o)),
      self_attn_(Add<MultiHeadAttention>("self_attn", AttentionOf(o))),
      multihead_attn_(Add<MultiHeadAttention>("multihead_attn", AttentionOf(o))),
      linear1_(Add<Linear>("linear1", ProductOf(o.embed, o.feedforward, o))),
      dropout_(Add<Dropout>("dropout", {.p = o.dropout})),
      linear2_(Add<Linear>("linear2", ProductOf(o.feedforward, o.embed, o))),
      norm1_(Add<LayerNorm>("norm1", NormOf(o))),
      norm2_(Add<LayerNorm>("norm2", NormOf(o))),
      norm3_(Add<LayerNorm>("norm3", NormOf(o))),
      dropout1_(Add<Dropout>("dropout1", {.p = o.dropout})),
      dropout2_(Add<Dropout>("dropout2", {.p = o.dropout})),
      dropout3_(Add<Dropout>("dropout3", {.p = o.dropout})) {}

Tensor TransformerDecoderLayer::Compute(const Tensor& tgt, const Tensor& memory,
                                        const DecoderMasks& masks) {
  const bool first = options().norm_first;
  const Tensor x = Residual(tgt, norm1_, dropout1_, first,
                            [&](const Tensor& t) { return self_attn_(t, t, t, masks.self); });
  const Tensor y = Residual(x, norm2_, dropout2_, first, [&](const Tensor& t) {
    return multihead_attn_(t, memory, memory, masks.memory);
  });
  return Residual(y, norm3_, dropout3_, first, [&](const Tensor& t) {
    return linear2_(dropout_(Activated(linear1_(t), options())));
  });
}

Tensor TransformerDecoderLayer::Forward(const Tensor& tgt, const Tensor& memory) {
  return Compute(tgt, memory, {});
}

Tensor TransformerDecoderLayer::operator()(const Tensor& tgt, const Tensor& memory,
                                           const DecoderMasks& masks) {
  const auto compute = [&](const Tensor& x, const Tensor& m) { return Compute(x, m, masks); };
  return CallAs(compute, tgt, memory);
}

TransformerDecoder::TransformerDecoder(const Options& o)
    : LayerWithOptions(o),
      layers_(Add<ModuleList<TransformerDecoderLayer>>("layers",
                                                       Repeated("nn::TransformerDecoder", o))) {
  if (o.norm) norm_ = &Add<LayerNorm>("norm", NormOf(o.layer));
}

Tensor TransformerDecoder::Compute(const Tensor& tgt, const Tensor& memory,
                                   const DecoderMasks& masks) {
  Tensor x = tgt;
  for (TransformerDecoderLayer& layer : layers_) x = layer(x, memory, masks);
  return norm_ == nullptr ? x : (*norm_)(x);
}

Tensor TransformerDecoder::Forward(const Tensor& tgt, const Tensor& memory) {
  return Compute(tgt, memory, {});
}

Tensor TransformerDecoder::operator()(const Tensor& tgt, const Tensor& memory,
                                      const DecoderMasks& masks) {
  const auto compute = [&](const Tensor& x, const Tensor& m) { return Compute(x, m, masks); };
  return CallAs(compute, tgt, memory);
}

// --- Both ----------------------------------------------------------------------------------------

Transformer::Transformer(const Options& o)
    : LayerWithOptions(o),
      encoder_(Add<TransformerEncoder>(
          "encoder", {.layer = o.layer, .count = o.encoder_layers, .norm = true})),
      decoder_(Add<TransformerDecoder>(
          "decoder", {.layer = o.layer, .count = o.decoder_layers, .norm = true})) {
  for (Tensor parameter : parameters()) {
    if (parameter.rank() > 1) init::XavierUniform()(parameter);
  }
}

Tensor Transformer::Forward(const Tensor& src, const Tensor& tgt) {
  return decoder_(tgt, encoder_(src));
}

Tensor Transformer::operator()(const Tensor& src, const Tensor& tgt,
                               const TransformerMasks& masks) {
  const auto compute = [&](const Tensor& from, const Tensor& to) {
    return decoder_(to, encoder_(from, masks.src), masks.tgt);
  };
  return CallAs(compute, src, tgt);
}

}  // namespace firn::nn

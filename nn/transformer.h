#ifndef FIRN_NN_TRANSFORMER_H_
#define FIRN_NN_TRANSFORMER_H_

// The Transformer of A. Vaswani et al., "Attention is all you need", 2017, with PyTorch's names,
// options and defaults. Sequences are [length, n, embed], with batch_first [n, length, embed],
// without a batch [length, embed].

#include <cstdint>

#include "firn/device/enum_words.h"
#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/multi_head_attention.h"
#include "firn/nn/norm.h"

namespace firn::nn {

enum class TransformerActivation : uint8_t { kRelu, kGelu };
constexpr auto WordsOf(TransformerActivation) {
  return inner::EnumWords<TransformerActivation>(
      {{TransformerActivation::kRelu, "relu"}, {TransformerActivation::kGelu, "gelu"}});
}

// Options of a layer of an encoder or a decoder.
struct TransformerLayerOptions {
  int64_t embed = 0, heads = 1;
  int64_t feedforward = 2048;  // features between the two products that follow attention
  double dropout = 0.1;
  TransformerActivation activation = TransformerActivation::kRelu;
  double eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;  // normalise the inputs of attention and of the products, not the sums
  bool bias = true;
  template <class V>
  void Visit(V& v) {
    v.Always("embed", embed);
    v.Always("heads", heads);
    v.Field("feedforward", feedforward);
    v.Field("dropout", dropout);
    v.Field("activation", activation);
    v.Field("eps", eps);
    v.Field("batch_first", batch_first);
    v.Field("norm_first", norm_first);
    v.Field("bias", bias);
  }
};

// Self-attention, and two products with an activation between them; both results are added to their
// inputs, and the sums normalised. src: a sequence y: as src Children: self_attn, linear1, dropout,
// linear2, norm1, norm2, dropout1, dropout2.
class TransformerEncoderLayer final : public LayerWithOptions<TransformerLayerOptions> {
 public:
  explicit TransformerEncoderLayer(const Options& options);

  using Layer::operator();
  Tensor operator()(const Tensor& src, const AttentionMasks& masks);

 protected:
  Tensor Forward(const Tensor& src) override;

 private:
  Tensor Compute(const Tensor& src, const AttentionMasks& masks);

  MultiHeadAttention& self_attn_;
  Linear& linear1_;
  Dropout& dropout_;
  Linear& linear2_;
  LayerNorm &norm1_, &norm2_;
  Dropout &dropout1_, &dropout2_;
};

// Which parts of its own sequence and of the encoder's a decoder's layer sees.
struct DecoderMasks {
  AttentionMasks self = {}, memory = {};
};

using TwoBase = LayerOf<Tensor, Tensor>;

// Self-attention, attention to the encoder's result, and two products, as in
// TransformerEncoderLayer.
// tgt, memory: sequences      y: as tgt
// Children: self_attn, multihead_attn, linear1, dropout, linear2, norm1 to norm3, dropout1 to
// dropout3.
class TransformerDecoderLayer final : public LayerWithOptions<TransformerLayerOptions, TwoBase> {
 public:
  explicit TransformerDecoderLayer(const Options& options);

  using TwoBase::operator();
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks);

 protected:
  Tensor Forward(const Tensor& tgt, const Tensor& memory) override;

 private:
  Tensor Compute(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks);

  MultiHeadAttention &self_attn_, &multihead_attn_;
  Linear& linear1_;
  Dropout& dropout_;
  Linear& linear2_;
  LayerNorm &norm1_, &norm2_, &norm3_;
  Dropout &dropout1_, &dropout2_, &dropout3_;
};

struct TransformerStackOptions {
  TransformerLayerOptions layer = {};
  int64_t count = 6;  // layers, each of which starts with numbers of its own
  bool norm = false;  // a LayerNorm at the end
  template <class V>
  void Visit(V& v) {
    layer.Visit(v);
    v.Always("count", count);
    v.Field("norm", norm);
  }
};

// src: a sequence      y: as src
// Children: layers, and norm if there is one.
class TransformerEncoder final : public LayerWithOptions<TransformerStackOptions> {
 public:
  explicit TransformerEncoder(const Options& options);

  using Layer::operator();
  // The masks are every layer's.
  Tensor operator()(const Tensor& src, const AttentionMasks& masks);

 protected:
  Tensor Forward(const Tensor& src) override;

 private:
  Tensor Compute(const Tensor& src, const AttentionMasks& masks);

  ModuleList<TransformerEncoderLayer>& layers_;
  LayerNorm* norm_ = nullptr;
};

// tgt, memory: sequences      y: as tgt
// Children: layers, and norm if there is one.
class TransformerDecoder final : public LayerWithOptions<TransformerStackOptions, TwoBase> {
 public:
  explicit TransformerDecoder(const Options& options);

  using TwoBase::operator();
  // The masks are every layer's.
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks);

 protected:
  Tensor Forward(const Tensor& tgt, const Tensor& memory) override;

 private:
  Tensor Compute(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks);

  ModuleList<TransformerDecoderLayer>& layers_;
  LayerNorm* norm_ = nullptr;
};

struct TransformerOptions {
  TransformerLayerOptions layer = {.embed = 512, .heads = 8};
  int64_t encoder_layers = 6, decoder_layers = 6;
  template <class V>
  void Visit(V& v) {
    layer.Visit(v);
    v.Field("encoder_layers", encoder_layers);
    v.Field("decoder_layers", decoder_layers);
  }
};

struct TransformerMasks {
  AttentionMasks src = {};
  DecoderMasks tgt = {};
};

// An encoder and a decoder, with norms at their ends; all matrices start with Glorot's uniform
// numbers.
// src, tgt: sequences      y: as tgt
// Children: encoder, decoder.
class Transformer final : public LayerWithOptions<TransformerOptions, TwoBase> {
 public:
  explicit Transformer(const Options& options = {});

  using TwoBase::operator();
  Tensor operator()(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks);

 protected:
  Tensor Forward(const Tensor& src, const Tensor& tgt) override;

 private:
  TransformerEncoder& encoder_;
  TransformerDecoder& decoder_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_TRANSFORMER_H_

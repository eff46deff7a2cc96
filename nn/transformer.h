#ifndef FIRN_NN_TRANSFORMER_H_
#define FIRN_NN_TRANSFORMER_H_

// The Transformer of A. Vaswani et al., "Attention is all you need", 2017, with PyTorch's names,
// options and defaults. Sequences are [length, n, embed], with batch_first [n, length, embed],
// without a batch [length, embed].

#include <cstdint>
#include <string>

#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/multi_head_attention.h"
#include "firn/nn/norm.h"

namespace firn::nn {

enum class TransformerActivation : uint8_t { kRelu, kGelu };

// Of a layer of an encoder or a decoder.
struct TransformerLayerOptions {
  int64_t embed = 0, heads = 1;
  int64_t feedforward = 2048;  // features between the two products that follow attention
  double dropout = 0.1;
  TransformerActivation activation = TransformerActivation::kRelu;
  double eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;  // normalise what goes into attention and the products, not the sums
  bool bias = true;
};

// Self-attention and two products with an activation between them, each added to what it was
// computed from and normalised.
// src: a sequence      y: as src
// Children: self_attn, linear1, dropout, linear2, norm1, norm2, dropout1, dropout2.
class TransformerEncoderLayer final : public Layer {
 public:
  using Options = TransformerLayerOptions;
  explicit TransformerEncoderLayer(const Options& options);

  const Options& options() const { return options_; }
  std::string Describe() const override;

  using Layer::operator();
  Tensor operator()(const Tensor& src, const AttentionMasks& masks);

 protected:
  Tensor Forward(const Tensor& src) override;

 private:
  Tensor Compute(const Tensor& src, const AttentionMasks& masks);

  const Options options_;
  MultiHeadAttention& self_attn_;
  Linear& linear1_;
  Dropout& dropout_;
  Linear& linear2_;
  LayerNorm &norm1_, &norm2_;
  Dropout &dropout1_, &dropout2_;
};

// What a decoder's layer sees of its own sequence and of the encoder's.
struct DecoderMasks {
  AttentionMasks self = {}, memory = {};
};

// Self-attention, attention to the encoder's result, and two products, as in
// TransformerEncoderLayer.
// tgt, memory: sequences      y: as tgt
// Children: self_attn, multihead_attn, linear1, dropout, linear2, norm1 to norm3, dropout1 to
// dropout3.
class TransformerDecoderLayer final : public LayerOf<Tensor, Tensor> {
 public:
  using Options = TransformerLayerOptions;
  explicit TransformerDecoderLayer(const Options& options);

  const Options& options() const { return options_; }
  std::string Describe() const override;

  using LayerOf<Tensor, Tensor>::operator();
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks);

 protected:
  Tensor Forward(const Tensor& tgt, const Tensor& memory) override;

 private:
  Tensor Compute(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks);

  const Options options_;
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
};

// src: a sequence      y: as src
// Children: layers, and norm if there is one.
class TransformerEncoder final : public Layer {
 public:
  using Options = TransformerStackOptions;
  explicit TransformerEncoder(const Options& options);

  const Options& options() const { return options_; }
  std::string Describe() const override;

  using Layer::operator();
  // The masks are every layer's.
  Tensor operator()(const Tensor& src, const AttentionMasks& masks);

 protected:
  Tensor Forward(const Tensor& src) override;

 private:
  Tensor Compute(const Tensor& src, const AttentionMasks& masks);

  const Options options_;
  ModuleList<TransformerEncoderLayer>& layers_;
  LayerNorm* norm_ = nullptr;
};

// tgt, memory: sequences      y: as tgt
// Children: layers, and norm if there is one.
class TransformerDecoder final : public LayerOf<Tensor, Tensor> {
 public:
  using Options = TransformerStackOptions;
  explicit TransformerDecoder(const Options& options);

  const Options& options() const { return options_; }
  std::string Describe() const override;

  using LayerOf<Tensor, Tensor>::operator();
  // The masks are every layer's.
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks);

 protected:
  Tensor Forward(const Tensor& tgt, const Tensor& memory) override;

 private:
  Tensor Compute(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks);

  const Options options_;
  ModuleList<TransformerDecoderLayer>& layers_;
  LayerNorm* norm_ = nullptr;
};

struct TransformerOptions {
  TransformerLayerOptions layer = {.embed = 512, .heads = 8};
  int64_t encoder_layers = 6, decoder_layers = 6;
};

struct TransformerMasks {
  AttentionMasks src = {};
  DecoderMasks tgt = {};
};

// An encoder and a decoder, with norms at their ends; all matrices start with Glorot's uniform
// numbers.
// src, tgt: sequences      y: as tgt
// Children: encoder, decoder.
class Transformer final : public LayerOf<Tensor, Tensor> {
 public:
  using Options = TransformerOptions;
  explicit Transformer(const Options& options = {});

  const Options& options() const { return options_; }
  std::string Describe() const override;

  using LayerOf<Tensor, Tensor>::operator();
  Tensor operator()(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks);

 protected:
  Tensor Forward(const Tensor& src, const Tensor& tgt) override;

 private:
  const Options options_;
  TransformerEncoder& encoder_;
  TransformerDecoder& decoder_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_TRANSFORMER_H_

#ifndef FIRN_NN_ZOO_TRANSFORMER_H_
#define FIRN_NN_ZOO_TRANSFORMER_H_

// Vaswani et al., "Attention is all you need", 2017. Below `transformer`, names and shapes are
// those of torch.nn.Transformer.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/embedding.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/transformer.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct TransformerOptions {
  int64_t vocabulary = 37000;  // of both languages
  int64_t hidden = 512;        // even
  int64_t layers = 6;          // of the encoder; of the decoder
  int64_t heads = 8;           // must divide hidden
  int64_t feedforward = 2048;  // features between the two products that follow attention
  double dropout = 0.1;
  template <class V>
  void Visit(V& v) {
    v.Field("vocabulary", vocabulary);
    v.Always("hidden", hidden);
    v.Always("layers", layers);
    v.Always("heads", heads);
    v.Field("feedforward", feedforward);
    v.Field("dropout", dropout);
  }
};

// A text and the beginning of its translation -> scores of each next token. src: [n, s] i64 below
// `vocabulary` tgt: [n, t], its first token marks the beginning y: [n, t, vocabulary] A token of
// tgt sees the tokens before it. Masks of padding (true is hidden) are options of a call:
//
//   Tensor scores = net(src, tgt, {.src = {.key_padding_mask = padding},
//                                  .tgt = {.memory = {.key_padding_mask = padding}}});
//
// Children: embedding, transformer, and generator, whose weight is the embedding's.
class Transformer final
    : public nn::LayerWithOptions<TransformerOptions, nn::LayerOf<Tensor, Tensor>> {
 public:
  // Throws unless the sizes are positive, `heads` divides `hidden` and that is even.
  explicit Transformer(const Options& options = {});

  using nn::LayerOf<Tensor, Tensor>::operator();
  // A token of tgt sees only the tokens before it, whatever the masks are.
  Tensor operator()(const Tensor& src, const Tensor& tgt, const nn::TransformerMasks& masks);

 protected:
  Tensor Forward(const Tensor& src, const Tensor& tgt) override;

 private:
  Tensor Embedded(const Tensor& ids);
  Tensor Compute(const Tensor& src, const Tensor& tgt, nn::TransformerMasks masks);

  nn::Embedding& embedding_;
  nn::Dropout& dropout_;
  nn::Transformer& transformer_;
  nn::Linear& generator_;
};

// Options of "transformer", the paper's base model. Throws for another name.
TransformerOptions TransformerOf(const std::string& name, const Options& options = {});

std::vector<Network> TransformerNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_TRANSFORMER_H_

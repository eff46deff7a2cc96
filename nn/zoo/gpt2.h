#ifndef FIRN_NN_ZOO_GPT2_H_
#define FIRN_NN_ZOO_GPT2_H_

// Radford et al., "Language models are unsupervised multitask learners", 2019. Names and shapes are
// those of transformers' GPT2LMHeadModel.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct Gpt2Options {
  int64_t vocabulary = 50257;
  int64_t positions = 1024;  // the longest text
  int64_t hidden = 768, layers = 12;
  int64_t heads = 12;    // must divide hidden
  double dropout = 0.1;  // of sums, and of weights of attention
  template <class V>
  void Visit(V& v) {
    v.Field("vocabulary", vocabulary);
    v.Field("positions", positions);
    v.Always("hidden", hidden);
    v.Always("layers", layers);
    v.Always("heads", heads);
    v.Field("dropout", dropout);
  }
};

class Gpt2Transformer;

// A text -> for each of its tokens, scores of what may follow it.
// ids: [n, t] i64 below `vocabulary`, t at most `positions`      y: [n, t, vocabulary]
//
// Files of weights have the names of this network or, published as "gpt2", those of its child
// transformer alone ("wte.weight"), and those made before 2023 hold "h.0.attn.bias" and
// "h.0.attn.masked_bias" too, which are masks and no parameters. lm_head.weight is
// transformer.wte.weight. Either kind of file loads by
//
//   nn::LoadReport report = net->FindChild("transformer")->LoadStateDict(
//       file, {.strict = false, .strip_prefix = "transformer."});
//
// where report.missing must be empty; the masks and lm_head.weight are in report.unexpected.
//
// Children: transformer.wte, .wpe, .h.0 ..., each of ln_1, attn.c_attn, attn.c_proj, ln_2,
// mlp.c_fc, mlp.c_proj, then transformer.ln_f; lm_head. Weights of the products in h are [in, out].
class Gpt2 final : public nn::LayerWithOptions<Gpt2Options> {
 public:
  // Throws unless the sizes are positive and `heads` divides `hidden`.
  explicit Gpt2(const Options& options = {});

  // From now on a call goes on from the tokens of those before it, whose keys and values are kept
  // for `batch` texts of up to `capacity` tokens (at most `positions`): each token costs one
  // token's work. A call that is captured reads the next token at each run (nn/kv_cache.h).
  // Gradients are not recorded. Throws unless both are positive.
  void BeginText(int64_t batch, int64_t capacity);
  // From now on each call reads a whole text.
  void EndText();

 protected:
  Tensor Forward(const Tensor& ids) override;

 private:
  Gpt2Transformer& transformer_;
  nn::Linear& lm_head_;
};

// Options of "gpt2", the smallest one. Throws for another name.
Gpt2Options Gpt2Of(const std::string& name, const Options& options = {});

std::vector<Network> Gpt2Networks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_GPT2_H_

#ifndef FIRN_NN_ZOO_BERT_H_
#define FIRN_NN_ZOO_BERT_H_

// Devlin et al., "BERT: pre-training of deep bidirectional transformers for language
// understanding", 2018. Names and shapes are those of transformers' BertModel.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/module_list.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct BertOptions {
  int64_t vocabulary = 30522, types = 2;
  int64_t positions = 512;  // the longest text
  int64_t hidden = 768, layers = 12;
  int64_t heads = 12;           // must divide hidden
  int64_t intermediate = 3072;  // features between the two products that follow attention
  double dropout = 0.1;         // of sums, and of weights of attention
  double eps = 1e-12;           // of the norms
  template <class V>
  void Visit(V& v) {
    v.Field("vocabulary", vocabulary);
    v.Field("types", types);
    v.Field("positions", positions);
    v.Always("hidden", hidden);
    v.Always("layers", layers);
    v.Always("heads", heads);
    v.Always("intermediate", intermediate);
    v.Field("dropout", dropout);
    v.Field("eps", eps);
  }
};

// The inputs of a text beside its tokens.
struct BertInputs {
  Tensor token_types = {};  // [n, t], the part of the text of each token; undefined: all in part 0
  Tensor mask = {};         // [n, t], 0 or false where a token is padding; undefined: none is
};

class BertEmbeddings;
class BertLayer;
class BertPooler;

// ids: [n, t] i64 below `vocabulary`, t at most `positions`      y: [n, t, hidden], the last states
//
//   Tensor states = bert(ids, {.token_types = types, .mask = mask});
//   Tensor pooled = bert.Pool(states);
//
// A file of BertForPreTraining or the like has "bert." before the names and the tensors of its
// heads beside them: LoadStateDict(file, {.strict = false, .strip_prefix = "bert."}). Files that
// transformers wrote before version 4.31 have the buffer "embeddings.position_ids", which counts
// positions; without `strict` it is passed over. Norms of files from 2018 are called gamma and
// beta.
// Children: embeddings.word_embeddings, .position_embeddings, .token_type_embeddings, .LayerNorm;
// encoder.layer.0 ..., each of attention.self.query, .key, .value, attention.output.dense,
// .LayerNorm, intermediate.dense, output.dense, .LayerNorm; pooler.dense.
class Bert final : public nn::LayerWithOptions<BertOptions> {
 public:
  // Throws unless the sizes are positive and `heads` divides `hidden`.
  explicit Bert(const Options& options = {});

  using nn::Layer::operator();
  Tensor operator()(const Tensor& ids, const BertInputs& inputs);
  // The input for classifiers of whole texts: tanh of a product with the first token's state.
  // states: [n, t, hidden] y: [n, hidden]
  Tensor Pool(const Tensor& states);

 protected:
  Tensor Forward(const Tensor& ids) override;

 private:
  struct Encoder;

  Tensor Compute(const Tensor& ids, const BertInputs& inputs);

  BertEmbeddings& embeddings_;
  Encoder& encoder_;
  BertPooler& pooler_;
};

// Options of "bert_base", "bert_tiny" (Turc et al., "Well-read students learn better", 2019: 2
// layers of 128) or "minilm_l6_h384" (Wang et al., "MiniLM", 2020: 6 layers of 384). Throws for
// another name.
BertOptions BertOf(const std::string& name, const Options& options = {});

std::vector<Network> BertNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_BERT_H_

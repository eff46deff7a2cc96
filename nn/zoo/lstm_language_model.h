#ifndef FIRN_NN_ZOO_LSTM_LANGUAGE_MODEL_H_
#define FIRN_NN_ZOO_LSTM_LANGUAGE_MODEL_H_

// Zaremba et al., "Recurrent neural network regularization", 2014. Names and shapes are those of
// PyTorch's example word_language_model.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/dropout.h"
#include "firn/nn/embedding.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/recurrent.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct LstmLanguageModelOptions {
  int64_t vocabulary = 10000;  // of the Penn treebank
  int64_t hidden = 650;        // also the size of an embedding
  int64_t layers = 2;
  double dropout = 0.5;  // of the input of each layer and the result of the last one
  double start = 0.05;   // the first numbers are uniform within it
  template <class V>
  void Visit(V& v) {
    v.Field("vocabulary", vocabulary);
    v.Always("hidden", hidden);
    v.Always("layers", layers);
    v.Field("dropout", dropout);
    v.Field("start", start);
  }
};

struct LstmLanguageModelResult {
  Tensor scores;    // [n, t, vocabulary]
  LstmState state;  // after the last token
};

// A text -> for each of its tokens, scores of what may follow it.
// ids: [n, t] i64 below `vocabulary`      y: [n, t, vocabulary]
//
//   auto [scores, state] = net.GoOn(ids, state);
//
// Children: encoder (an embedding), rnn, decoder.
class LstmLanguageModel final : public nn::LayerWithOptions<LstmLanguageModelOptions> {
 public:
  // Throws unless the sizes are positive.
  explicit LstmLanguageModel(const Options& options = {});

  // Goes on from a state, or, where it is empty, from zeros. Training in pieces of a text detaches
  // the state between them.
  LstmLanguageModelResult GoOn(const Tensor& ids, const LstmState& state);

 protected:
  Tensor Forward(const Tensor& ids) override;

 private:
  nn::Embedding& encoder_;
  nn::Dropout& drop_;
  nn::Lstm& rnn_;
  nn::Linear& decoder_;
};

// Options of "lstm_lm_small", which has no dropout, or "lstm_lm_medium". Throws for another name.
LstmLanguageModelOptions LstmLanguageModelOf(const std::string& name, const Options& options = {});

std::vector<Network> LstmLanguageModelNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_LSTM_LANGUAGE_MODEL_H_

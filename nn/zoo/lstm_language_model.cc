// Dropout stands between the layers alone, never between the steps of one: so the state is not
// disturbed, however long the text is.
#include "firn/nn/zoo/lstm_language_model.h"

#include <map>

#include "firn/nn/init.h"

namespace firn::zoo {

LstmLanguageModel::LstmLanguageModel(const Options& o)
    : LayerWithOptions(o),
      encoder_(
          Add<nn::Embedding>("encoder", {.count = o.vocabulary,
                                         .size = o.hidden,
                                         .weight_init = nn::init::Uniform(-o.start, o.start)})),
      drop_(Add<nn::Dropout>("drop", {.p = o.dropout})),
      rnn_(Add<nn::Lstm>("rnn", {.in = o.hidden,
                                 .hidden = o.hidden,
                                 .layers = o.layers,
                                 .batch_first = true,
                                 .dropout = o.dropout,
                                 .weight_init = nn::init::Uniform(-o.start, o.start)})),
      decoder_(Add<nn::Linear>("decoder", {.in = o.hidden,
                                           .out = o.vocabulary,
                                           .weight_init = nn::init::Uniform(-o.start, o.start),
                                           .bias_init = nn::init::Uniform(-o.start, o.start)})) {}

Tensor LstmLanguageModel::Forward(const Tensor& ids) {
  return decoder_(drop_(rnn_(drop_(encoder_(ids)))));
}

LstmLanguageModelResult LstmLanguageModel::GoOn(const Tensor& ids, const LstmState& state) {
  const nn::CallScope scope(*this);
  const LstmResult found = rnn_(drop_(encoder_(ids)), state);
  return {decoder_(drop_(found.y)), found.state};
}

namespace {

struct Published {
  LstmLanguageModelOptions options;
  int64_t parameters;
};

const std::map<std::string, Published>& All() {
  static const auto* const all = new std::map<std::string, Published>{
      {"lstm_lm_small", {{.hidden = 200, .dropout = 0, .start = 0.1}, 4'653'200}},
      {"lstm_lm_medium", {{}, 19'780'400}},
  };
  return *all;
}

}  // namespace

LstmLanguageModelOptions LstmLanguageModelOf(const std::string& name, const Options& options) {
  LstmLanguageModelOptions of = FindPublished(All(), name).options;
  ExpectNoClasses(options, name);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> LstmLanguageModelNetworks() {
  std::vector<Network> networks;
  for (const auto& [name, published] : All()) {
    networks.push_back(
        {.name = name,
         .paper = "Zaremba et al., \"Recurrent neural network regularization\", 2014",
         .origin = "PyTorch's example word_language_model",
         .inputs = {{"ids", {35}, published.options.vocabulary}},
         .parameters = published.parameters,
         .make = MakerOf<LstmLanguageModel>(LstmLanguageModelOf, name)});
  }
  return networks;
}

}  // namespace firn::zoo

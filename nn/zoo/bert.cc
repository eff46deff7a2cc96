// A layer is attention and two products; each result is added to its input and then normalised.
#include "firn/nn/zoo/bert.h"

#include <map>
#include <optional>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/nn/dropout.h"
#include "firn/nn/embedding.h"
#include "firn/nn/linear.h"
#include "firn/nn/norm.h"
#include "firn/tensor/error.h"
#include "firn/tensor/index.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/attention/attention.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

nn::LinearOptions Product(int64_t in, int64_t out) {
  return {.in = in,
          .out = out,
          .weight_init = nn::init::Normal(0, 0.02),
          .bias_init = nn::init::Constant(0)};
}

nn::LayerNormOptions NormOf(const BertOptions& o) { return {.shape = {o.hidden}, .eps = o.eps}; }

const BertOptions& Checked(const BertOptions& o) {
  if (o.heads < 1 || o.hidden < 1 || o.hidden % o.heads != 0 || o.layers < 1) {
    RaiseStatus(InvalidArgument("expected layers, and heads that divide hidden, got ", o.layers,
                                " layers and ", o.heads, " heads of hidden ", o.hidden),
                "zoo::Bert");
  }
  return o;
}

// The products of attention, which give [n, t, hidden].
class BertSelfAttention final : public nn::LayerOf<Tensor, Tensor> {
 public:
  explicit BertSelfAttention(const BertOptions& o)
      : heads_(o.heads),
        dropout_(o.dropout),
        query_(Add<nn::Linear>("query", Product(o.hidden, o.hidden))),
        key_(Add<nn::Linear>("key", Product(o.hidden, o.hidden))),
        value_(Add<nn::Linear>("value", Product(o.hidden, o.hidden))) {}

 protected:
  // mask: [n, 1, 1, t], or undefined.
  Tensor Forward(const Tensor& x, const Tensor& mask) override {
    const auto of_heads = [&](nn::Linear& product) {
      return Unflatten(product(x), 2, {heads_, -1}).Transpose(1, 2);
    };
    const Tensor seen =
        ScaledDotProductAttention(of_heads(query_), of_heads(key_), of_heads(value_),
                                  {.mask = mask, .dropout = training() ? dropout_ : 0});
    return seen.Transpose(1, 2).Flatten(2);
  }

 private:
  const int64_t heads_;
  const double dropout_;
  nn::Linear &query_, &key_, &value_;
};

// norm(x + dropout(dense(h))).
class BertResidual final : public nn::LayerOf<Tensor, Tensor> {
 public:
  BertResidual(const BertOptions& o, int64_t in)
      : dense_(Add<nn::Linear>("dense", Product(in, o.hidden))),
        norm_(Add<nn::LayerNorm>("LayerNorm", NormOf(o))),
        dropout_(Add<nn::Dropout>("dropout", {.p = o.dropout})) {}

 protected:
  Tensor Forward(const Tensor& h, const Tensor& x) override {
    return norm_(Add(dropout_(dense_(h)), x));
  }

 private:
  nn::Linear& dense_;
  nn::LayerNorm& norm_;
  nn::Dropout& dropout_;
};

class BertAttention final : public nn::LayerOf<Tensor, Tensor> {
 public:
  explicit BertAttention(const BertOptions& o)
      : self_(Add<BertSelfAttention>("self", o)),
        output_(Add<BertResidual>("output", o, o.hidden)) {}

 protected:
  Tensor Forward(const Tensor& x, const Tensor& mask) override {
    return output_(self_(x, mask), x);
  }

 private:
  BertSelfAttention& self_;
  BertResidual& output_;
};

class BertIntermediate final : public nn::Layer {
 public:
  explicit BertIntermediate(const BertOptions& o)
      : dense_(Add<nn::Linear>("dense", Product(o.hidden, o.intermediate))) {}

 protected:
  Tensor Forward(const Tensor& x) override { return Gelu(dense_(x)); }

 private:
  nn::Linear& dense_;
};

}  // namespace

class BertEmbeddings final : public nn::LayerOf<Tensor, Tensor> {
 public:
  explicit BertEmbeddings(const BertOptions& o)
      : words_(AddTable("word_embeddings", o.vocabulary, o.hidden, 0)),
        positions_(AddTable("position_embeddings", o.positions, o.hidden)),
        types_(AddTable("token_type_embeddings", o.types, o.hidden)),
        norm_(Add<nn::LayerNorm>("LayerNorm", NormOf(o))),
        dropout_(Add<nn::Dropout>("dropout", {.p = o.dropout})) {}

 protected:
  // types: as ids, or undefined.
  Tensor Forward(const Tensor& ids, const Tensor& types) override {
    const int64_t most = positions_.options().count;
    if (ids.rank() != 2 || ids.size(1) > most) {
      RaiseStatus(InvalidArgument("expected ids [n, t] with t at most ", most, ", got ",
                                  ids.shape().ToString()),
                  "zoo::Bert");
    }
    const Tensor type = types.defined() ? types_(types) : types_.weight()[{Range(0, 1)}];
    const Tensor position = positions_.weight()[{Range(0, ids.size(1))}];
    return dropout_(norm_(Add(Add(words_(ids), type), position)));
  }

 private:
  nn::Embedding& AddTable(const char* name, int64_t count, int64_t size,
                          std::optional<int64_t> padding = {}) {
    return Add<nn::Embedding>(name, {.count = count,
                                     .size = size,
                                     .padding_idx = padding,
                                     .weight_init = nn::init::Normal(0, 0.02)});
  }

  nn::Embedding &words_, &positions_, &types_;
  nn::LayerNorm& norm_;
  nn::Dropout& dropout_;
};

class BertLayer final : public nn::LayerOf<Tensor, Tensor> {
 public:
  explicit BertLayer(const BertOptions& o)
      : attention_(Add<BertAttention>("attention", o)),
        intermediate_(Add<BertIntermediate>("intermediate", o)),
        output_(Add<BertResidual>("output", o, o.intermediate)) {}

 protected:
  Tensor Forward(const Tensor& x, const Tensor& mask) override {
    const Tensor h = attention_(x, mask);
    return output_(intermediate_(h), h);
  }

 private:
  BertAttention& attention_;
  BertIntermediate& intermediate_;
  BertResidual& output_;
};

class BertPooler final : public nn::Layer {
 public:
  explicit BertPooler(const BertOptions& o)
      : dense_(Add<nn::Linear>("dense", Product(o.hidden, o.hidden))) {}

 protected:
  Tensor Forward(const Tensor& states) override { return Tanh(dense_(states[{kAll, 0}])); }

 private:
  nn::Linear& dense_;
};

struct Bert::Encoder final : nn::Module {
  explicit Encoder(const BertOptions& o) {
    for (int64_t i = 0; i < o.layers; ++i) layer.Append(o);
  }
  nn::ModuleList<BertLayer>& layer = Add<nn::ModuleList<BertLayer>>("layer");
};

Bert::Bert(const Options& options)
    : LayerWithOptions(Checked(options)),
      embeddings_(Add<BertEmbeddings>("embeddings", options)),
      encoder_(Add<Encoder>("encoder", options)),
      pooler_(Add<BertPooler>("pooler", options)) {}

Tensor Bert::Compute(const Tensor& ids, const BertInputs& inputs) {
  Tensor mask;
  if (inputs.mask.defined()) mask = Ne(inputs.mask, 0)[{kAll, kNewAxis, kNewAxis}];
  Tensor x = embeddings_(ids, inputs.token_types);
  for (BertLayer& layer : encoder_.layer) x = layer(x, mask);
  return x;
}

Tensor Bert::Forward(const Tensor& ids) { return Compute(ids, {}); }

Tensor Bert::operator()(const Tensor& ids, const BertInputs& inputs) {
  return CallAs([&](const Tensor& x) { return Compute(x, inputs); }, ids);
}

Tensor Bert::Pool(const Tensor& states) {
  const nn::CallScope scope(*this);
  return pooler_(states);
}

namespace {

struct Published {
  BertOptions options;
  const char* paper;
  const char* origin;
  int64_t parameters;
};

const std::map<std::string, Published>& All() {
  static const auto* const all = new std::map<std::string, Published>{
      {"bert_base",
       {{},
        "Devlin et al., \"BERT: pre-training of deep bidirectional transformers for language "
        "understanding\", 2018",
        "transformers.BertModel of bert-base-uncased",
        109'482'240}},
      {"bert_tiny",
       {{.hidden = 128, .layers = 2, .heads = 2, .intermediate = 512},
        "Turc et al., \"Well-read students learn better: on the importance of pre-training compact "
        "models\", 2019",
        "transformers.BertModel of google/bert_uncased_L-2_H-128_A-2",
        4'385'920}},
      {"minilm_l6_h384",
       {{.hidden = 384, .layers = 6, .intermediate = 1536},
        "Wang et al., \"MiniLM: deep self-attention distillation for task-agnostic compression of "
        "pre-trained transformers\", 2020",
        "transformers.BertModel of sentence-transformers/all-MiniLM-L6-v2",
        22'713'216}},
  };
  return *all;
}

}  // namespace

BertOptions BertOf(const std::string& name, const Options& options) {
  BertOptions of = FindPublished(All(), name).options;
  ExpectNoClasses(options, name);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> BertNetworks() {
  std::vector<Network> networks;
  for (const auto& [name, published] : All()) {
    networks.push_back({.name = name,
                        .paper = published.paper,
                        .origin = published.origin,
                        .inputs = {{"ids", {512}, published.options.vocabulary}},
                        .parameters = published.parameters,
                        .make = MakerOf<Bert>(BertOf, name)});
  }
  return networks;
}

}  // namespace firn::zoo

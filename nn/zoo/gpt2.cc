// A block is x + f(norm(x)) for attention and for two products. The last weights of a branch start
// the smaller, the more branches there are (2 * layers), since each adds to the sum.
#include "firn/nn/zoo/gpt2.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/nn/dropout.h"
#include "firn/nn/embedding.h"
#include "firn/nn/kv_cache.h"
#include "firn/nn/module_list.h"
#include "firn/nn/norm.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/attention/attention.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

constexpr double kStart = 0.02;  // deviation of the first weights

double EndOfBranch(const Gpt2Options& o) {
  return kStart / std::sqrt(2 * static_cast<double>(o.layers));
}

const Gpt2Options& Checked(const Gpt2Options& o) {
  if (o.heads < 1 || o.hidden < 1 || o.hidden % o.heads != 0 || o.layers < 1) {
    RaiseStatus(InvalidArgument("expected layers, and heads that divide hidden, got ", o.layers,
                                " layers and ", o.heads, " heads of hidden ", o.hidden),
                "zoo::Gpt2");
  }
  return o;
}

// y = x W + b with W [in, out], transformers' Conv1D.
class Gpt2Product final : public nn::Layer {
 public:
  Gpt2Product(int64_t in, int64_t out, double start)
      : weight_(AddPendingParameter("weight", {in, out})),
        bias_(AddPendingParameter("bias", {out})) {
    InitPending(weight_, {in, out}, nn::init::Normal(0, start));
    InitPending(bias_, {out}, nn::init::Constant(0));
  }

 protected:
  Tensor Forward(const Tensor& x) override { return Add(Matmul(x, weight_), bias_); }

 private:
  Tensor &weight_, &bias_;
};

class Gpt2Attention final : public nn::Layer {
 public:
  explicit Gpt2Attention(const Gpt2Options& o)
      : options_(o),
        c_attn_(Add<Gpt2Product>("c_attn", o.hidden, 3 * o.hidden, kStart)),
        c_proj_(Add<Gpt2Product>("c_proj", o.hidden, o.hidden, EndOfBranch(o))),
        dropout_(Add<nn::Dropout>("resid_dropout", {.p = o.dropout})) {}

  std::optional<nn::KvCache> cache;  // for the text that calls go on with

 protected:
  Tensor Forward(const Tensor& x) override {
    const std::vector<Tensor> h =
        Unflatten(c_attn_(x), 2, {3, options_.heads, -1}).Permute({2, 0, 3, 1, 4}).Unbind();
    nn::KvCache::View seen = {h[1], h[2], {}};
    if (cache) seen = cache->Append(h[1], h[2]);
    const Tensor found = ScaledDotProductAttention(
        h[0], seen.keys, seen.values,
        {.mask = seen.mask, .dropout = training() ? options_.dropout : 0, .is_causal = !cache});
    return dropout_(c_proj_(found.Transpose(1, 2).Flatten(2)));
  }

 private:
  const Gpt2Options options_;
  Gpt2Product &c_attn_, &c_proj_;
  nn::Dropout& dropout_;
};

class Gpt2Mlp final : public nn::Layer {
 public:
  explicit Gpt2Mlp(const Gpt2Options& o)
      : c_fc_(Add<Gpt2Product>("c_fc", o.hidden, 4 * o.hidden, kStart)),
        c_proj_(Add<Gpt2Product>("c_proj", 4 * o.hidden, o.hidden, EndOfBranch(o))),
        dropout_(Add<nn::Dropout>("dropout", {.p = o.dropout})) {}

 protected:
  Tensor Forward(const Tensor& x) override {
    return dropout_(c_proj_(Gelu(c_fc_(x), GeluApproximate::kTanh)));
  }

 private:
  Gpt2Product &c_fc_, &c_proj_;
  nn::Dropout& dropout_;
};

struct Gpt2Block final : nn::Layer {
  explicit Gpt2Block(const Gpt2Options& o)
      : ln_1(Add<nn::LayerNorm>("ln_1", {.shape = {o.hidden}})),
        attn(Add<Gpt2Attention>("attn", o)),
        ln_2(Add<nn::LayerNorm>("ln_2", {.shape = {o.hidden}})),
        mlp(Add<Gpt2Mlp>("mlp", o)) {}

  Tensor Forward(const Tensor& x) override {
    const Tensor h = Add(x, attn(ln_1(x)));
    return Add(h, mlp(ln_2(h)));
  }

  nn::LayerNorm& ln_1;
  Gpt2Attention& attn;
  nn::LayerNorm& ln_2;
  Gpt2Mlp& mlp;
};

nn::EmbeddingOptions TableOf(int64_t count, int64_t size, double start) {
  return {.count = count, .size = size, .weight_init = nn::init::Normal(0, start)};
}

}  // namespace

class Gpt2Transformer final : public nn::Layer {
 public:
  explicit Gpt2Transformer(const Gpt2Options& o)
      : options_(o),
        wte_(Add<nn::Embedding>("wte", TableOf(o.vocabulary, o.hidden, kStart))),
        wpe_(Add<nn::Embedding>("wpe", TableOf(o.positions, o.hidden, kStart))),
        dropout_(Add<nn::Dropout>("drop", {.p = o.dropout})),
        h_(Add<nn::ModuleList<Gpt2Block>>("h")),
        ln_f_(Add<nn::LayerNorm>("ln_f", {.shape = {o.hidden}})) {
    for (int64_t i = 0; i < o.layers; ++i) h_.Append(o);
  }

  const Tensor& words() const { return wte_.weight(); }

  void BeginText(int64_t batch, int64_t capacity) {
    if (batch < 1 || capacity < 1 || capacity > options_.positions) {
      RaiseStatus(InvalidArgument("expected texts, of up to ", options_.positions, " tokens, got ",
                                  batch, " of ", capacity),
                  "zoo::Gpt2");
    }
    for (Gpt2Block& block : h_) {
      block.attn.cache.emplace(nn::KvCacheOptions{.batch = batch,
                                                  .heads = options_.heads,
                                                  .width = options_.hidden / options_.heads,
                                                  .capacity = capacity,
                                                  .dtype = words().dtype(),
                                                  .device = words().device()});
    }
  }
  void EndText() {
    for (Gpt2Block& block : h_) block.attn.cache.reset();
  }

 protected:
  Tensor Forward(const Tensor& ids) override {
    if (ids.rank() != 2 || ids.size(1) > options_.positions) {
      RaiseStatus(InvalidArgument("expected ids [n, t] with t at most ", options_.positions,
                                  ", got ", ids.shape().ToString()),
                  "zoo::Gpt2");
    }
    Tensor at = Arange(int64_t{0}, ids.size(1), 1, {.device = ids.device()});
    if (h_[0].attn.cache) at = Add(at, h_[0].attn.cache->position());
    Tensor x = dropout_(Add(wte_(ids), wpe_(at)));
    for (Gpt2Block& block : h_) x = block(x);
    return ln_f_(x);
  }

 private:
  const Gpt2Options options_;
  nn::Embedding &wte_, &wpe_;
  nn::Dropout& dropout_;
  nn::ModuleList<Gpt2Block>& h_;
  nn::LayerNorm& ln_f_;
};

Gpt2::Gpt2(const Options& options)
    : LayerWithOptions(Checked(options)),
      transformer_(Add<Gpt2Transformer>("transformer", options)),
      lm_head_(Add<nn::Linear>("lm_head",
                               {.in = options.hidden, .out = options.vocabulary, .bias = false})) {
  ShareParameter("lm_head.weight", transformer_.words());
}

void Gpt2::BeginText(int64_t batch, int64_t capacity) { transformer_.BeginText(batch, capacity); }

void Gpt2::EndText() { transformer_.EndText(); }

Tensor Gpt2::Forward(const Tensor& ids) { return lm_head_(transformer_(ids)); }

namespace {

constexpr int64_t kParameters = 124'439'808;

const std::map<std::string, Gpt2Options>& All() {
  static const auto* const all = new std::map<std::string, Gpt2Options>{{"gpt2", {}}};
  return *all;
}

}  // namespace

Gpt2Options Gpt2Of(const std::string& name, const Options& options) {
  Gpt2Options of = FindPublished(All(), name);
  ExpectNoClasses(options, name);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> Gpt2Networks() {
  return {{.name = "gpt2",
           .paper = "Radford et al., \"Language models are unsupervised multitask learners\", 2019",
           .origin = "transformers.GPT2LMHeadModel of gpt2",
           .inputs = {{"ids", {1024}, 50257}},
           .parameters = kParameters,
           .make = MakerOf<Gpt2>(Gpt2Of, "gpt2")}};
}

}  // namespace firn::zoo

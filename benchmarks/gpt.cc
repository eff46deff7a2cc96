// The network of A. Radford et al., "Language models are unsupervised multitask learners", 2019:
// norms before attention and products, and one at the end.
#include "benchmarks/gpt.h"

#include <memory>
#include <vector>

#include "firn/nn/embedding.h"
#include "firn/nn/kv_cache.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/norm.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/attention/attention.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/split.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::benchmarks {
namespace {

constexpr int64_t kLayers = 4, kWidth = 256, kHeads = 8, kTokens = 256;
constexpr int64_t kTrained = 128, kContext = 256;  // tokens of a learned sequence; the most

// Keys and values of each layer. If it is empty, a sequence is computed at once.
using Caches = std::vector<std::unique_ptr<nn::KvCache>>;

class Block final : public nn::Module {
 public:
  // x: [n, tokens, width]
  Tensor operator()(const Tensor& x, nn::KvCache* cache) {
    const Tensor y = x + proj_(Attend(norm1_(x), cache));
    return y + down_(Gelu(up_(norm2_(y))));
  }

 private:
  static Tensor ByHeads(const Tensor& x) {
    return Permute(Reshape(x, {x.size(0), x.size(1), kHeads, kWidth / kHeads}), {0, 2, 1, 3});
  }
  Tensor Attend(const Tensor& x, nn::KvCache* cache) {
    const std::vector<Tensor> qkv = Split(qkv_(x), kWidth, 2);
    const Tensor q = ByHeads(qkv[0]), k = ByHeads(qkv[1]), v = ByHeads(qkv[2]);
    if (cache == nullptr) return Joined(ScaledDotProductAttention(q, k, v, {.is_causal = true}));
    const nn::KvCache::View seen = cache->Append(k, v);
    return Joined(ScaledDotProductAttention(q, seen.keys, seen.values, {.mask = seen.mask}));
  }
  static Tensor Joined(const Tensor& y) {
    return Reshape(Permute(y, {0, 2, 1, 3}), {y.size(0), y.size(2), kWidth});
  }

  nn::LayerNorm& norm1_ = Add<nn::LayerNorm>("norm1", {.shape = {kWidth}});
  nn::Linear& qkv_ = Add<nn::Linear>("qkv", {.in = kWidth, .out = 3 * kWidth});
  nn::Linear& proj_ = Add<nn::Linear>("proj", {.in = kWidth, .out = kWidth});
  nn::LayerNorm& norm2_ = Add<nn::LayerNorm>("norm2", {.shape = {kWidth}});
  nn::Linear& up_ = Add<nn::Linear>("up", {.in = kWidth, .out = 4 * kWidth});
  nn::Linear& down_ = Add<nn::Linear>("down", {.in = 4 * kWidth, .out = kWidth});
};

// tokens: i64 [n, length]      y: logits [n, length, tokens]
class Gpt final : public nn::Layer {
 public:
  Gpt() {
    for (int64_t i = 0; i < kLayers; ++i) blocks_.Append<Block>();
  }
  // Logits of the tokens at these places, with the cache of each layer, if there are caches.
  Tensor Run(const Tensor& tokens, const Tensor& places, const Caches& caches) {
    Tensor x = token_(tokens) + place_(places);
    for (size_t i = 0; i < blocks_.size(); ++i) {
      x = blocks_[i](x, caches.empty() ? nullptr : caches[i].get());
    }
    return head_(norm_(x));
  }

 protected:
  Tensor Forward(const Tensor& tokens) override {
    return Run(tokens, Arange(int64_t{0}, tokens.size(1), int64_t{1}, {.device = tokens.device()}),
               {});
  }

 private:
  nn::Embedding& token_ = Add<nn::Embedding>("token", {.count = kTokens, .size = kWidth});
  nn::Embedding& place_ = Add<nn::Embedding>("place", {.count = kContext, .size = kWidth});
  nn::ModuleList<Block>& blocks_ = Add<nn::ModuleList<Block>>("blocks");
  nn::LayerNorm& norm_ = Add<nn::LayerNorm>("norm", {.shape = {kWidth}});
  nn::Linear& head_ = Add<nn::Linear>("head", {.in = kWidth, .out = kTokens, .bias = false});
};

class LearnTokens final : public Workload {
 public:
  LearnTokens() : Workload(std::make_unique<Gpt>()) {}
  HashBatch Batch(int64_t step, int64_t n) const override {
    const Tensor all = TokensOfStep(step, {n, kTrained + 1}, kTokens);
    return {Slice(all, 1, 0, kTrained).Clone(), Slice(all, 1, 1, kTrained + 1).Clone()};
  }
  Tensor Loss(const Tensor& input, const Tensor& labels) override {
    return CrossEntropy(Reshape(net()(input), {-1, kTokens}), Reshape(labels, {-1}));
  }
};

class SayTokens final : public Workload {
 public:
  explicit SayTokens(int64_t batch)
      : Workload(std::make_unique<Gpt>(), StepKind::kRun), batch_(batch) {}

  HashBatch Batch(int64_t step, int64_t n) const override {
    return {TokensOfStep(step, {n, 1}, kTokens), Zeros({0}, DType::kI64)};
  }
  int64_t calls() const override { return kContext; }
  void BeginStep(const HashBatch& batch) override {
    if (caches_.empty()) Begin(batch.input.device());
    for (const auto& cache : caches_) cache->Truncate(0);
    token_.CopyFrom(batch.input);
  }
  // Generates one more token.
  Tensor Loss(const Tensor& /*input*/, const Tensor& /*labels*/) override {
    const Tensor place = Reshape(caches_[0]->position(), {1});
    const Tensor logits = static_cast<Gpt&>(net()).Run(token_, place, caches_);
    inner::Assign(token_, Argmax(logits, 2));
    return Mean(logits * logits);
  }

 private:
  void Begin(Device device) {
    const nn::KvCacheOptions options{.batch = batch_,
                                     .heads = kHeads,
                                     .width = kWidth / kHeads,
                                     .capacity = kContext,
                                     .device = device};
    while (caches_.size() < kLayers) caches_.push_back(std::make_unique<nn::KvCache>(options));
    token_ = Zeros({batch_, 1}, DType::kI64, device);
  }

  const int64_t batch_;
  Caches caches_;
  Tensor token_;
};

}  // namespace

std::unique_ptr<Workload> MakeGpt() { return std::make_unique<LearnTokens>(); }
std::unique_ptr<Workload> MakeDecode(int64_t batch) { return std::make_unique<SayTokens>(batch); }

}  // namespace firn::benchmarks

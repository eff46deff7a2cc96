// A small GPT (A. Radford et al., 2018): a Transformer that reads a text and says of each character
// what may come next. `gpt [FILE [STEPS [BEGINNING]]]` learns the text of a file, by default a
// multiplication table in any order, and writes on from BEGINNING. Caches keep what it has read, so
// each further character costs the work of one, and each step runs as a graph.

#include <chrono>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

constexpr int64_t kContext = 128;  // characters that the network reads at once
constexpr int64_t kBatch = 8, kBlocks = 2, kHeads = 4, kWidth = 64;
constexpr double kTemperature = 0.5;  // below 1, likely characters are drawn even more often

struct Block : nn::Layer {
  nn::LayerNorm& norm1 = Add<nn::LayerNorm>("norm1");
  nn::Linear& qkv = Add<nn::Linear>("qkv", {.in = kWidth, .out = 3 * kWidth});
  nn::Linear& project = Add<nn::Linear>("project", {.in = kWidth, .out = kWidth});
  nn::LayerNorm& norm2 = Add<nn::LayerNorm>("norm2");
  nn::Linear& grow = Add<nn::Linear>("grow", {.in = kWidth, .out = 4 * kWidth});
  nn::Linear& shrink = Add<nn::Linear>("shrink", {.in = 4 * kWidth, .out = kWidth});
  std::optional<nn::KvCache> cache;  // if there is one, x continues what it has seen

  Tensor Forward(const Tensor& x) override {  // [n, t, kWidth]
    // Queries, keys and values of each head, [n, kHeads, t, width of a head]. Queries and keys are
    // rotated by their place in the text.
    const auto h = Unbind(Unflatten(qkv(norm1(x)), 2, {3, kHeads, -1}).Permute({2, 0, 3, 1, 4}));
    const Tensor at = cache ? Arange(x.size(1)) + cache->position() : Arange(x.size(1));
    const Tensor q = RotaryEmbedding(h[0], {.positions = at});
    nn::KvCache::View seen{RotaryEmbedding(h[1], {.positions = at}), h[2], {}};
    if (cache) seen = cache->Append(seen.keys, seen.values);
    const Tensor found = ScaledDotProductAttention(q, seen.keys, seen.values,
                                                   {.mask = seen.mask, .is_causal = !cache});
    const Tensor y = x + project(found.Transpose(1, 2).Flatten(2));
    return y + shrink(Gelu(grow(norm2(y))));
  }
};

struct Gpt : nn::Layer {
  Gpt() {
    for (int64_t i = 0; i < kBlocks; ++i) blocks.Append();
  }
  nn::Embedding& embedding = Add<nn::Embedding>("embedding", {.count = 256, .size = kWidth});
  nn::ModuleList<Block>& blocks = Add<nn::ModuleList<Block>>("blocks");
  nn::LayerNorm& norm = Add<nn::LayerNorm>("norm");
  nn::Linear& head = Add<nn::Linear>("head", {.in = kWidth, .out = 256});

  // Characters [n, t] -> scores of what may follow each: [n, t, 256].
  Tensor Forward(const Tensor& text) override {
    Tensor x = embedding(text);
    for (Block& block : blocks) x = block(x);
    return head(norm(x));
  }
};

// Draws a character that may follow the last one: [n, 1].
Tensor Draw(const Tensor& scores) {
  return Multinomial(Softmax(scores[{kAll, -1}] / kTemperature, -1), 1);
}

double Rate(int64_t characters, std::chrono::steady_clock::time_point since) {
  return static_cast<double>(characters) /
         std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

void Train(Gpt& net, const Tensor& text, int64_t steps) {
  optim::AdamW adam(net.named_parameters(), {.lr = 8e-3});
  // The step itself draws random pieces of the text, so it needs no input.
  StaticGraph step = Freeze([&] {
    const Tensor begin = Randint(0, text.size(0) - kContext, {kBatch, 1});
    const Tensor pieces = text[begin + Arange(kContext + 1)];
    const Tensor scores = net(pieces[{kAll, Range(0, kContext)}]);
    adam.ZeroGrad();
    Tensor loss = CrossEntropy(scores.Flatten(0, 1), pieces[{kAll, Range(1)}].Flatten());
    loss.Backward();
    adam.Step();
    return loss;
  });
  optim::Scheduler schedule(adam, optim::CosineLr({.steps = steps}));
  const auto since = std::chrono::steady_clock::now();
  for (int64_t i = 1; i <= steps; ++i) {
    const Tensor loss = step();
    schedule.Step();
    if (i % 100 != 0 && i != steps) continue;
    std::cout << "step " << i << ": loss " << loss.Item() << ", "
              << Rate(i * kBatch * kContext, since) << " characters/s\n";
  }
}

// Returns text [1, t] and `count` more characters. Without caches the network reads the text again
// for each.
Tensor WriteOn(Gpt& net, const Tensor& text, int64_t count, bool caches) {
  const nn::KvCacheOptions room{
      .heads = kHeads, .width = kWidth / kHeads, .capacity = text.size(1) + count};
  for (Block& block : net.blocks) {
    if (caches) block.cache.emplace(room);
  }
  // Reads one character. The first call captures the step; later calls run its graph.
  nn::StaticModule step(net, [&](const Tensor& last) { return Draw(net(last)); });
  std::vector<Tensor> all = {text, Draw(net(text))};
  for (int64_t i = 1; i < count; ++i) {
    all.push_back(caches ? step(all.back()) : Draw(net(Concat(all, 1))));
  }
  for (Block& block : net.blocks) block.cache.reset();
  return Concat(all, 1);
}

Tensor Bytes(const std::string& text) {
  return FromVector(std::vector<uint8_t>(text.begin(), text.end())).To(DType::kI64);
}

int main(int argc, char** argv) {
  ManualSeed(1);
  std::ostringstream text;
  if (argc > 1) {
    text << std::ifstream(argv[1]).rdbuf();
  } else {
    for (const int i : Randint(9, 90, {3000}).ToVector<int>()) {
      text << i / 9 << " x " << i % 9 + 1 << " = " << i / 9 * (i % 9 + 1) << "\n";
    }
  }
  const Tensor bytes = Bytes(text.str());
  const Tensor beginning = Bytes(argc > 3 ? argv[3] : "6 x 7 =").Unsqueeze(0);
  const int64_t count = kContext - beginning.size(1);
  if (bytes.size(0) <= kContext || count < 1 || count == kContext) {
    std::cerr << "gpt: wants more than 128 characters to learn, and a beginning of fewer\n";
    return 2;
  }
  Gpt net;
  Train(net, bytes, argc > 2 ? std::stoll(argv[2]) : 500);

  const NoGradScope no_grad;
  Tensor texts[2];
  for (const bool slowly : {false, true}) {
    ManualSeed(2);  // the same draws
    const auto since = std::chrono::steady_clock::now();
    texts[slowly] = WriteOn(net, beginning, count, !slowly);
    std::cout << (slowly ? "without" : "with") << " caches: " << Rate(count, since)
              << " characters/s\n";
  }
  std::cout << (texts[0].Equals(texts[1]) ? "the same text" : "different texts") << ":\n";
  for (const uint8_t c : texts[0].ToVector<uint8_t>()) std::cout << static_cast<char>(c);
  std::cout << "\n";
}

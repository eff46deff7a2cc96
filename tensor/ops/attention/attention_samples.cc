#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "firn/device/philox.h"
#include "firn/tensor/ops/attention/attention.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using Index = std::array<int64_t, 4>;

double& At(RefTensor& t, const Index& i) { return t.at(i); }
double At(const RefTensor& t, const Index& i) { return t.at(i); }

// An element of a mask of up to four dimensions, broadcast.
double MaskAt(const RefTensor& mask, const Index& at) {
  const int rank = mask.shape.rank();
  std::vector<int64_t> index;
  for (int i = 0; i < rank; ++i) {
    index.push_back(mask.shape[i] == 1 ? 0 : at[static_cast<size_t>(4 - rank + i)]);
  }
  return mask.at(index);
}

// A call, weight by weight.
struct Written {
  Written(absl::Span<const RefTensor> inputs, AttrsRef attrs)
      : in(inputs), a(attrs.get<AttentionAttrs>()) {
    const Shape &q = in[0].shape, &v = in[2].shape;
    batch = q[0], heads = q[1], length = q[2], width = q[3];
    kv_heads = v[1], source = v[2], value_width = v[3];
  }

  double Score(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double s = 0;
    for (int64_t c = 0; c < width; ++c) {
      s += At(in[0], {b, h, i, c}) * At(in[1], {b, h * kv_heads / heads, j, c});
    }
    s *= a.scale;
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    if (a.causal && j > i) return kNone;
    if (!in[3].defined()) return s;
    const double m = MaskAt(in[3], {b, h, i, j});
    if (in[3].dtype == DType::kBool) return m != 0 ? s : kNone;
    return s + m;
  }
  double Logsumexp(int64_t b, int64_t h, int64_t i) const {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t j = 0; j < source; ++j) top = std::max(top, Score(b, h, i, j));
    if (std::isinf(top)) return top;
    for (int64_t j = 0; j < source; ++j) sum += std::exp(Score(b, h, i, j) - top);
    return top + std::log(sum);
  }
  double Kept(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (a.dropout == 0) return 1;
    const PhiloxState at{static_cast<uint64_t>(static_cast<int64_t>(in[4][0])),
                         static_cast<uint64_t>(static_cast<int64_t>(in[4][1]))};
    const int64_t e = ((b * heads + h) * length + i) * source + j;
    const uint32_t word = PhiloxAt(at, static_cast<uint64_t>(e / 4)).v[e % 4];
    return word / 0x1p32 < a.dropout ? 0 : 1 / (1 - a.dropout);
  }

  absl::Span<const RefTensor> in;
  const AttentionAttrs& a;
  int64_t batch, heads, length, width, kv_heads, source, value_width;
};

std::vector<RefTensor> Forward(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const Written w(in, attrs);
  RefTensor y(Shape({w.batch, w.length, w.heads, w.value_width}));
  RefTensor logs(Shape({w.batch, w.heads, w.length}));
  int64_t row = 0;
  for (int64_t b = 0; b < w.batch; ++b) {
    for (int64_t h = 0; h < w.heads; ++h) {
      for (int64_t i = 0; i < w.length; ++i) {
        const double log = logs[row++] = w.Logsumexp(b, h, i);
        for (int64_t j = 0; j < w.source && !std::isinf(log); ++j) {
          const double weight = std::exp(w.Score(b, h, i, j) - log) * w.Kept(b, h, i, j);
          for (int64_t c = 0; c < w.value_width; ++c) {
            At(y, {b, i, h, c}) += weight * At(in[2], {b, h * w.kv_heads / w.heads, j, c});
          }
        }
      }
    }
  }
  return {y, logs};
}

// From the given logarithms and result, as the operation takes them.
std::vector<RefTensor> Backward(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const Written w(in, attrs);
  const RefTensor &dy = in[5], &y = in[6], &logs = in[7];
  RefTensor dq(Shape({w.batch, w.length, w.heads, w.width}));
  RefTensor dk(Shape({w.batch, w.source, w.kv_heads, w.width}));
  RefTensor dv(Shape({w.batch, w.source, w.kv_heads, w.value_width}));
  for (int64_t b = 0; b < w.batch; ++b) {
    for (int64_t h = 0; h < w.heads; ++h) {
      const int64_t kv = h * w.kv_heads / w.heads;
      for (int64_t i = 0; i < w.length; ++i) {
        double dot = 0;
        for (int64_t c = 0; c < w.value_width; ++c)
          dot += At(dy, {b, i, h, c}) * At(y, {b, i, h, c});
        for (int64_t j = 0; j < w.source; ++j) {
          const double score = w.Score(b, h, i, j);
          if (std::isinf(score)) continue;
          const double weight = std::exp(score - logs[(b * w.heads + h) * w.length + i]);
          const double kept = w.Kept(b, h, i, j);
          double dweight = 0;
          for (int64_t c = 0; c < w.value_width; ++c) {
            dweight += At(dy, {b, i, h, c}) * At(in[2], {b, kv, j, c}) * kept;
            At(dv, {b, j, kv, c}) += weight * kept * At(dy, {b, i, h, c});
          }
          const double dscore = weight * (dweight - dot) * w.a.scale;
          for (int64_t c = 0; c < w.width; ++c) {
            At(dq, {b, i, h, c}) += dscore * At(in[1], {b, kv, j, c});
            At(dk, {b, j, kv, c}) += dscore * At(in[0], {b, h, i, c});
          }
        }
      }
    }
  }
  return {dq, dk, dv};
}

// Query 1 sees no key, the others see all keys but some.
Tensor SomeSeen(int64_t length, int64_t source) {
  std::vector<int64_t> seen(static_cast<size_t>(length * source), 1);
  for (int64_t j = 0; j < source; ++j) seen[static_cast<size_t>(source + j)] = 0;
  for (size_t at = 0; at < seen.size(); at += 3) seen[at] = 0;
  return Cast(Indices(std::move(seen), {length, source}), DType::kBool);
}

struct Call {
  std::string name;
  Shape q, v;  // k is like v, but with q's width
  Tensor mask;
  AttentionAttrs attrs;
};
std::vector<Call> Calls() {
  const Tensor none;
  return {
      {"plain", {2, 2, 3, 4}, {2, 2, 5, 3}, none, {.scale = 0.5}},
      {"causal", {1, 2, 4, 3}, {1, 2, 4, 2}, none, {.scale = 0.6, .causal = true}},
      {"causal, more keys", {1, 1, 3, 2}, {1, 1, 5, 2}, none, {.scale = 0.7, .causal = true}},
      {"causal, more queries", {1, 1, 5, 2}, {1, 1, 3, 2}, none, {.scale = 0.7, .causal = true}},
      {"some seen", {1, 2, 3, 2}, {1, 2, 4, 3}, SomeSeen(3, 4), {.scale = 0.7}},
      {"some seen, causal",
       {1, 1, 4, 2},
       {1, 1, 4, 3},
       SomeSeen(4, 4),
       {.scale = 0.7, .causal = true}},
      {"added", {2, 2, 3, 2}, {2, 2, 4, 3}, Normal({2, 1, 3, 4}, 9), {.scale = 0.7}},
      {"added to keys", {2, 2, 3, 2}, {2, 2, 4, 3}, Normal({4}, 9), {.scale = 0.7}},
      {"added to queries", {1, 2, 3, 2}, {1, 2, 4, 3}, Normal({2, 3, 1}, 9), {.scale = 0.7}},
      {"dropout", {2, 1, 3, 2}, {2, 1, 5, 3}, none, {.scale = 0.7, .dropout = 0.4}},
      {"dropout, added",
       {1, 2, 3, 2},
       {1, 2, 5, 3},
       Normal({3, 5}, 9),
       {.scale = 0.7, .dropout = 0.4}},
      {"all dropped", {1, 1, 2, 2}, {1, 1, 3, 3}, none, {.scale = 0.7, .dropout = 1}},
      {"groups", {1, 6, 3, 2}, {1, 2, 4, 3}, none, {.scale = 0.7, .causal = true}},
      {"groups, dropout, some seen",
       {2, 4, 3, 2},
       {2, 2, 4, 3},
       SomeSeen(3, 4),
       {.scale = 0.7, .dropout = 0.2}},
      {"wide", {1, 1, 2, 40}, {1, 1, 3, 37}, none, {.scale = 0.15}},
      {"one key", {1, 1, 2, 2}, {1, 1, 1, 2}, none, {.scale = 0.7}},
      {"no keys", {1, 1, 2, 2}, {1, 1, 0, 2}, none, {.scale = 0.7}},
      {"no queries", {1, 1, 0, 2}, {1, 1, 2, 2}, none, {.scale = 0.7}},
      {"no heads", {2, 0, 3, 2}, {2, 0, 2, 2}, none, {.scale = 0.7}},
      {"no width", {1, 2, 3, 0}, {1, 2, 4, 2}, none, {.scale = 1}},
      {"8 heads", {2, 8, 3, 3}, {2, 8, 4, 3}, none, {.scale = 0.7}},
      // A call that cuDNN takes in half types.
      {"eights", {1, 2, 17, 16}, {1, 1, 21, 8}, none, {.scale = 0.3, .causal = true}},
  };
}
// More than a tile each way.
std::vector<Call> LongCalls() {
  return {
      {"tiles", {1, 2, 70, 5}, {1, 1, 150, 6}, Tensor(), {.scale = 0.4}},
      {"tiles, causal", {1, 1, 141, 5}, {1, 1, 139, 6}, Tensor(), {.scale = 0.4, .causal = true}},
      {"tiles, seen, dropout",
       {1, 1, 67, 3},
       {1, 1, 133, 4},
       SomeSeen(67, 133),
       {.scale = 0.5, .dropout = 0.3, .causal = true}},
      {"tiles, added", {1, 1, 65, 3}, {1, 1, 130, 4}, Normal({65, 130}, 9), {.scale = 0.5}},
  };
}

std::vector<Tensor> InputsOf(const Call& c) {
  const Shape k{c.v[0], c.v[1], c.v[2], c.q[3]};
  const Tensor position = c.attrs.dropout > 0 ? Indices({7, 100}) : Tensor();
  return {Normal(c.q, 1), Normal(k, 2), Normal(c.v, 3), c.mask, position};
}
Shape ByRows(const Shape& q, const Shape& v) { return {q[0], q[2], q[1], v[3]}; }

FIRN_REGISTER_SAMPLES(scaled_dot_product_attention) {
  s.Function([](In in, const AttentionAttrs& a) {
    RandomGenerator generator;
    if (in[4].defined()) generator.SetState(in[4]);
    const Tensor y = ScaledDotProductAttention(in[0], in[1], in[2],
                                               {.mask = in[3],
                                                .dropout = a.dropout,
                                                .is_causal = a.causal,
                                                .scale = a.scale,
                                                .enable_gqa = in[0].size(1) != in[1].size(1),
                                                .generator = &generator});
    return Permute(y, {0, 2, 1, 3});
  });
  s.Reference(Forward);
  for (const Call& c : Calls()) s.Add(c.name, InputsOf(c), c.attrs);
  for (const Call& c : LongCalls()) s.Add(c.name, InputsOf(c), c.attrs);
  const auto large = [](const Shape& shape) {
    return std::vector<Tensor>{Normal(shape, 1), Normal(shape, 2), Normal(shape, 3), Tensor(),
                               Tensor()};
  };
  s.AddLarge("2x8x2048x64", large({2, 8, 2048, 64}), AttentionAttrs{.scale = 0.125}, 17.2e9, 34e6);
  s.AddLarge("8x8x128x32, causal", large({8, 8, 128, 32}),
             AttentionAttrs{.scale = 0.177, .causal = true}, 67e6, 4.2e6);
  const auto error = [&](const char* name, Call c, const std::string& message) {
    s.AddError(name, InputsOf(c), c.attrs, message);
  };
  error("values", {"", {1, 2, 3, 4}, {2, 2, 5, 3}, {}, {}}, "do not fit: want [batch, heads,");
  error("heads", {"", {1, 3, 3, 4}, {1, 2, 5, 3}, {}, {}},
        "the 3 heads of q are no multiple of the 2 of k and v");
  error("mask", {"", {1, 2, 3, 4}, {1, 2, 5, 3}, Normal({5, 3}), {}},
        "mask [5, 3] does not broadcast to the scores [1, 2, 3, 5]");
  error("mask of integers", {"", {1, 2, 3, 4}, {1, 2, 5, 3}, Indices({1, 0, 1, 0, 1}), {}},
        "mask must be f32, f64, f16, bf16 or bool, got i64");
  error("dropout", {"", {1, 2, 3, 4}, {1, 2, 5, 3}, {}, {.dropout = 1.5}},
        "dropout 1.5 is outside [0, 1]");
  s.AddError("no position",
             {Normal({1, 1, 2, 2}), Normal({1, 1, 2, 2}), Normal({1, 1, 2, 2}), {}, {}},
             AttentionAttrs{.dropout = 0.5}, "a dropout of 0.5 needs a position");
}

FIRN_REGISTER_SAMPLES(scaled_dot_product_attention_grad) {
  s.Internal("the gradient of scaled_dot_product_attention");
  s.Reference(Backward);
  const auto add = [&](const Call& c) {
    std::vector<Tensor> in = InputsOf(c);
    const Shape y = ByRows(c.q, c.v);
    // Weights below 1, unchanged, whose products add up to numbers of moderate size.
    in.push_back(Uniform(y, -0.5, 0.5, 5));
    in.push_back(Uniform(y, -0.5, 0.5, 6));
    in.push_back(Uniform({y[0], y[2], y[1]}, 6, 7, 7));
    s.Add(c.name, std::move(in), c.attrs);
  };
  for (const Call& c : Calls()) add(c);
  for (const Call& c : LongCalls()) add(c);
  s.AddLarge("2x8x2048x64",
             {Normal({2, 8, 2048, 64}, 1), Normal({2, 8, 2048, 64}, 2), Normal({2, 8, 2048, 64}, 3),
              Tensor(), Tensor(), Normal({2, 2048, 8, 64}, 4), Normal({2, 2048, 8, 64}, 5),
              Uniform({2, 8, 2048}, 7, 9, 6)},
             AttentionAttrs{.scale = 0.125}, 43e9, 67e6);
  const Tensor stack = Normal({1, 2, 3, 4});
  s.AddError("dy",
             {stack, stack, stack, Tensor(), Tensor(), Normal({1, 2, 3, 4}), Normal({1, 3, 2, 4}),
              Normal({1, 2, 3})},
             AttentionAttrs{}, "dy [1, 2, 3, 4], y [1, 3, 2, 4] and logsumexp [1, 2, 3], want");
}

// The arguments are PyTorch's.
FIRN_REGISTER_GOLDEN(scaled_dot_product_attention) {
  AttentionOptions o{.mask = args["attn_mask"],
                     .is_causal = args.Flag("is_causal", false),
                     .enable_gqa = args.Flag("enable_gqa", false)};
  if (args.Has("scale")) o.scale = args.Number("scale", 1);
  return ScaledDotProductAttention(args["q"], args["k"], args["v"], o);
}

}  // namespace
}  // namespace firn::testing

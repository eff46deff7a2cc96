// Attention layers: their parameters, and their results against the same computation with
// operations.

#include "firn/nn/transformer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/nn/clone.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

void ExpectNear(const Tensor& got, const Tensor& want, double most = 2e-6) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_LE(Amax(Abs(got - want)).Item<double>(), most);
}

std::vector<std::string> Names(const Module& module) {
  std::vector<std::string> names;
  for (const NamedTensor& p : module.named_parameters()) names.push_back(p.name);
  return names;
}

Tensor Causal(int64_t n) {  // true is hidden
  return Lt(Unsqueeze(Arange(n), 1), Arange(n));
}

TEST(MultiHeadAttentionTest, HasPyTorchsParameters) {
  const MultiHeadAttention joint({.embed = 6, .heads = 2, .add_bias_kv = true});
  EXPECT_EQ(Names(joint), (std::vector<std::string>{"in_proj_weight", "in_proj_bias", "bias_k",
                                                    "bias_v", "out_proj.weight", "out_proj.bias"}));
  EXPECT_EQ(joint.state_dict()["in_proj_weight"].shape(), Shape({18, 6}));
  EXPECT_EQ(joint.state_dict()["bias_k"].shape(), Shape({1, 1, 6}));
  EXPECT_TRUE(joint.state_dict()["out_proj.bias"].Equals(Zeros({6})));
  const MultiHeadAttention apart({.embed = 6, .heads = 2, .bias = false, .kdim = 4});
  EXPECT_EQ(Names(apart), (std::vector<std::string>{"q_proj_weight", "k_proj_weight",
                                                    "v_proj_weight", "out_proj.weight"}));
  EXPECT_EQ(apart.state_dict()["k_proj_weight"].shape(), Shape({6, 4}));
  EXPECT_EQ(apart.Describe(), "embed=6, heads=2, bias=false, kdim=4");
}

TEST(MultiHeadAttentionTest, RefusesOptionsThatDoNotFit) {
  EXPECT_EQ(ErrorOf([] { MultiHeadAttention({.embed = 6, .heads = 4}); }),
            "nn::MultiHeadAttention: heads is 4, which does not divide embed 6");
  EXPECT_EQ(ErrorOf([] { MultiHeadAttention({.embed = 6, .dropout = 2}); }),
            "nn::MultiHeadAttention: dropout 2 is outside [0, 1]");
}

TEST(MultiHeadAttentionTest, WeightsAndTilesGiveTheSame) {
  MultiHeadAttention attention(
      {.embed = 8, .heads = 2, .add_bias_kv = true, .add_zero_attn = true});
  const Tensor x = Randn({5, 3, 8});
  const Tensor padding = Gt(Randn({3, 5}), 0.5);
  const AttentionMasks masks{.key_padding_mask = padding, .attn_mask = Causal(5)};
  const MultiHeadAttentionResult all = attention.Attend(x, x, x, masks);
  ExpectNear(attention(x, x, x, masks), all.output);
  EXPECT_EQ(all.weights.shape(), Shape({3, 5, 7}));
  ExpectNear(Sum(all.weights, -1), Ones({3, 5}));
  ExpectNear(Mean(attention.Attend(x, x, x, masks, false).weights, 1), all.weights);
  ExpectNear(attention(x, x, x, {.key_padding_mask = padding, .is_causal = true}), all.output);
  // Copies are projected one by one.
  ExpectNear(attention(x, Clone(x), Clone(x), masks), all.output);
}

TEST(MultiHeadAttentionTest, BatchesMayComeFirstOrNotAtAll) {
  MultiHeadAttention later({.embed = 8, .heads = 2});
  MultiHeadAttention first({.embed = 8, .heads = 2, .batch_first = true});
  first.LoadStateDict(later.state_dict());
  const Tensor x = Randn({5, 3, 8}), y = later(x, x, x);
  const Tensor turned = Transpose(x, 0, 1);
  ExpectNear(Transpose(first(turned, turned, turned), 0, 1), y);
  const Tensor one = Select(x, 1, 2);
  ExpectNear(later(one, one, one), Select(y, 1, 2));
  EXPECT_EQ(later.Attend(one, one, one).weights.shape(), Shape({5, 5}));
}

TEST(MultiHeadAttentionTest, DropsWeightsInTrainingOnly) {
  MultiHeadAttention attention({.embed = 8, .heads = 2, .dropout = 0.5});
  const Tensor x = Randn({5, 3, 8});
  EXPECT_FALSE(attention(x, x, x).Equals(attention(x, x, x)));
  attention.Eval();
  EXPECT_TRUE(attention(x, x, x).Equals(attention(x, x, x)));
}

TEST(MultiHeadAttentionTest, EveryWayOfCallingRunsHooks) {
  MultiHeadAttention attention({.embed = 4});
  int calls = 0;
  const HookHandle handle =
      attention.RegisterForwardHook([&](Module&, absl::Span<const Tensor>, const Tensor& y) {
        ++calls;
        return y * 2;
      });
  const Tensor x = Randn({2, 1, 4});
  const Tensor y = attention(x, x, x), masked = attention(x, x, x, {.is_causal = false});
  ExpectNear(masked, y);
  ExpectNear(attention.Attend(x, x, x).output, y);
  EXPECT_EQ(calls, 3);
}

// The layer, step by step.
Tensor Written(const StateDict& s, const Tensor& x, bool norm_first, bool gelu,
               const Tensor& hidden) {
  const auto norm = [&](const Tensor& t, const std::string& n) {
    return firn::LayerNorm(t, {8}, s[n + ".weight"], s[n + ".bias"]);
  };
  const auto attend = [&](const Tensor& t) {
    return firn::MultiHeadAttention(t, t, t, 2,
                                    {.in_proj_weight = s["self_attn.in_proj_weight"],
                                     .in_proj_bias = s["self_attn.in_proj_bias"],
                                     .out_proj_weight = s["self_attn.out_proj.weight"],
                                     .out_proj_bias = s["self_attn.out_proj.bias"]},
                                    {.attn_mask = hidden})
        .output;
  };
  const auto products = [&](const Tensor& t) {
    const Tensor h = firn::Linear(t, s["linear1.weight"], s["linear1.bias"]);
    return firn::Linear(gelu ? firn::Gelu(h) : firn::Relu(h), s["linear2.weight"],
                        s["linear2.bias"]);
  };
  if (norm_first) {
    const Tensor y = x + attend(norm(x, "norm1"));
    return y + products(norm(y, "norm2"));
  }
  const Tensor y = norm(x + attend(x), "norm1");
  return norm(y + products(y), "norm2");
}

TEST(TransformerTest, EncoderLayersDoWhatThePaperSays) {
  for (const bool norm_first : {false, true}) {
    TransformerEncoderLayer layer(
        {.embed = 8,
         .heads = 2,
         .feedforward = 12,
         .activation = norm_first ? TransformerActivation::kGelu : TransformerActivation::kRelu,
         .norm_first = norm_first});
    layer.Eval();
    const Tensor x = Randn({5, 3, 8});
    const Tensor want = Written(layer.state_dict(), x, norm_first, norm_first, {});
    ExpectNear(layer(x), want);
    ExpectNear(layer(x, {.attn_mask = Causal(5)}),
               Written(layer.state_dict(), x, norm_first, norm_first, Causal(5)));
    ExpectNear(layer(x, {.is_causal = true}),
               Written(layer.state_dict(), x, norm_first, norm_first, Causal(5)));
  }
}

TEST(TransformerTest, HasPyTorchsParameters) {
  const TransformerDecoderLayer layer({.embed = 4, .heads = 1, .feedforward = 8});
  EXPECT_EQ(
      Names(layer),
      (std::vector<std::string>{
          "self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
          "self_attn.out_proj.bias", "multihead_attn.in_proj_weight", "multihead_attn.in_proj_bias",
          "multihead_attn.out_proj.weight", "multihead_attn.out_proj.bias", "linear1.weight",
          "linear1.bias", "linear2.weight", "linear2.bias", "norm1.weight", "norm1.bias",
          "norm2.weight", "norm2.bias", "norm3.weight", "norm3.bias"}));
  const Transformer net({.layer = {.embed = 4, .heads = 1, .feedforward = 8},
                         .encoder_layers = 1,
                         .decoder_layers = 2});
  const StateDict state = net.state_dict();
  EXPECT_TRUE(state.Contains("encoder.layers.0.self_attn.in_proj_weight"));
  EXPECT_TRUE(state.Contains("encoder.norm.weight"));
  EXPECT_TRUE(state.Contains("decoder.layers.1.multihead_attn.out_proj.bias"));
  EXPECT_TRUE(state.Contains("decoder.norm.bias"));
}

TEST(TransformerTest, EveryParameterGetsAGradient) {
  Transformer net({.layer = {.embed = 4, .heads = 2, .feedforward = 8, .batch_first = true},
                   .encoder_layers = 1,
                   .decoder_layers = 1});
  const Tensor src = Randn({2, 5, 4}), tgt = Randn({2, 3, 4});
  Sum(Square(net(src, tgt, {.tgt = {.self = {.is_causal = true}}}))).Backward();
  for (const NamedTensor& p : net.named_parameters()) {
    EXPECT_TRUE(p.tensor.grad().defined()) << p.name;
  }
}

// Later tokens cannot change results of earlier ones, and hidden tokens change nothing.
TEST(TransformerTest, MasksReachEveryLayer) {
  Transformer net({.layer = {.embed = 8, .heads = 2, .feedforward = 8},
                   .encoder_layers = 2,
                   .decoder_layers = 2});
  net.Eval();
  const Tensor src = Randn({5, 1, 8}), tgt = Randn({4, 1, 8});
  Tensor other_src = Clone(src), other_tgt = Clone(tgt);
  other_src[{4}] = 7;
  other_tgt[{3}] = 7;
  const Tensor hidden = Gt(Arange(5), 3);
  const Tensor padding = Reshape(hidden, {1, 5});
  const TransformerMasks masks{
      .src = {.key_padding_mask = padding},
      .tgt = {.self = {.is_causal = true}, .memory = {.key_padding_mask = padding}}};
  const Tensor y = net(src, tgt, masks), other = net(other_src, other_tgt, masks);
  ExpectNear(Slice(other, 0, 0, 3), Slice(y, 0, 0, 3));
  EXPECT_GT(Amax(Abs(net(other_src, other_tgt) - net(src, tgt))).Item<double>(), 1e-3);
}

TEST(TransformerTest, ClonesComputeTheSame) {
  TransformerEncoder net(
      {.layer = {.embed = 8, .heads = 2, .feedforward = 8}, .count = 2, .norm = true});
  net.Eval();
  const auto copy = Clone(net);
  const Tensor x = Randn({3, 2, 8});
  EXPECT_TRUE((*copy)(x).Equals(net(x)));
}

TEST(TransformerTest, RefusesOptionsThatDoNotFit) {
  EXPECT_NE(ErrorOf([] { TransformerEncoder({.layer = {.embed = 4}, .count = 0}); }), "");
  EXPECT_NE(ErrorOf([] { TransformerEncoderLayer({.embed = 0}); }), "");
}

}  // namespace
}  // namespace firn::nn

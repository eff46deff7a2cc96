// Features of networks of texts that not every network of the zoo has: masks, texts that are
// written on, files with other names.
#include <gtest/gtest.h>

#include <string>

#include "firn/nn/static_module.h"
#include "firn/nn/zoo/bert.h"
#include "firn/nn/zoo/gpt2.h"
#include "firn/nn/zoo/lstm_language_model.h"
#include "firn/nn/zoo/transformer.h"
#include "firn/tensor/error.h"
#include "firn/tensor/index.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"

namespace firn::zoo {
namespace {

Tensor Ids(int64_t n, int64_t t, int64_t below = 50) { return Randint(0, below, {n, t}); }

void ExpectNear(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_LE(Amax(Abs(Sub(a, b))).Item(), 1e-5);
}

class Texts : public ::testing::Test {
 protected:
  void SetUp() override { ManualSeed(3); }
  const NoGradScope no_grad_;
};

constexpr BertOptions kBert = {
    .vocabulary = 50, .positions = 16, .hidden = 32, .layers = 2, .heads = 4, .intermediate = 64};

TEST_F(Texts, BertDoesNotSeePadding) {
  Bert net(kBert);
  net.Eval();
  const Tensor ids = Ids(2, 6);
  const Tensor longer = Concat({ids, Ids(2, 3)}, 1);
  const Tensor mask = Concat({Ones({2, 6}, DType::kI64), Zeros({2, 3}, DType::kI64)}, 1);
  const Tensor seen = net(longer, {.mask = mask})[{kAll, Range(0, 6)}];
  ExpectNear(seen, net(ids));
  EXPECT_GT(Amax(Abs(Sub(net(longer)[{kAll, Range(0, 6)}], net(ids)))).Item(), 1e-3);
  ExpectNear(net.Pool(seen), net.Pool(net(ids)));
  EXPECT_EQ(net.Pool(seen).shape(), Shape({2, 32}));
}

TEST_F(Texts, BertTellsPartsApart) {
  Bert net(kBert);
  net.Eval();
  const Tensor ids = Ids(1, 6);
  ExpectNear(net(ids, {.token_types = Zeros({1, 6}, DType::kI64)}), net(ids));
  const Tensor second = net(ids, {.token_types = Ones({1, 6}, DType::kI64)});
  EXPECT_GT(Amax(Abs(Sub(second, net(ids)))).Item(), 1e-3);
}

TEST_F(Texts, LongerThanThePositionsIsAnError) {
  Bert net(kBert);
  EXPECT_THROW(net(Ids(1, 17)), Error);
  Gpt2 gpt({.vocabulary = 50, .positions = 8, .hidden = 16, .layers = 1, .heads = 2});
  EXPECT_THROW(gpt(Ids(1, 9)), Error);
  EXPECT_THROW(gpt.BeginText(1, 9), Error);
}

constexpr Gpt2Options kGpt = {
    .vocabulary = 50, .positions = 16, .hidden = 32, .layers = 2, .heads = 4};

TEST_F(Texts, Gpt2WritesOnAsItReadsTheWhole) {
  Gpt2 net(kGpt);
  net.Eval();
  const Tensor ids = Ids(2, 12);
  const Tensor want = net(ids);
  net.BeginText(2, 12);
  ExpectNear(net(ids[{kAll, Range(0, 5)}]), want[{kAll, Range(0, 5)}]);
  nn::StaticModule step(net, [&](const Tensor& last) { return net(last); });
  for (int64_t i = 5; i < 12; ++i) {
    ExpectNear(step(ids[{kAll, Range(i, i + 1)}]), want[{kAll, Range(i, i + 1)}]);
  }
  net.EndText();
  ExpectNear(net(ids), want);
}

// Names as transformers saves them, as in the published file, and as they were before 2023.
TEST_F(Texts, Gpt2LoadsFilesOfEitherNames) {
  Gpt2 from(kGpt), to(kGpt);
  for (Gpt2* net : {&from, &to}) net->Eval();
  const std::string prefix = "transformer.";
  StateDict bare, old;
  for (const auto& [name, tensor] : from.state_dict()) {
    if (name.starts_with(prefix)) bare.Set(name.substr(prefix.size()), tensor);
    old.Set(name, tensor);
  }
  old.Set("transformer.h.0.attn.bias", Ones({1, 1, 16, 16}, DType::kBool));
  old.Set("transformer.h.0.attn.masked_bias", Full({}, -1e4));
  const Tensor ids = Ids(1, 7);
  for (const StateDict& file : {from.state_dict(), bare, old}) {
    Gpt2 net(kGpt);
    net.Eval();
    const nn::LoadReport report =
        net.FindChild("transformer")
            ->LoadStateDict(file, {.strict = false, .strip_prefix = "transformer."});
    EXPECT_TRUE(report.missing.empty()) << report;
    EXPECT_TRUE(net(ids).Equals(from(ids)));
  }
  EXPECT_TRUE(to.LoadStateDict(from.state_dict()).ok());
  EXPECT_THROW(static_cast<void>(to.LoadStateDict(old)), Error);
}

TEST_F(Texts, TransformerSeesNothingThatIsHiddenOrLater) {
  Transformer net({.vocabulary = 50, .hidden = 32, .layers = 2, .heads = 4, .feedforward = 64});
  net.Eval();
  const Tensor src = Ids(2, 6), tgt = Ids(2, 5);
  const Tensor want = net(src, tgt);
  ExpectNear(net(src, Concat({tgt, Ids(2, 2)}, 1))[{kAll, Range(0, 5)}], want);
  const Tensor padding = Concat({Zeros({2, 6}, DType::kBool), Ones({2, 2}, DType::kBool)}, 1);
  const nn::AttentionMasks hidden = {.key_padding_mask = padding};
  ExpectNear(net(Concat({src, Ids(2, 2)}, 1), tgt, {.src = hidden, .tgt = {.memory = hidden}}),
             want);
}

TEST_F(Texts, LstmGoesOnFromItsState) {
  LstmLanguageModel net({.vocabulary = 50, .hidden = 16});
  net.Eval();
  const Tensor ids = Ids(2, 9);
  const Tensor want = net(ids);
  const LstmLanguageModelResult first = net.GoOn(ids[{kAll, Range(0, 4)}], {});
  const LstmLanguageModelResult rest = net.GoOn(ids[{kAll, Range(4)}], first.state);
  ExpectNear(Concat({first.scores, rest.scores}, 1), want);
}

}  // namespace
}  // namespace firn::zoo

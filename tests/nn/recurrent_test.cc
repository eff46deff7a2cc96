#include "firn/nn/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/nn/clone.h"
#include "firn/nn/recurrent_cells.h"
#include "firn/nn/static_module.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

std::vector<std::string> Shapes(const Module& m) {
  std::vector<std::string> all;
  for (const NamedTensor& p : m.named_parameters()) {
    all.push_back(p.name + " " + p.tensor.shape().ToString());
  }
  return all;
}

float Difference(const Tensor& a, const Tensor& b) { return Sum(Abs(Sub(a, b))).Item<float>(); }

TEST(RecurrentTest, ParametersHavePyTorchsNamesOrderAndShapes) {
  EXPECT_EQ(
      Shapes(Lstm({.in = 2, .hidden = 4, .layers = 2, .bidirectional = true, .proj_size = 3})),
      (std::vector<std::string>{"weight_ih_l0 [16, 2]",
                                "weight_hh_l0 [16, 3]",
                                "bias_ih_l0 [16]",
                                "bias_hh_l0 [16]",
                                "weight_hr_l0 [3, 4]",
                                "weight_ih_l0_reverse [16, 2]",
                                "weight_hh_l0_reverse [16, 3]",
                                "bias_ih_l0_reverse [16]",
                                "bias_hh_l0_reverse [16]",
                                "weight_hr_l0_reverse [3, 4]",
                                "weight_ih_l1 [16, 6]",
                                "weight_hh_l1 [16, 3]",
                                "bias_ih_l1 [16]",
                                "bias_hh_l1 [16]",
                                "weight_hr_l1 [3, 4]",
                                "weight_ih_l1_reverse [16, 6]",
                                "weight_hh_l1_reverse [16, 3]",
                                "bias_ih_l1_reverse [16]",
                                "bias_hh_l1_reverse [16]",
                                "weight_hr_l1_reverse [3, 4]"}));
  EXPECT_EQ(Shapes(Gru({.in = 2, .hidden = 4, .bias = false})),
            (std::vector<std::string>{"weight_ih_l0 [12, 2]", "weight_hh_l0 [12, 4]"}));
  EXPECT_EQ(Shapes(RnnCell({.in = 2, .hidden = 4})),
            (std::vector<std::string>{"weight_ih [4, 2]", "weight_hh [4, 4]", "bias_ih [4]",
                                      "bias_hh [4]"}));
}

TEST(RecurrentTest, StartsUniformWithinTheInverseRootOfHidden) {
  ManualSeed(1);
  const Lstm lstm({.in = 50, .hidden = 100});
  for (const NamedTensor& p : lstm.named_parameters()) {
    const float most = Max(Flatten(Abs(p.tensor))).Item<float>();
    EXPECT_LE(most, 0.1f) << p.name;
    EXPECT_GT(most, 0.09f) << p.name;
  }
}

TEST(RecurrentTest, LearnsItsInputSizeFromTheFirstCall) {
  Gru gru({.hidden = 3, .layers = 2});
  EXPECT_EQ(gru.Describe(), "? -> 3, layers=2");
  EXPECT_EQ(gru(Zeros({4, 2, 5})).shape(), Shape({4, 2, 3}));
  EXPECT_EQ(gru.Describe(), "5 -> 3, layers=2");
  GruCell cell({.hidden = 3});
  EXPECT_EQ(cell(Zeros({2, 5})).shape(), Shape({2, 3}));
  EXPECT_EQ(cell.Describe(), "5 -> 3");
  Lstm packed({.hidden = 3});
  EXPECT_EQ(packed(PackPaddedSequence(Zeros({4, 2, 5}), {4, 1})).y.data.shape(), Shape({5, 3}));
}

TEST(RecurrentTest, GivesTheOutputOrTheStateToo) {
  ManualSeed(2);
  Lstm lstm({.in = 3, .hidden = 4, .batch_first = true, .bidirectional = true});
  const Tensor x = Randn({2, 5, 3});
  const LstmResult r = lstm(x, {});
  EXPECT_EQ(Difference(lstm(x), r.y), 0);
  EXPECT_EQ(r.y.shape(), Shape({2, 5, 8}));
  EXPECT_EQ(r.state.c.shape(), Shape({2, 2, 4}));
  EXPECT_GT(Difference(lstm(x, r.state).y, r.y), 0);
  const auto clone = Clone(lstm);
  EXPECT_EQ(Difference((*clone)(x), r.y), 0);
}

TEST(RecurrentTest, CellsWalkAsLayersDo) {
  ManualSeed(3);
  Lstm lstm({.in = 3, .hidden = 4});
  LstmCell cell({.in = 3, .hidden = 4});
  const RecurrentWeights w = lstm.weights()[0];
  NoGradScope no_grad;
  Tensor(cell.weight_ih()).CopyFrom(w.w_ih);
  Tensor(cell.weight_hh()).CopyFrom(w.w_hh);
  Tensor(cell.bias_ih()).CopyFrom(w.b_ih);
  Tensor(cell.bias_hh()).CopyFrom(w.b_hh);
  const Tensor x = Randn({4, 2, 3});
  LstmState state;
  for (int t = 0; t < 4; ++t) state = cell(Select(x, 0, t), state);
  const LstmResult r = lstm(x, {});
  EXPECT_LT(Difference(Unsqueeze(state.h, 0), r.state.h), 1e-5f);
  EXPECT_LT(Difference(Unsqueeze(state.c, 0), r.state.c), 1e-5f);
}

TEST(RecurrentTest, DropoutIsForTraining) {
  ManualSeed(4);
  Rnn rnn({.in = 3, .hidden = 8, .layers = 2, .dropout = 0.5});
  const Tensor x = Randn({4, 2, 3});
  EXPECT_GT(Difference(rnn(x), rnn(x)), 0);
  rnn.Eval();
  EXPECT_EQ(Difference(rnn(x), rnn(x)), 0);
}

TEST(RecurrentTest, HooksSeeInputAndOutput) {
  Gru gru({.in = 3, .hidden = 4});
  int calls = 0;
  const HookHandle pre =
      gru.RegisterForwardPreHook([&](Module&, absl::Span<Tensor> in) { in[0] = Mul(in[0], 0); });
  const HookHandle post = gru.RegisterForwardHook(
      [&](Module&, absl::Span<const Tensor>, Tensor& y) { ++calls, y = Add(y, 1); });
  const Tensor x = Ones({2, 1, 3});
  const RecurrentResult r = gru(x, {});
  EXPECT_EQ(Difference(gru(x), r.y), 0);
  EXPECT_EQ(calls, 2);
  EXPECT_LT(Difference(Slice(r.y, 0, 1), Add(r.h_n, 1)), 1e-6f);
}

TEST(RecurrentTest, RunsFrozen) {
  ManualSeed(5);
  Lstm lstm({.in = 3, .hidden = 4, .layers = 2, .bidirectional = true});
  lstm.Eval();
  StaticModule fast(lstm);
  NoGradScope no_grad;
  for (int i = 0; i < 3; ++i) {
    const Tensor x = Randn({4, 2, 3});
    EXPECT_LT(Difference(fast(x), lstm(x)), 1e-5f);
  }
}

TEST(RecurrentTest, RefusesOptionsThatMakeNoSense) {
  using testing::ErrorOf;
  EXPECT_EQ(ErrorOf([] { Lstm({.in = 2}); }), "nn::Lstm: hidden is 0 (want a positive number)");
  EXPECT_EQ(ErrorOf([] { Gru({.in = 2, .hidden = 3, .layers = 0}); }),
            "nn::Gru: layers is 0 (want a positive number)");
  EXPECT_EQ(ErrorOf([] { Lstm({.in = 2, .hidden = 3, .proj_size = 3}); }),
            "nn::Lstm: proj_size must be less than hidden 3, or 0, got 3");
  EXPECT_EQ(ErrorOf([] { Rnn({.in = 2, .hidden = 3, .dropout = -1}); }),
            "nn::Rnn: dropout must lie in [0, 1], got -1");
  EXPECT_EQ(ErrorOf([] { RnnCell({.in = 2}); }),
            "nn::RnnCell: hidden is 0 (want a positive number)");
}

TEST(RecurrentTest, SaysThatOneLayerDropsNothing) {
  const auto said = [](int64_t layers, double dropout) {
    ::testing::internal::CaptureStderr();
    const Lstm lstm({.in = 2, .hidden = 4, .layers = layers, .dropout = dropout});
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(1, 0.5),
            "firn: nn::Lstm has a dropout of 0.5, which is between layers, and one layer: it drops "
            "nothing\n");
  EXPECT_EQ(said(2, 0.5), "");
  EXPECT_EQ(said(1, 0), "");
}

TEST(RecurrentTest, PrintsItsOptions) {
  EXPECT_EQ(Lstm({.in = 2,
                  .hidden = 4,
                  .layers = 2,
                  .bias = false,
                  .batch_first = true,
                  .dropout = 0.25,
                  .bidirectional = true,
                  .proj_size = 3})
                .Describe(),
            "2 -> 4, layers=2, bias=false, batch_first=true, dropout=0.25, bidirectional=true, "
            "proj_size=3");
  EXPECT_EQ(Rnn({.in = 2, .hidden = 4, .nonlinearity = RnnNonlinearity::kRelu}).Describe(),
            "2 -> 4, nonlinearity=relu");
}

}  // namespace
}  // namespace firn::nn

#include "firn/nn/static_module.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/nn/activation.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/pooling.h"
#include "firn/nn/sequential.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/storage.h"
#include "tests/error_of.h"
#include "tests/nn/scale_layer.h"

namespace firn::nn {
namespace {

using Values = std::vector<float>;

// All sizes that an input can tell are left open.
Sequential ConvNet() {
  return Sequential({New<Conv2d>({.out = 8, .kernel = 3, .padding = 1}), New<BatchNorm2d>(),
                     New<Relu>(), New<MaxPool2d>({.kernel = 2}), New<Flatten>(),
                     New<Linear>({.out = 5})});
}

void Fill(const Tensor& t, double value) {
  const NoGradScope no_grad;
  Tensor(t).Fill(value);
}

TEST(StaticModuleTest, TheFirstCallFindsSizesAndLaterOnesAgreeWithTheNetwork) {
  Sequential net = ConvNet();
  net.Eval();
  StaticModule fast(net);
  const Tensor x = Randn({4, 3, 8, 8}), y = Randn({4, 3, 8, 8});
  const Tensor first = fast(x);
  EXPECT_TRUE(first.Equals(net(x)));
  EXPECT_TRUE(fast(y).Equals(net(y)));
  EXPECT_TRUE(fast(x).Equals(first));
  EXPECT_EQ(fast.misses(), 1);
  EXPECT_EQ(fast.hits(), 2);
}

TEST(StaticModuleTest, InTrainingModeRunningStatisticsMoveAsInTheNetwork) {
  Sequential net = ConvNet(), same = ConvNet();
  const Tensor images = Randn({4, 3, 8, 8});
  for (Sequential* twin : {&net, &same}) {  // which draw their parameters at the first forward
    ManualSeed(3);
    (*twin)(images);
  }
  StaticModule fast(net);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = Randn({4, 3, 8, 8});
    EXPECT_TRUE(fast(x).Equals(same(x))) << i;
  }
  const auto got = net.named_buffers(), want = same.named_buffers();
  ASSERT_EQ(got.size(), want.size());
  ASSERT_FALSE(got.empty());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i].tensor.Equals(want[i].tensor)) << got[i].name;
  }
  EXPECT_EQ(fast.hits(), 3);
}

TEST(StaticModuleTest, RandomNumbersAdvance) {
  Dropout drop({.p = 0.5});
  StaticModule fast(drop);
  const Tensor x = Ones({64});
  const Tensor a = fast(x), b = fast(x), c = fast(x);
  EXPECT_FALSE(a.Equals(b));
  EXPECT_FALSE(b.Equals(c));
}

TEST(StaticModuleTest, ShapesAndDtypesOfInputsHaveGraphsOfTheirOwn) {
  Relu relu;
  StaticModule fast(relu);
  EXPECT_TRUE(Captures(fast, Zeros({2})));
  EXPECT_TRUE(Captures(fast, Zeros({3})));
  EXPECT_TRUE(Captures(fast, Zeros({2, 1})));
  EXPECT_TRUE(Captures(fast, Zeros({2}, DType::kF64)));
  EXPECT_FALSE(Captures(fast, Ones({2})));
  EXPECT_FALSE(Captures(fast, Ones({2}, DType::kF64)));
  EXPECT_EQ(fast.size(), 4u);
}

TEST(StaticModuleTest, HowTheElementsOfAnInputLieDoesNotMatter) {
  Conv2d conv({.in = 8, .out = 8, .kernel = 3, .padding = 1});
  StaticModule fast(conv);
  const Tensor x = Randn({2, 8, 6, 6});
  EXPECT_TRUE(Captures(fast, x));
  const Tensor turned = x.Transpose(2, 3);
  EXPECT_TRUE(fast(turned).Equals(conv(turned.Contiguous())));
  const Tensor made = conv(x).Detach();  // in the layout that the convolution likes
  EXPECT_TRUE(fast(made).Equals(conv(made.Contiguous())));
  EXPECT_EQ(fast.misses(), 1);
}

TEST(StaticModuleTest, ModesOfAllModulesCount) {
  Sequential net({New<Linear>({.out = 4}), New<Dropout>({.p = 0.5}), New<Dropout>({.p = 0.5})});
  StaticModule fast(net);
  const Tensor x = Ones({1, 4});
  EXPECT_TRUE(Captures(fast, x));
  net[1].Eval();
  EXPECT_TRUE(Captures(fast, x));
  net.Eval();
  EXPECT_TRUE(Captures(fast, x));
  EXPECT_TRUE(fast(x).Equals(net(x)));
  net.Train();
  EXPECT_FALSE(Captures(fast, x));
}

TEST(StaticModuleTest, GradModeAndPrecisionCount) {
  Linear fc({.in = 2, .out = 2});
  StaticModule fast(fc);
  EXPECT_TRUE(Captures(fast, Ones({1, 2})));
  {
    const NoGradScope no_grad;
    EXPECT_TRUE(Captures(fast, Ones({1, 2})));
  }
  SetWinogradAllowed(false);
  EXPECT_TRUE(Captures(fast, Ones({1, 2})));
  SetWinogradAllowed(true);
  EXPECT_FALSE(Captures(fast, Ones({1, 2})));
}

TEST(StaticModuleTest, ParametersWrittenInPlaceAreSeen) {
  Scale net;
  StaticModule fast(net);
  const Tensor x = FromVector<float>({1, 10});
  EXPECT_EQ(fast(x).ToVector<float>(), (Values{2, 30}));
  StateDict state;
  state.Insert("scale", FromVector<float>({5, 7}));
  net.LoadStateDict(state);
  EXPECT_EQ(fast(x).ToVector<float>(), (Values{5, 70}));
  EXPECT_EQ(fast.misses(), 1);
}

TEST(StaticModuleTest, ParametersThatAGraphHasCopiedAreSeenAsWell) {
  Linear fc({.in = 3, .out = 2});
  StaticModule fast(fc, {.compile = {.constant_states = true}});
  const NoGradScope no_grad;
  const Tensor x = Randn({4, 3});
  fast(x);
  Linear other({.in = 3, .out = 2});
  fc.LoadStateDict(other.state_dict());
  EXPECT_TRUE(fast(x).Equals(other(x)));  // captures again
  EXPECT_TRUE(fast(x).Equals(other(x)));
  EXPECT_EQ(fast.misses(), 2);
  EXPECT_EQ(fast.dropped(), 1);
  EXPECT_EQ(fast.size(), 1u);
}

TEST(StaticModuleTest, AReplacedParameterIsSeen) {
  Scale net;
  StaticModule fast(net);
  const Tensor x = FromVector<float>({1, 10});
  fast(x);
  net.ShareParameter("scale", FromVector<float>({4, 4}));
  EXPECT_EQ(fast(x).ToVector<float>(), (Values{4, 40}));
  net.ShareParameter("scale", FromVector<float>({6, 6}));
  EXPECT_EQ(fast(x).ToVector<float>(), (Values{6, 60}));
  EXPECT_EQ(fast.misses(), 3);
}

// Reads its parameter through a handle that the network does not know.
struct DetachedScale final : Scale {
 protected:
  Tensor Forward(const Tensor& x) override { return x * scale.Detach(); }
};

TEST(StaticModuleTest, AConvertedParameterIsSeenAndTheOldGraphGoes) {
  for (const bool called_between : {true, false}) {
    SCOPED_TRACE(called_between);
    DetachedScale net;
    StaticModule fast(net);
    const Tensor x = FromVector<float>({1, 10});
    fast(x);
    net.To(DType::kF64);
    if (called_between) {
      EXPECT_EQ(fast(x).dtype(), net(x).dtype());
      EXPECT_EQ(fast.size(), 1u);
      EXPECT_EQ(fast.dropped(), 1);
    }
    net.To(DType::kF32);
    Fill(net.scale, 9);  // after it has moved twice
    EXPECT_EQ(fast(x).ToVector<float>(), (Values{9, 90}));
    EXPECT_EQ(fast(x).ToVector<float>(), (Values{9, 90}));
  }
}

TEST(StaticModuleTest, GradientsThatTheNetworkLeavesGoToTheParameterItHasNow) {
  struct LeavesGradient final : Scale {
   protected:
    Tensor Forward(const Tensor& x) override {
      scale.ZeroGrad();
      Sum(x * scale).Backward();
      return x + 1;
    }
  } net;
  StaticModule fast(net);
  fast(FromVector<float>({1, 2}));
  EXPECT_EQ(net.scale.grad().ToVector<float>(), (Values{1, 2}));
  fast(FromVector<float>({3, 4}));
  EXPECT_EQ(net.scale.grad().ToVector<float>(), (Values{3, 4}));
  net.ShareParameter("scale", net.scale.Detach().SetRequiresGrad());  // the same elements
  fast(FromVector<float>({5, 6}));
  EXPECT_EQ(net.scale.grad().ToVector<float>(), (Values{5, 6}));
}

TEST(StaticModuleTest, AParameterAsInputIsNotTakenForItself) {
  Scale net;
  StaticModule fast(net);
  const NoGradScope no_grad;
  EXPECT_EQ(fast(net.scale).ToVector<float>(), (Values{4, 9}));
  EXPECT_EQ(fast(FromVector<float>({1, 1})).ToVector<float>(), (Values{2, 3}));
  EXPECT_EQ(fast.misses(), 1);
}

TEST(StaticModuleTest, ALayerThatJoinsLaterIsSeen) {
  Sequential net({New<Relu>()});
  StaticModule fast(net);
  const Tensor x = FromVector<float>({-1, 2});
  fast(x);
  net.Append([](const Tensor& t) { return t + 1; });
  EXPECT_EQ(fast(x).ToVector<float>(), (Values{1, 3}));
}

TEST(StaticModuleTest, ResultsHaveNoHistory) {
  Scale net;
  StaticModule fast(net);
  const Tensor x = Ones({2});
  EXPECT_TRUE(net(x).requires_grad());
  EXPECT_FALSE(fast(x).requires_grad());  // the captured run
  EXPECT_FALSE(fast(x).requires_grad());
  EXPECT_THROW(Sum(fast(x)).Backward(), Error);
}

TEST(StaticModuleTest, AnInputThatWantsAGradientIsRefusedWhileGradientsAreRecorded) {
  Scale net;
  StaticModule fast(net);
  Tensor x = Ones({2});
  x.SetRequiresGrad();
  const absl::Status refusal = testing::StatusOf([&] { fast(x); });
  EXPECT_EQ(refusal.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refusal.message(),
            "static module at scale: input 0 wants a gradient, which its result cannot give:"
            " detach it, open a NoGradScope, or call the network itself");
  const NoGradScope no_grad;
  EXPECT_EQ(fast(x).ToVector<float>(), (Values{2, 3}));
}

TEST(StaticModuleTest, AParameterAsResultIsACopy) {
  Scale net;
  StaticModule fast(net, [&](absl::Span<const Tensor>) { return TensorList{net.scale}; });
  const Tensor first = fast(Zeros({1}));
  Fill(first, 7);
  EXPECT_EQ(net.scale.ToVector<float>(), (Values{2, 3}));
  EXPECT_EQ(fast(Zeros({1})).ToVector<float>(), (Values{2, 3}));
}

TEST(StaticModuleTest, WithinACaptureItIsRefused) {
  Scale net;
  StaticModule fast(net);
  fast(Ones({2}));
  EXPECT_THROW(Freeze([&](const Tensor& x) { return fast(x); }, Ones({2})), Error);
}

TEST(StaticModuleTest, ClearForgets) {
  double factor = 2;
  Relu relu;
  StaticModule fast(relu,
                    [&](absl::Span<const Tensor> in) { return TensorList{relu(in[0]) * factor}; });
  EXPECT_EQ(fast(Ones({1})).Item(), 2);
  factor = 3;
  EXPECT_EQ(fast(Ones({1})).Item(), 2);  // what a signature cannot see
  fast.Clear();
  EXPECT_EQ(fast(Ones({1})).Item(), 3);
}

TEST(StaticModuleTest, SaysWhatItHolds) {
  Linear fc({.in = 3, .out = 2});
  StaticModule fast(fc);
  fast(Ones({4, 3}));
  fast(Ones({4, 3}));
  fc.Eval();
  const NoGradScope no_grad;
  fast(Ones({1, 3}));
  const std::string text = fast.DebugString();
  EXPECT_EQ(text.find("StaticModule of linear: 2 of at most 8 graphs, 1 hits, 2 misses, 0 dropped\n"
                      "  0: f32 [1, 3] on cpu; eval, no grad: "),
            0u)
      << text;
  EXPECT_NE(text.find("  1: f32 [4, 3] on cpu; train, grad: "), std::string::npos) << text;
  EXPECT_NE(text.find(" operations, arena "), std::string::npos) << text;
  EXPECT_NE(text.find(", 1 hits (the network has changed since)\n"), std::string::npos) << text;
  EXPECT_EQ(fast.graph(1).captured().inputs.size(), 1u);
}

TEST(StaticModuleTest, ReplicasServeThreadsFromTheGraphsThereAre) {
  Sequential net = ConvNet();
  const NoGradScope no_grad;
  const Tensor x = Randn({4, 3, 8, 8});
  net(x);
  StaticModule fast(net, {.compile = {.constant_states = true}});
  fast(x);  // in training mode: it moves running statistics, and has no replica
  net.Eval();
  const Tensor want = fast(x);
  ASSERT_EQ(fast.size(), 2u);
  std::vector<std::string> wrong(4);
  std::vector<StaticModule> replicas;
  for (size_t i = 0; i < wrong.size(); ++i) replicas.push_back(fast.Replica());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      const NoGradScope none_here;
      StaticModule& mine = replicas[i];
      if (mine.size() != 1) wrong[i] += "graphs ";
      for (int run = 0; run < 10; ++run) {
        if (!mine(x).Equals(want)) wrong[i] += "values ";
      }
      if (mine.misses() != 0 || mine.hits() != 10) wrong[i] += "captured again ";
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<std::string>(4));
  // A replica goes on like any module: it checks its number of inputs, and follows new values of
  // parameters.
  EXPECT_THROW(replicas[0](x, x), Error);
  replicas[0](x + 1);
  Fill(net[5].parameters()[0], 0.5);
  EXPECT_TRUE(replicas[0](x).Equals(net(x)));
  EXPECT_EQ(replicas[0].misses(), 1);
}

}  // namespace
}  // namespace firn::nn

#include "firn/nn/module.h"

#include <gtest/gtest.h>

#include "firn/device/testing.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/linear.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

std::vector<std::string> NamesOf(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& t : tensors) names.push_back(t.name);
  return names;
}

struct Counter final : Layer {
  Tensor& count = AddBuffer("count", Zeros({1}));
  Tensor& scale = AddParameter("scale", Ones({1}));

 protected:
  Tensor Forward(const Tensor& x) override { return Mul(x, scale); }
};

struct Encoder : Module {
  Linear& fc1 = Add<Linear>("fc1", {.in = 3, .out = 4});
  Counter& counter = Add<Counter>("counter");
  Linear& fc2 = Add<Linear>("fc2", {.out = 2, .bias = false});
  Tensor Forward(const Tensor& x) { return fc2(counter(fc1(x))); }
};

struct Net : Module {
  Encoder& encoder = Add<Encoder>("encoder");
  Linear& head = Add<Linear>("head", {.out = 5});
  Tensor Forward(const Tensor& a, const Tensor& b) {
    return head(Add(encoder.Forward(a), encoder.Forward(b)));
  }
};

TEST(ModuleTest, ListsParametersAndBuffersInDefinitionOrder) {
  Net net;
  EXPECT_EQ(
      NamesOf(net.named_parameters()),
      (std::vector<std::string>{"encoder.fc1.weight", "encoder.fc1.bias", "encoder.counter.scale",
                                "encoder.fc2.weight", "head.weight", "head.bias"}));
  EXPECT_EQ(NamesOf(net.named_buffers()), (std::vector<std::string>{"encoder.counter.count"}));
}

TEST(ModuleTest, FindsDeferredSizesInTheFirstForward) {
  Net net;
  const std::vector<Tensor> before = net.parameters();
  net.Forward(Ones({7, 3}), Ones({7, 3}));
  EXPECT_EQ(net.encoder.fc2.weight().shape(), (Shape{2, 4}));
  EXPECT_EQ(net.head.weight().shape(), (Shape{5, 2}));
  EXPECT_EQ(net.num_parameters(), 3 * 4 + 4 + 1 + 2 * 4 + 5 * 2 + 5);
  // Handles taken before are the same parameters.
  EXPECT_TRUE(before[4].Is(net.head.weight()));
  EXPECT_EQ(before[4].shape(), (Shape{5, 2}));
  EXPECT_TRUE(before[4].requires_grad());
}

TEST(ModuleTest, NamesAPendingParameterThatIsUsed) {
  Net net;
  const Tensor weight = net.head.weight();
  const std::string text =
      "parameter net.head.weight has no size yet: it is found by the first "
      "forward of its module";
  EXPECT_EQ(ErrorOf([&] { Mul(weight, 2); }), "mul: " + text);
  EXPECT_EQ(ErrorOf([&] { weight.ToVector<float>(); }), "to_vector: " + text);
  EXPECT_EQ(ErrorOf([&] { weight.host_view<float>(); }), "host_view: " + text);
  EXPECT_EQ(ErrorOf([&] { net.state_dict(); }),
            "state_dict of net: encoder.fc2.weight, head.weight, head.bias have no size yet: it is "
            "found by the first forward");
}

TEST(ModuleTest, OutlivedPendingParametersAreStillRefused) {
  Tensor weight;
  {
    Net net;
    weight = net.head.weight();
  }
  EXPECT_NE(ErrorOf([&] { Mul(weight, 2); }).find("(unnamed) has no size"), std::string::npos);
}

TEST(ModuleTest, ErrorsSayWhereInTheNetworkTheyHappened) {
  Net net;
  const std::string error = ErrorOf([&] { net.Forward(Ones({7, 4}), Ones({7, 4})); });
  EXPECT_EQ(error.find("linear at net.encoder.fc1: "), 0) << error;
  net.SetName("teacher");
  EXPECT_EQ(net.head.path(), "teacher.head");
  EXPECT_THROW(net.head.SetName("other"), Error);
}

TEST(ModuleTest, RefusesNamesThatAreTakenOrHoldADot) {
  struct Twice : Module {
    Twice() {
      Add<Linear>("fc", {.out = 1});
      Add<Linear>("fc", {.out = 1});
    }
  };
  EXPECT_EQ(ErrorOf([] { Twice twice; }), "add: \"fc\" in Twice: the name is taken");
  struct Dotted : Module {
    Dotted() { AddParameter("a.b", Ones({1})); }
  };
  EXPECT_EQ(ErrorOf([] { Dotted dotted; }),
            "add_parameter: \"a.b\" in Dotted: a name cannot hold a dot");
}

TEST(ModuleTest, TrainAndEvalReachEveryModule) {
  Net net;
  EXPECT_TRUE(net.encoder.fc1.training());
  net.Eval();
  EXPECT_FALSE(net.training());
  EXPECT_FALSE(net.encoder.fc1.training());
  net.encoder.Train();
  EXPECT_TRUE(net.encoder.fc1.training());
  EXPECT_FALSE(net.training());
}

TEST(ModuleTest, FrozenParametersGetNoGradient) {
  Net net;
  net.encoder.SetTrainable(false);
  Sum(net.Forward(Ones({2, 3}), Ones({2, 3}))).Backward();
  EXPECT_FALSE(net.encoder.fc1.weight().grad().defined());
  EXPECT_FALSE(net.encoder.fc2.weight().requires_grad());  // was pending when frozen
  EXPECT_TRUE(net.head.weight().grad().defined());
  net.encoder.SetTrainable();
  EXPECT_TRUE(net.encoder.fc1.weight().requires_grad());
}

TEST(ModuleTest, ConvertsInPlaceAndLeavesHandlesValid) {
  Net net;
  const Tensor weight = net.encoder.fc1.weight();
  const std::vector<double> before = weight.ToVector<double>();
  Sum(net.Forward(Ones({2, 3}), Ones({2, 3}))).Backward();
  net.To(DType::kF64);
  EXPECT_EQ(weight.dtype(), DType::kF64);
  EXPECT_EQ(weight.grad().dtype(), DType::kF64);
  EXPECT_EQ(weight.ToVector<double>(), before);
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_EQ(net.encoder.counter.count.dtype(), DType::kF64);
  EXPECT_EQ(net.Forward(Ones({2, 3}, DType::kF64), Ones({2, 3}, DType::kF64)).dtype(), DType::kF64);
  EXPECT_THROW(net.To(DType::kI64), Error);
}

TEST(ModuleTest, ConvertsAllOrNothing) {
  Net net;
  Sum(net.Forward(Ones({2, 3}), Ones({2, 3}))).Backward();
  std::vector<std::vector<double>> values, grads;
  for (const Tensor& p : net.parameters()) {
    values.push_back(p.ToVector<double>());
    grads.push_back(p.grad().ToVector<double>());
  }
  int failures = 0;
  for (int64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    bool triggered = false;
    {
      const ScopedAllocationFailure failure(n);
      ErrorOf([&] { net.To(DType::kF64); });
      triggered = failure.triggered();
    }
    if (!triggered) break;
    ++failures;
    for (size_t i = 0; i < values.size(); ++i) {
      const Tensor p = net.parameters()[i];
      ASSERT_EQ(p.dtype(), DType::kF32);
      ASSERT_EQ(p.ToVector<double>(), values[i]);
      ASSERT_TRUE(p.grad().defined());
      ASSERT_EQ(p.grad().ToVector<double>(), grads[i]);
    }
  }
  EXPECT_GE(failures, 13);  // six parameters, as many gradients, a buffer
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(net.parameters()[i].dtype(), DType::kF64);
    EXPECT_EQ(net.parameters()[i].grad().ToVector<double>(), grads[i]);
  }
}

TEST(ModuleTest, PendingParametersTakeTheDtypeToWhichTheyWereConverted) {
  Linear fc({.out = 2});
  fc.To(DType::kF64);
  EXPECT_EQ(fc(Ones({1, 3}, DType::kF64)).dtype(), DType::kF64);
}

TEST(ModuleTest, BackwardFindsAParameterThatWasConvertedSinceForward) {
  Linear fc({.in = 2, .out = 2});
  Tensor x = Ones({1, 2}).SetRequiresGrad();
  Tensor loss = Sum(fc(x));
  fc.To(DType::kF64);
  EXPECT_NE(ErrorOf([&] { loss.Backward(); }).find("changed in place"), std::string::npos);
}

TEST(ModuleTest, SharedParametersAreListedOnceAndSavedUnderBothNames) {
  struct Tied : Module {
    Linear& a = Add<Linear>("a", {.in = 3, .out = 3});
    Linear& b = Add<Linear>("b", {.in = 3, .out = 3, .bias = false});
    Tied() { ShareParameter("b.weight", a.weight()); }
  };
  Tied tied;
  EXPECT_EQ(NamesOf(tied.named_parameters()), (std::vector<std::string>{"a.weight", "a.bias"}));
  EXPECT_TRUE(tied.a.weight().Is(tied.b.weight()));
  EXPECT_EQ(tied.state_dict().size(), 3u);
  EXPECT_THROW(tied.ShareParameter("b.weight", Ones({2, 3})), Error);
  EXPECT_EQ(ErrorOf([&] {
              tied.ShareParameter("c.weight", Ones({3, 3}));
            }),
            "share_parameter: there is no parameter named c.weight; there are a.weight, b.weight, "
            "a.bias");
}

TEST(ModuleTest, RefusesToShareAnUndefinedParameter) {
  Net net;
  EXPECT_EQ(ErrorOf([&] { net.ShareParameter("head.weight", Tensor()); }),
            "share_parameter: head.weight cannot be an undefined tensor");
}

TEST(ModuleTest, SharesPendingParametersWhoseKnownSizesAgree) {
  struct Tied : Module {
    Linear& first = Add<Linear>("first", {.in = 2, .out = 2});
    Linear& a = Add<Linear>("a", {.out = 3, .bias = false});
    Linear& b = Add<Linear>("b", {.out = 3, .bias = false});
    Linear& c = Add<Linear>("c", {.out = 4, .bias = false});
  };
  Tied net;
  net.ShareParameter("b.weight", net.a.weight());
  EXPECT_EQ(ErrorOf([&] { net.ShareParameter("c.weight", net.a.weight()); }),
            "share_parameter: c.weight is [4, ?] and cannot be a.weight, which is [3, ?]");
  EXPECT_FALSE(net.c.weight().Is(net.a.weight()));
  // The same holds for a call on a part of the network.
  EXPECT_THROW(net.c.ShareParameter("weight", net.a.weight()), Error);
  net.a(Ones({1, 5}));
  EXPECT_EQ(net.b.weight().shape(), (Shape{3, 5}));
}

TEST(ModuleTest, PrintsTheTree) {
  Net net;
  EXPECT_EQ(net.ToString(), R"(Net(
  (encoder): Encoder(
    (fc1): Linear(3 -> 4)
    (counter): Counter()
    (fc2): Linear(? -> 2, bias=false)
  )
  (head): Linear(? -> 5)
))");
}

TEST(ModuleTest, NamesARootAfterItsClass) {
  struct LSTMCell2d : Module {};
  EXPECT_EQ(LSTMCell2d().path(), "lstm_cell2d");
  EXPECT_EQ(Linear({.out = 1}).path(), "linear");
}

TEST(ModuleTest, VisitsEveryModuleDepthFirst) {
  Net net;
  std::vector<std::string> types;
  net.VisitModules([&](Module& m) { types.push_back(m.type_name()); });
  EXPECT_EQ(types,
            (std::vector<std::string>{"Net", "Encoder", "Linear", "Counter", "Linear", "Linear"}));
}

// A layer as in nn/README.md: the first input tells its sizes.
struct Offset final : Layer {
  Tensor& offset = AddPendingParameter("offset", {kDeferred});
  Tensor& seen = AddPendingBuffer("seen", {kDeferred});

 protected:
  Tensor Forward(const Tensor& x) override {
    InitPending(offset, {x.size(-1)}, init::Constant(2));
    InitPending(seen, {x.size(-1)}, init::Constant(1));
    return Mul(x, offset);
  }
};

TEST(ModuleTest, ALayerOfOnesOwnFindsItsSizeFromTheFirstInput) {
  Offset layer;
  EXPECT_THROW(layer.state_dict(), Error);
  EXPECT_EQ(layer(Ones({2, 3})).ToVector<float>(), std::vector<float>(6, 2));
  EXPECT_EQ(layer.offset.shape(), Shape({3}));
  EXPECT_EQ(layer.seen.ToVector<float>(), std::vector<float>(3, 1));
  EXPECT_TRUE(layer.offset.requires_grad());
  EXPECT_FALSE(layer.seen.requires_grad());
}

TEST(ModuleTest, TheTreeCanBeWalked) {
  Net net;
  std::vector<std::string> names;
  for (const NamedModule& m : net.named_modules()) names.push_back(m.name);
  EXPECT_EQ(names, (std::vector<std::string>{"", "encoder", "encoder.fc1", "encoder.counter",
                                             "encoder.fc2", "head"}));
  EXPECT_EQ(net.named_modules()[2].module, &net.encoder.fc1);
  EXPECT_EQ(&net.child(0), &net.encoder);
  EXPECT_THROW(net.child(2), Error);
  EXPECT_EQ(net.encoder.FindChild("fc2"), &net.encoder.fc2);
  EXPECT_EQ(net.FindChild("fc2"), nullptr);
  std::vector<int64_t> sizes;
  net.encoder.counter.ForEachOwnTensor([&](const Tensor& t) { sizes.push_back(t.num_elements()); });
  EXPECT_EQ(sizes, (std::vector<int64_t>{1, 1}));
}

TEST(ModuleTest, RefusesAFactoryThatMakesNothing) {
  struct Parent : Module {
    using Module::AddMade;
  } parent;
  EXPECT_NE(ErrorOf([&] { parent.AddMade("a", nullptr); }).find("nothing makes \"a\" in Parent"),
            std::string::npos);
  EXPECT_THROW(parent.AddMade("a", [](const Module*) { return nullptr; }), Error);
  EXPECT_EQ(parent.num_children(), 0u);
}

}  // namespace
}  // namespace firn::nn

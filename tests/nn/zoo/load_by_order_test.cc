// Networks with NNabla's names, written to files, are loaded into modules with other names; and
// files whose networks are other ones are refused.
#include "firn/nn/zoo/load_by_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/nnabla_network/nnabla_export.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::zoo {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

enum class Wiring { kResidual, kResidualFirst, kParallel, kNoLinear, kTwoLinears, kUnused };

// Three convolutions, the last two of one shape.
class Net final : public nn::Layer {
 public:
  explicit Net(Wiring wiring, int64_t classes = 5) : wiring_(wiring) {
    if (wiring != Wiring::kNoLinear) head_ = &Add<nn::Linear>("head", {.in = 4, .out = classes});
    if (wiring == Wiring::kTwoLinears || wiring == Wiring::kUnused) {
      last_ = &Add<nn::Linear>("last", {.in = classes, .out = classes});
    }
  }

 protected:
  Tensor Forward(const Tensor& x) override {
    const Tensor y = Mean(Relu(Joined(Relu(norm_(stem_(x))))), {2, 3});
    if (wiring_ == Wiring::kNoLinear) return y;
    return wiring_ == Wiring::kTwoLinears ? (*last_)((*head_)(y)) : (*head_)(y);
  }

 private:
  Tensor Joined(const Tensor& h) {
    if (wiring_ == Wiring::kParallel) {
      const Tensor first = first_(h);
      return first + second_(h);
    }
    const Tensor branch = second_(first_(h));
    return wiring_ == Wiring::kResidualFirst ? h + branch : branch + h;
  }

  const Wiring wiring_;
  nn::Conv2d& stem_ = Add<nn::Conv2d>("stem", {.in = 3, .out = 4, .kernel = 3, .bias = false});
  nn::BatchNorm2d& norm_ = Add<nn::BatchNorm2d>("norm", {.channels = 4});
  nn::Conv2d& first_ = Add<nn::Conv2d>("first", {.in = 4, .out = 4, .kernel = 3, .padding = 1});
  nn::Conv2d& second_ = Add<nn::Conv2d>("second", {.in = 4, .out = 4, .kernel = 3, .padding = 1});
  nn::Linear* head_ = nullptr;
  nn::Linear* last_ = nullptr;
};

// Its tensors by other names.
StateDict OtherNames(const nn::Layer& net) {
  const std::map<std::string, std::string, std::less<>> names = {
      {"stem.weight", "Convolution.conv.W"},
      {"norm.weight", "BatchNormalization.bn.gamma"},
      {"norm.bias", "BatchNormalization.bn.beta"},
      {"norm.running_mean", "BatchNormalization.bn.mean"},
      {"norm.running_var", "BatchNormalization.bn.var"},
      {"first.weight", "Convolution_2.conv.W"},
      {"first.bias", "Convolution_2.conv.b"},
      {"second.weight", "Convolution_3.conv.W"},
      {"second.bias", "Convolution_3.conv.b"},
      {"head.weight", "Affine.affine.W"},
      {"head.bias", "Affine.affine.b"}};
  StateDict state;
  for (const auto& [name, tensor] : net.state_dict()) {
    const auto other = names.find(name);
    state.Insert(other == names.end() ? name : other->second, tensor);
  }
  return state;
}

Tensor Images() { return Randn({2, 3, 6, 7}); }

// The network of a file with what `net` computes.
firn::Network FileOf(nn::Layer& net, const Tensor& x) {
  const NoGradScope no_grad;
  net.Train();
  net(x * 2 + 1);  // statistics that differ from those of a new network
  net.Eval();
  const std::string path = io::TempPath("net.nnp");
  io::ExportNnabla(path, Freeze([&](const Tensor& in) { return net(in); }, x),
                   {.names = OtherNames(net)});
  return io::ImportNnabla(path).executors.at(0).network;
}

TEST(LoadByOrder, TakesParametersWhateverTheirNames) {
  ManualSeed(1);
  const Tensor x = Images();
  const std::pair<Wiring, Wiring> kFits[] = {{Wiring::kResidual, Wiring::kResidual},
                                             {Wiring::kResidualFirst, Wiring::kResidual},
                                             {Wiring::kParallel, Wiring::kParallel}};
  for (const auto& [theirs, ours] : kFits) {
    Net source(theirs), net(ours);
    const firn::Network file = FileOf(source, x);
    ASSERT_EQ(file.parameters()["Affine.affine.W"].shape(), Shape({4, 5}));
    ASSERT_EQ(file.parameters()["BatchNormalization.bn.mean"].shape(), Shape({1, 4, 1, 1}));
    const LoadedByOrder loaded = LoadByOrder(net, file, x);
    EXPECT_THAT(loaded, SizeIs(11));
    EXPECT_THAT(loaded, Contains(Pair("Convolution_3.conv.b", "second.bias")));
    EXPECT_TRUE(net.training());  // its mode is as before
    net.Eval();
    const NoGradScope no_grad;
    EXPECT_TRUE(Allclose(net(x), source(x), {.rtol = 1e-6, .atol = 1e-6}));
    EXPECT_TRUE(Allclose(net(x), file(x), {.rtol = 1e-6, .atol = 1e-6}));
  }
}

// What is said of a file with the network `theirs`, after which `net` must be as before.
std::string Refusal(Wiring theirs, Net& net, int64_t classes = 5) {
  const Tensor x = Images();
  Net source(theirs, classes);
  const firn::Network file = FileOf(source, x);
  StateDict before;
  for (const auto& [name, tensor] : net.state_dict()) before.Insert(name, Clone(tensor));
  const std::string error = testing::ErrorOf([&] { LoadByOrder(net, file, x); });
  for (const auto& [name, tensor] : net.state_dict()) {
    EXPECT_EQ(tensor.ToVector<float>(), before[name].ToVector<float>()) << name;
  }
  EXPECT_TRUE(net.training());
  return error;
}

TEST(LoadByOrder, RefusesAnotherOrder) {
  ManualSeed(1);
  Net net(Wiring::kResidual);
  EXPECT_THAT(Refusal(Wiring::kParallel, net),
              AllOf(HasSubstr("step 4"), HasSubstr("Convolution_3.conv.W [4, 4, 3, 3]"),
                    HasSubstr("second.weight [4, 4, 3, 3]"),
                    HasSubstr("relu(2) in the file, 3 in the module")));
}

TEST(LoadByOrder, RefusesOtherShapes) {
  ManualSeed(1);
  Net net(Wiring::kResidual);
  EXPECT_THAT(Refusal(Wiring::kResidual, net, 6),
              AllOf(HasSubstr("Affine.affine.W [6, 4]"), HasSubstr("head.weight [5, 4]"),
                    HasSubstr("the shapes [6, 4] and [5, 4]")));
}

TEST(LoadByOrder, RefusesMissingParameters) {
  ManualSeed(1);
  Net net(Wiring::kResidual), more(Wiring::kTwoLinears), unused(Wiring::kUnused);
  EXPECT_THAT(Refusal(Wiring::kNoLinear, net),
              HasSubstr("linear of head.weight [5, 4], head.bias [5]; the file has no more"));
  EXPECT_THAT(Refusal(Wiring::kResidual, more), HasSubstr("linear of last.weight"));
  EXPECT_THAT(Refusal(Wiring::kResidual, unused),
              HasSubstr("the module does not use last.weight, last.bias"));
}

TEST(LoadByOrder, RefusesMoreParameters) {
  ManualSeed(1);
  Net net(Wiring::kResidual);
  EXPECT_THAT(Refusal(Wiring::kTwoLinears, net),
              AllOf(HasSubstr("linear of last.weight [5, 5], last.bias [5] in the file"),
                    HasSubstr("the module has no more")));
}

// Two layers of one shape, joined by a function.
using Join = std::function<Tensor(nn::Layer& a, nn::Layer& b, const Tensor& x)>;
class Two final : public nn::Layer {
 public:
  explicit Two(Join join) : join_(std::move(join)) {}

 protected:
  Tensor Forward(const Tensor& x) override { return join_(a_, b_, x); }

 private:
  const Join join_;
  nn::Linear& a_ = Add<nn::Linear>("a", {.in = 4, .out = 4, .bias = false});
  nn::Linear& b_ = Add<nn::Linear>("b", {.in = 4, .out = 4, .bias = false});
};

// What is said of a file with `theirs` for a module with `ours`; "" if it is loaded, and then both
// must compute the same.
std::string Tried(const Join& theirs, const Join& ours) {
  ManualSeed(1);
  const Tensor x = Randn({4, 4});
  Two source(theirs), net(ours);
  const firn::Network file = FileOf(source, x);
  const std::string error = testing::ErrorOf([&] { LoadByOrder(net, file, x); });
  const NoGradScope no_grad;
  net.Eval();
  EXPECT_EQ(error.empty(), Allclose(net(x), file(x), {.rtol = 1e-5, .atol = 1e-5}));
  return error;
}

// `join` of the results of both layers, of which a's or b's is made first.
using Joined = std::function<Tensor(const Tensor& a, const Tensor& b)>;
Join FirstA(const Joined& join) {
  return [=](nn::Layer& a, nn::Layer& b, const Tensor& x) {
    const Tensor first = a(x);
    return join(first, b(x));
  };
}
Join FirstB(const Joined& join) {
  return [=](nn::Layer& a, nn::Layer& b, const Tensor& x) {
    const Tensor first = b(x);
    return join(a(x), first);
  };
}

TEST(LoadByOrder, RefusesOperandsMadeInAnotherOrder) {
  const Joined scaled = [](auto& q, auto& k) {
    return Softmax(Matmul(q, k, false, true) * 0.3, 1) + 1;
  };
  const Joined masked = [](auto& q, auto& k) { return Matmul(q, k, false, true) + 0.25; };
  const Joined difference = [](auto& a, auto& b) { return (a - b) + Sigmoid(a * b); };
  for (const Joined& join : {scaled, masked, difference}) {
    EXPECT_EQ(Tried(FirstA(join), FirstA(join)), "");
    EXPECT_EQ(Tried(FirstB(join), FirstB(join)), "");
    EXPECT_THAT(Tried(FirstA(join), FirstB(join)), HasSubstr("the results are not made alike"));
    EXPECT_THAT(Tried(FirstB(join), FirstA(join)), HasSubstr("the results are not made alike"));
  }
  EXPECT_THAT(Tried(FirstA(masked), FirstB(masked)),
              AllOf(HasSubstr("matmul(1, 2)"), HasSubstr("matmul(2, 1)"),
                    HasSubstr("in the file 1 is linear of a.weight [4, 4], 2 is"),
                    HasSubstr("in the module 1 is linear of b.weight [4, 4], 2 is")));
}

TEST(LoadByOrder, RefusesOperationsWithoutParametersOnOtherBranches) {
  const Joined gated = [](auto& a, auto& b) { return Tanh(a) * Sigmoid(b); };
  EXPECT_EQ(Tried(FirstA(gated), FirstA(gated)), "");
  EXPECT_THAT(Tried(FirstA(gated), FirstB(gated)),
              AllOf(HasSubstr("mul(sigmoid(2), tanh(1)) in the file"),
                    HasSubstr("mul(sigmoid(1), tanh(2)) in the module")));
  const Joined less = [](auto& a, auto& b) { return a - b; };
  EXPECT_THAT(Tried(FirstA(less), FirstB(less)),
              AllOf(HasSubstr("sub(1, 2) in the file"), HasSubstr("sub(2, 1) in the module")));
  const Join tanh = [](auto& a, auto& b, auto& x) { return b(Tanh(a(x))); };
  const Join sigmoid = [](auto& a, auto& b, auto& x) { return b(Sigmoid(a(x))); };
  EXPECT_THAT(Tried(tanh, sigmoid),
              AllOf(HasSubstr("step 2"), HasSubstr("b.weight [4, 4]"),
                    HasSubstr("tanh(1) in the file, sigmoid(1) in the module")));
}

TEST(LoadByOrder, TakesOperandsOfSumsAndProductsInAnyOrder) {
  const Joined there = [](auto& a, auto& b) { return Tanh(a) * b + Sigmoid(b); };
  const Joined back = [](auto& a, auto& b) { return Sigmoid(b) + b * Tanh(a); };
  EXPECT_EQ(Tried(FirstA(there), FirstA(back)), "");
  // What only moves elements, and back, is no difference.
  const Joined moved = [](auto& a, auto& b) {
    return Sigmoid(b) + b * Reshape(Tanh(Reshape(a, {2, 8})), {4, 4});
  };
  EXPECT_EQ(Tried(FirstA(there), FirstA(moved)), "");
  EXPECT_EQ(Tried(FirstA(moved), FirstA(there)), "");
}

TEST(LoadByOrder, TakesProbabilitiesForScores) {
  ManualSeed(1);
  const Tensor x = Randn({4, 4});
  const Join scores = [](auto& a, auto& b, auto& y) { return b(a(y)); };
  Two source([=](auto&a, auto&b, auto&y) { return Softmax(scores(a, b, y), 1); }), net(scores);
  const firn::Network file = FileOf(source, x);
  EXPECT_THAT(LoadByOrder(net, file, x), SizeIs(2));
  const NoGradScope no_grad;
  EXPECT_TRUE(Allclose(Softmax(net(x), 1), file(x), {.rtol = 1e-5, .atol = 1e-5}));
}

TEST(LoadByOrder, TakesFilesWithALossOfTheResult) {
  ManualSeed(1);
  const Tensor x = Randn({4, 4}), labels = Randn({4, 4});
  const Joined less = [](auto& a, auto& b) { return a - b; };
  Two source(FirstA(less)), net(FirstA(less)), swapped(FirstB(less));
  const auto loss = [&](const Tensor& in, const Tensor& y) { return Abs(source(in) - y); };
  const std::string path = io::TempPath("loss.nnp");
  const NoGradScope no_grad;
  source.Eval();
  io::ExportNnabla(path, Freeze(loss, x, labels), {.names = OtherNames(source)});
  const firn::Network file = io::ImportNnabla(path).executors.at(0).network;
  EXPECT_THAT(testing::ErrorOf([&] {
                LoadByOrder(swapped, file, {x, labels});
              }),
              AllOf(HasSubstr("sub(1, 2), input2"), HasSubstr("sub(2, 1) in the module")));
  EXPECT_THAT(LoadByOrder(net, file, {x, labels}), SizeIs(2));
  EXPECT_TRUE(Allclose(Abs(net(x) - labels), file(x, labels), {.rtol = 1e-5, .atol = 1e-5}));
}

TEST(LoadByOrder, RefusesKernelsOfAnotherDirection) {
  ManualSeed(1);
  const Tensor x = Images();
  nn::Conv2d wide({.in = 3, .out = 3, .kernel = {1, 3}, .padding = {0, 1}});
  nn::Conv2d high({.in = 3, .out = 3, .kernel = {3, 1}, .padding = {1, 0}});
  const firn::Network file = FileOf(wide, x);
  EXPECT_THAT(testing::ErrorOf([&] { LoadByOrder(high, file, x); }),
              HasSubstr("the shapes [3, 3, 1, 3] and [3, 3, 3, 1]"));
  nn::Conv2d same({.in = 3, .out = 3, .kernel = {1, 3}, .padding = {0, 1}});
  EXPECT_THAT(LoadByOrder(same, file, x), SizeIs(2));
}

// All shapes are equal in the first and the third case.
TEST(LoadByOrder, RefusesOtherAttributes) {
  ManualSeed(1);
  const Tensor x = Images();
  const auto said = [&](nn::Layer& theirs, nn::Layer& ours) {
    const firn::Network file = FileOf(theirs, x);
    return testing::ErrorOf([&] { LoadByOrder(ours, file, x); });
  };
  nn::Conv2d plain({.in = 3, .out = 3, .kernel = 3, .padding = 1});
  nn::Conv2d wide({.in = 3, .out = 3, .kernel = 3, .padding = 2, .dilation = 2});
  nn::Conv2d coarse({.in = 3, .out = 3, .kernel = 3, .stride = {2, 1}, .padding = 1});
  EXPECT_EQ(said(wide, wide), "");
  EXPECT_THAT(said(wide, plain),
              AllOf(HasSubstr("step 1"), HasSubstr("conv2d of weight [3, 3, 3, 3]"),
                    HasSubstr("differ in padding: 2 in the file, 1 in the module")));
  EXPECT_THAT(said(coarse, plain), HasSubstr("stride: 2x1 in the file, 1 in the module"));
  nn::BatchNorm2d usual({.channels = 3}), larger({.channels = 3, .eps = 1e-3});
  EXPECT_EQ(said(larger, larger), "");
  EXPECT_THAT(said(larger, usual), AllOf(HasSubstr("differ in constant"), HasSubstr("running_var"),
                                         HasSubstr(": 0.001 in the file, 1e-05 in the module")));
}

// x times a parameter to the power 2^20.
class Power final : public nn::Layer {
 protected:
  Tensor Forward(const Tensor& x) override {
    Tensor w = weight_;
    for (int i = 0; i < 20; ++i) w = w * w;
    return x * w;
  }

 private:
  Tensor& weight_ = AddParameter("weight", Ones({7}));
};

TEST(LoadByOrder, RefusesFormulasWithoutEnd) {
  ManualSeed(1);
  const Tensor x = Images();
  nn::Conv2d conv({.in = 3, .out = 3, .kernel = 1});
  const firn::Network file = FileOf(conv, x);
  Power net;
  EXPECT_THAT(testing::ErrorOf([&] { LoadByOrder(net, file, x); }),
              HasSubstr("a formula of more than 100000 characters"));
}

}  // namespace
}  // namespace firn::zoo

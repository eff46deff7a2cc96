// Networks with NNabla's names, written to files, are loaded into modules with other names; and
// files whose networks are other ones are refused.
#include "firn/nn/zoo/load_by_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THAT(
      Refusal(Wiring::kParallel, net),
      AllOf(HasSubstr("step 4"), HasSubstr("Convolution_3.conv.W [4, 4, 3, 3]"),
            HasSubstr("second.weight [4, 4, 3, 3]"), HasSubstr("the results of steps 2 and of 3")));
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

}  // namespace
}  // namespace firn::zoo

// Frozen graphs, averages of weights and optimizers hold a network's parameters, too. Tests what
// they do when a parameter becomes a computed one, an ordinary one again, or another module's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/evaluation.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/parametrizations.h"
#include "firn/nn/static_module.h"
#include "firn/optim/sgd.h"
#include "firn/optim/weight_average.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"
#include "tests/nn/parametrize_net.h"

namespace firn::nn::parametrize {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;

StaticGraph Frozen(Net& net) {
  return Freeze([&](const Tensor& x) { return net.Forward(x); }, X());
}

TEST(ParametrizeFrozenTest, AGraphRefusesToRunAfterRegister) {
  for (const bool one_original : {true, false}) {
    Net net;
    StaticGraph graph = Frozen(net);
    EXPECT_TRUE(graph(X()).Equals(net.Forward(X())));
    one_original ? Register(net.fc, "weight", Twice()) : Register(net.fc, "weight", WeightNorm());
    EXPECT_FALSE(graph.StandsAsCaptured());
    const std::string error = ErrorOf([&] { graph(X()); });
    EXPECT_THAT(error, HasSubstr("parameter net.fc.weight was replaced, or is computed"));
    EXPECT_THAT(error, HasSubstr("capture again"));
    StaticGraph again = Frozen(net);
    EXPECT_TRUE(again(X()).Equals(net.Forward(X())));
  }
}

TEST(ParametrizeFrozenTest, AGraphRefusesToRunAfterAFurtherOneAndAfterRemoval) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  StaticGraph graph = Frozen(net);
  EXPECT_TRUE(graph(X()).Equals(net.Forward(X())));
  Register(net.fc, "weight", Twice());
  EXPECT_THAT(ErrorOf([&] { graph(X()); }),
              HasSubstr("parameter net.fc.parametrizations.weight.original"));
  StaticGraph second = Frozen(net);
  EXPECT_TRUE(second(X()).Equals(net.Forward(X())));
  RemoveParametrizations(net.fc, "weight");
  EXPECT_THAT(ErrorOf([&] { second(X()); }), HasSubstr("capture again"));
  StaticGraph third = Frozen(net);
  EXPECT_TRUE(third(X()).Equals(net.Forward(X())));
}

TEST(ParametrizeFrozenTest, AGraphRefusesToRunAfterSharing) {
  struct Two : Module {
    Linear& a = Add<Linear>("a", {.in = 3, .out = 3});
    Linear& b = Add<Linear>("b", {.in = 3, .out = 3});
  } net;
  StaticGraph of_b = Freeze([&](const Tensor& x) { return net.b(x); }, X());
  StaticGraph of_a = Freeze([&](const Tensor& x) { return net.a(x); }, X());
  net.ShareParameter("b.weight", net.a.weight());
  EXPECT_THAT(ErrorOf([&] { of_b(X()); }), HasSubstr("parameter two.b.weight was replaced"));
  EXPECT_TRUE(of_a(X()).Equals(net.a(X())));
  net.ShareParameter("b.weight", net.a.weight());  // nothing new
  EXPECT_TRUE(of_a(X()).Equals(net.a(X())));
}

// Only the run's own handles hold the weights.
TEST(ParametrizeFrozenTest, AGraphOfDetachedWeightsRefusesToRunToo) {
  struct Two : Module {
    Linear& a = Add<Linear>("a", {.in = 3, .out = 3});
    Linear& b = Add<Linear>("b", {.in = 3, .out = 3});
  } net;
  const auto frozen = [&] {
    return Freeze(
        [&](const Tensor& x) {
          const Tensor unused = net.a.bias().Detach();
          return Matmul(x, Mul(net.a.weight().Detach(), Select(net.b.weight().Detach(), 0, 0)));
        },
        X());
  };
  StaticGraph graph = frozen();
  Register(net.a, "bias", Twice());
  EXPECT_EQ(ErrorOf([&] { graph(X()); }), "");
  net.ShareParameter("b.weight", net.a.weight());
  EXPECT_THAT(ErrorOf([&] { graph(X()); }), HasSubstr("parameter two.b.weight was replaced"));
  StaticGraph shared = frozen();
  Register(net.a, "weight", Twice());
  EXPECT_THAT(ErrorOf([&] { shared(X()); }), HasSubstr("weight was replaced"));
  std::optional<StaticGraph> held;
  {
    const Held values(net);
    held.emplace(frozen());
    EXPECT_EQ(ErrorOf([&] { (*held)(X()); }), "");
  }
  EXPECT_THAT(ErrorOf([&] { (*held)(X()); }), HasSubstr("weight was replaced"));
}

// The graph reads the values from the beginning of the Held, which no longer follow the originals.
TEST(ParametrizeFrozenTest, AGraphRefusesToRunAfterTheHeldThatItWasFrozenIn) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  std::optional<StaticGraph> graph, constant;
  {
    const Held held(net);
    graph.emplace(Frozen(net));
    constant.emplace(Freeze(
        {.constant_states = true}, [&](const Tensor& x) { return net.Forward(x); }, X()));
    net.Forward(X());  // within the Held a call takes no value away
    EXPECT_TRUE((*graph)(X()).Equals(net.Forward(X())));
  }
  const Tensor y = net.Forward(X()).Detach();
  Set(Original(net, "1"), Values(6, 2));
  EXPECT_THAT(ErrorOf([&] { (*graph)(X()); }),
              HasSubstr("parameter net.fc.weight was replaced, or is computed"));
  ExpectNear((*constant)(X()), y.ToVector<float>());
}

// The mode of a module does not matter to a graph of evaluation; its parameters do.
TEST(ParametrizeFrozenTest, AGraphOfEvaluationRefusesToRunAfterRegister) {
  Net net;
  const Tensor x = X();
  const auto forward = [&](absl::Span<const Tensor> in) {
    return TensorList{net.training() ? net.Forward(in[0]) : in[0]};
  };
  absl::StatusOr<Graph> evaluation = ToEvaluation(Capture(forward, {&x, 1}).graph);
  ASSERT_TRUE(evaluation.ok()) << evaluation.status();
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(*std::move(evaluation));
  ASSERT_TRUE(graph.ok()) << graph.status();
  net.Eval();
  EXPECT_EQ(ErrorOf([&] { (*graph)(x); }), "");
  Register(net.fc, "weight", WeightNorm());
  EXPECT_THAT(ErrorOf([&] { (*graph)(x); }), HasSubstr("parameter net.fc.weight was replaced"));
}

// Another network's parameter, a failed call, and the graph's own copies change nothing.
TEST(ParametrizeFrozenTest, AGraphGoesOnWhereItIsAsItWas) {
  Net net, other;
  StaticGraph graph = Frozen(net);
  Register(other.fc, "weight", WeightNorm());
  EXPECT_NE(ErrorOf([&] { Register(net.fc, "wait", WeightNorm()); }), "");
  EXPECT_TRUE(graph(X()).Equals(net.Forward(X())));

  Net third;
  const Tensor y = third.Forward(X()).Detach();
  StaticGraph constant = Freeze(
      {.constant_states = true}, [&](const Tensor& x) { return third.Forward(x); }, X());
  const Tensor detached = third.fc.weight().Detach();  // met before the parameter itself
  const auto twice = [&](const Tensor& x) {
    const Tensor nothing = firn::Linear(x, detached) * 0.0;
    return nothing + third.Forward(x);
  };
  StaticGraph both = Freeze({.constant_states = true}, twice, X());
  Register(third.fc, "weight", WeightNorm());
  ExpectNear(constant(X()), y.ToVector<float>());
  ExpectNear(both(X()), y.ToVector<float>());

  StaticGraph outlives = [] {
    Net gone;
    return Frozen(gone);
  }();
  EXPECT_EQ(ErrorOf([&] { outlives(X()); }), "");
}

TEST(ParametrizeFrozenTest, AStaticModuleFollows) {
  Net net;
  StaticModule fast(net, [&](const Tensor& x) { return net.Forward(x); });
  fast(X());
  Register(net.fc, "weight", Twice());
  Set(Original(net), {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(fast(X()).Equals(net.Forward(X())));
  RemoveParametrizations(net.fc, "weight");
  EXPECT_TRUE(fast(X()).Equals(net.Forward(X())));
}

TEST(ParametrizeFrozenTest, AnAverageRefusesAParameterThatIsNone) {
  Net net;
  optim::WeightAverage average(net.named_parameters());
  average.Update();
  Register(net.fc, "weight", WeightNorm());
  for (const std::string& error :
       {ErrorOf([&] { average.Update(); }), ErrorOf([&] { average.Swap(); })}) {
    EXPECT_THAT(error, HasSubstr("parameter fc.weight is none of its module any more"));
  }
  optim::WeightAverage again(net.named_parameters());
  again.Update();
  RemoveParametrizations(net.fc, "weight");
  EXPECT_THAT(ErrorOf([&] { again.Update(); }), HasSubstr("original0 is none of its module"));
}

TEST(ParametrizeFrozenTest, AnAverageGoesOnWithTheOriginal) {
  Net net;
  optim::WeightAverage average(net.named_parameters(), {.decay = 0.5});
  average.Update();
  Register(net.fc, "weight", SpectralNorm());
  net.Eval();
  Set(Original(net), Values(6, 2));
  average.Update();
  const optim::WeightAverage::Scope averaged(average);
  EXPECT_FLOAT_EQ(Original(net).ToVector<float>()[0], (kWeight[0] + 2) / 2);
}

// The average may be swapped back even if a parameter has gone meanwhile.
TEST(ParametrizeFrozenTest, AnAverageIsSwappedBack) {
  Net net;
  optim::WeightAverage average(net.named_parameters());
  average.Update();
  Set(net.fc.bias(), {5, 6});
  {
    const optim::WeightAverage::Scope averaged(average);
    Register(net.fc, "weight", WeightNorm());
  }
  EXPECT_EQ(net.fc.bias().ToVector<float>(), Values({5, 6}));
}

TEST(ParametrizeFrozenTest, AnOptimizerSaysThatItHasNoneOfTheOriginals) {
  Net net;
  optim::Sgd sgd(net.parameters(), {.lr = 0.1});
  Register(net.fc, "weight", WeightNorm());
  Sum(net.Forward(X())).Backward();
  ::testing::internal::CaptureStderr();
  sgd.Step();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("no optimizer has parameter net.fc.parametrizations.weight.original"));
}

}  // namespace
}  // namespace firn::nn::parametrize

// The rules of capturing: what cannot be in a graph is refused by name, and nothing is changed.

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/graph/training.h"
#include "tests/error_of.h"

namespace firn {
namespace {

// What Freeze says when it refuses to capture `fn`, "" when it does not.
template <class F>
std::string RefusalOf(F fn) {
  const absl::Status status = testing::StatusOf([&] { Freeze(fn, Ones({3})); });
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kFailedPrecondition) << status;
  return std::string(status.message());
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(CaptureTest, ReadingElementsOnTheHostIsRefused) {
  const std::string item = RefusalOf([](const Tensor& x) { return x * Sum(x).Item(); });
  EXPECT_TRUE(Has(item, "are read on the host while a graph is captured")) << item;
  const std::string view = RefusalOf([](const Tensor& x) {
    static_cast<void>(Tensor(x + 1).host_view<float>());
    return x;
  });
  EXPECT_TRUE(Has(view, "host_view")) << view;
}

TEST(CaptureTest, MakingATensorFromHostMemoryIsRefused) {
  const std::string why = RefusalOf([](const Tensor& x) {
    return x + FromValues({1.f, 2.f, 3.f});
  });
  EXPECT_TRUE(Has(why, "made from host memory while a graph is captured")) << why;
}

TEST(CaptureTest, DrawingNumbersOnTheHostIsRefused) {
  EXPECT_NE(RefusalOf([](const Tensor& x) {
              DefaultGenerator().Reserve(1);
              return x;
            }),
            "");
}

TEST(CaptureTest, ACaptureInsideACaptureIsRefused) {
  const std::string why = RefusalOf(
      [](const Tensor& x) { return Freeze([](const Tensor& y) { return y + 1; }, x)(x); });
  EXPECT_TRUE(Has(why, "a capture is running on this thread already")) << why;
  EXPECT_EQ(RefusalOf([](const Tensor& x) { return x + 1; }), "");  // and the thread is free again
}

TEST(CaptureTest, RunningAGraphInsideACaptureIsRefused) {
  StaticGraph inner = Freeze([](const Tensor& x) { return x + 1; }, Ones({3}));
  const std::string why = RefusalOf([&inner](const Tensor& x) { return inner(x); });
  EXPECT_TRUE(Has(why, "a graph runs while another is captured")) << why;
}

TEST(CaptureTest, ResultsOfTheCapturedRunSurviveTheNext) {
  const Tensor total = Zeros({3});
  const Tensor in[] = {Ones({3})};
  Captured captured = Capture(
      [&total](absl::Span<const Tensor> x) {
        Tensor(total).CopyFrom(total + x[0]);
        return TensorList{total, x[0]};
      },
      in);
  StaticGraph graph = *StaticGraph::Compile(std::move(captured.graph));
  const Tensor x = Full({3}, 5.0);
  const TensorList out = graph.Call({&x, 1});
  EXPECT_TRUE(captured.outputs[0].Equals(Ones({3})));
  EXPECT_TRUE(captured.outputs[1].Equals(Ones({3})));
  EXPECT_TRUE(out[0].Equals(Full({3}, 6.0)));
}

TEST(CaptureTest, ChangingAnInputInPlaceIsRefused) {
  const Tensor x = Ones({3});
  const auto change = [](const Tensor& t) {
    Tensor(t).Fill(5);
    return t + 1;
  };
  EXPECT_THROW(Freeze(change, x), Error);
  EXPECT_TRUE(x.Equals(Ones({3})));
}

TEST(CaptureTest, InputsMayShareElementsAndHaveAnyLayout) {
  const Tensor data = Randn({4, 20});
  const Tensor x = data[{kAll, Range(0, 8)}], y = data[{kAll, Range(1, 9)}];
  const auto add = [](const Tensor& a, const Tensor& b) { return a - b; };
  StaticGraph graph = Freeze(add, x, y);
  EXPECT_TRUE(graph.TakeFirst().Equals(x - y));
  EXPECT_TRUE(graph(x, y).Equals(x - y));
  EXPECT_TRUE(graph(y, x).Equals(y - x));
  EXPECT_TRUE(graph(x, x).Equals(Zeros({4, 8})));
  const Tensor transposed = Randn({8, 4}).T();
  EXPECT_TRUE(graph(transposed, y).Equals(transposed - y));
  EXPECT_TRUE(Freeze(add, x, x)(y, x).Equals(y - x));
  StaticGraph image = Freeze([](const Tensor& t) { return t + 1; }, Zeros({1, 16, 8, 8}));
  const NoGradScope no_grad;
  const Tensor blocked = Conv2d(Randn({1, 16, 8, 8}), Randn({16, 16, 3, 3}), {}, {.padding = {1}});
  EXPECT_TRUE(image(blocked).Equals(blocked + 1));
}

// A tensor that the code uses beside its input is a state, even if it lies in the same memory as
// the input.
TEST(CaptureTest, AStateThatLiesWithAnInputIsNotTakenForIt) {
  const Tensor data = Randn({4, 3});
  StaticGraph graph = Freeze([&](const Tensor& x) { return x + data[1]; }, data[0]);
  EXPECT_TRUE(graph.TakeFirst().Equals(data[0] + data[1]));
  EXPECT_TRUE(graph(Ones({3})).Equals(data[1] + 1));
}

TEST(CaptureTest, SharingIsRefusedWhereTheGraphWrites) {
  const Tensor data = Zeros({2, 3});
  const Tensor state = data[0];
  StaticGraph graph = Freeze(
      [&](const Tensor& x) {
        Tensor(state).CopyFrom(state + x);
        return x * 2;
      },
      Ones({3}));
  const std::string why = testing::ErrorOf([&] { graph(state); });
  EXPECT_TRUE(Has(why, "shares its memory with a state")) << why;
  EXPECT_TRUE(state.Equals(Ones({3})));
}

TEST(CaptureTest, AFunctionMayGiveItsResultsInAnyList) {
  const Tensor x = Ones({3});
  const auto results = [&x](auto fn) {
    StaticGraph graph = Freeze(fn, x);
    const TensorList first = graph.TakeFirstResults(), again = graph.Call({&x, 1});
    EXPECT_TRUE(first[0].Equals(again[0]));
    EXPECT_THROW(graph.TakeFirstResults(), Error);
    return again.size();
  };
  EXPECT_EQ(results([](const Tensor& t) { return std::vector<Tensor>{t + 1, t * 2, t * 3}; }), 3u);
  EXPECT_EQ(results([](const Tensor& t) { return std::pair(t + 1, t * 2); }), 2u);
  EXPECT_EQ(results([](const Tensor& t) { return std::tuple(t + 1); }), 1u);
  EXPECT_EQ(results([](const Tensor& t) { return std::array{t + 1, t * 2}; }), 2u);
  EXPECT_EQ(results([](const Tensor& t) { return TensorList{t + 1, t * 2}; }), 2u);
}

TEST(CaptureTest, FreezingTakesOptions) {
  const CompileOptions small{.max_arena_bytes = 16};
  const auto run = [](const Tensor& x) { return Sum(Exp(x) + Exp(x * 2)); };
  EXPECT_THROW(Freeze(small, run, Ones({256})), Error);
  EXPECT_GT(Freeze({.max_arena_bytes = 1 << 20}, run, Ones({256}))(Ones({256})).Item(), 0);
}

// The message names the operation there too.
struct Fast : nn::Module {
  nn::Linear& layer = Add<nn::Linear>("layer", {.in = 2, .out = 1});
  StaticGraph Graph(const Tensor& x) {
    return Freeze([&](const Tensor& t) { return layer(t); }, x);
  }
};

TEST(CaptureTest, AModuleMayFreezeItself) {
  Fast net;
  const Tensor x = Ones({1, 2});
  EXPECT_TRUE(net.Graph(x)(x).Equals(net.layer(x)));
}

TEST(CaptureTest, ChangingTheLearningRateInACaptureIsRefused) {
  nn::Linear layer({.in = 3, .out = 1});
  optim::Sgd sgd(layer.parameters(), {.lr = 0.1});
  const std::string why = RefusalOf([&](const Tensor& x) {
    sgd.SetLr(0.5);
    return x;
  });
  EXPECT_TRUE(Has(why, "SetLr") && Has(why, "between steps")) << why;
  EXPECT_EQ(sgd.lr(), 0.1);
  EXPECT_THROW(sgd.SetLr(std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(sgd.SetLr(0, -1), Error);
  EXPECT_EQ(sgd.lr(), 0.1);
}

using Training = testing::Training<testing::ConvNet, optim::Adam>;

// Captures a step that throws when all of it is done.
void FailAStep(Training& t, const testing::Batch& batch, bool clears_gradients) {
  const auto failing = [&](const Tensor& x, const Tensor& labels) {
    if (clears_gradients) t.optimizer->ZeroGrad();
    const Tensor loss = CrossEntropy(t.net->Forward(x), labels);
    loss.Backward();
    t.optimizer->Step();
    throw std::runtime_error("the user's own");
    return loss;
  };
  EXPECT_THROW(Freeze(failing, batch.x, batch.labels), std::runtime_error);
}

// Parameters, gradients, running statistics, the optimizer's state, the random stream: the model
// goes on like its twin, which never failed.
TEST(CaptureTest, AnExceptionLeavesTheModelAsItWas) {
  const std::vector<testing::Batch> batches = testing::Batches(3, {4, 1, 8, 8}, 5);
  Training twin({.lr = 1e-2});
  twin.Step(batches[0]);
  const float want_loss = twin.Step(batches[1]).Item<float>();
  const StateDict want = twin.State();
  for (const bool clears : {true, false}) {  // gradients that are replaced, or added to
    SCOPED_TRACE(clears);
    Training t({.lr = 1e-2});
    t.Step(batches[0]);
    const StateDict before = t.State();
    TensorList gradients, elements;
    for (const Tensor& p : t.net->parameters()) {
      gradients.push_back(p.grad());
      elements.push_back(p.grad().Clone());
    }
    FailAStep(t, batches[2], clears);
    testing::ExpectEqualStates(t.State(), before);
    const std::vector<Tensor> parameters = t.net->parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_TRUE(parameters[i].grad().Is(gradients[i])) << i;
      EXPECT_TRUE(gradients[i].Equals(elements[i])) << i;
    }
    EXPECT_EQ(t.Step(batches[1]).Item<float>(), want_loss);
    testing::ExpectEqualStates(t.State(), want);
  }
}

// The state that an optimizer makes at its first step counts as no state.
TEST(CaptureTest, AnExceptionInTheFirstStepLeavesTheModelAsItWas) {
  const std::vector<testing::Batch> batches = testing::Batches(2, {4, 1, 8, 8}, 5);
  Training twin({.lr = 1e-2});
  twin.Step(batches[0]);
  const StateDict want = twin.State();
  Training t({.lr = 1e-2});
  FailAStep(t, batches[1], true);
  for (const Tensor& p : t.net->parameters()) EXPECT_FALSE(p.grad().defined());
  t.Step(batches[0]);
  testing::ExpectEqualStates(t.State(), want);
}

TEST(CaptureTest, MemoryThatARunWritesIsNoArgumentAsWell) {
  const Tensor total = Zeros({3});
  StaticGraph graph = Freeze(
      [&total](const Tensor& x) {
        Tensor(total).CopyFrom(total + x);
        return TensorList{x + 1, x * 2};
      },
      Ones({3}));
  const auto refusal = [&graph](const Tensor& in, const Tensor& a, const Tensor& b) {
    TensorList out = {a, b};
    return std::string(graph.Run({&in, 1}, absl::MakeSpan(out)).message());
  };
  const Tensor x = Ones({3}), y = Zeros({3}), z = Zeros({3}), both = Zeros({2, 3});
  EXPECT_TRUE(Has(refusal(x, x, y), "output 0 shares its memory with input 0"));
  EXPECT_TRUE(Has(refusal(x, y, y), "outputs 0 and 1 share their memory"));
  EXPECT_TRUE(Has(refusal(x, y, total), "output 1 shares its memory with a state"));
  EXPECT_TRUE(Has(refusal(total, y, z), "input 0 shares its memory with a state"));
  EXPECT_TRUE(total.Equals(Ones({3})));  // the result of the captured run; no run has added to it
  EXPECT_EQ(refusal(x, Select(both, 0, 0), Select(both, 0, 1)), "");
  EXPECT_TRUE(Select(both, 0, 1).Equals(Full({3}, 2.0)));
}

// A state may be laid out in blocks; reading it on the host lays it out anew.
TEST(CaptureTest, AStateReadOnTheHostBetweenRunsIsFound) {
  const Tensor image = Randn({1, 16, 8, 8}), weight = Randn({16, 16, 3, 3});
  const NoGradScope no_grad;
  const Tensor state = Conv2d(image, weight, Tensor(), {.padding = {1}});
  StaticGraph graph = Freeze([&state](const Tensor& x) { return state + x; }, Ones({1}));
  const Tensor want = state + 1;
  static_cast<void>(state.host_view<float>());
  EXPECT_TRUE(graph(Ones({1})).Equals(want));
  const_cast<Tensor&>(state).mutable_host_view<float>()[0] = 5;
  EXPECT_EQ(graph(Ones({1})).ToVector<float>()[0], 6);
}

TEST(CaptureTest, AStateThatBecameAnotherIsRefused) {
  nn::Linear net({.in = 3, .out = 2});
  StaticGraph graph = Freeze([&net](const Tensor& x) { return net(x); }, Ones({1, 3}));
  net.To(DType::kF64);
  TensorList out(1);
  const Tensor x = Ones({1, 3});
  const absl::Status status = graph.Run({&x, 1}, absl::MakeSpan(out));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Has(std::string(status.message()), "capture again")) << status;
}

// A frozen step that finds gradients rather than computing them must find the same tensors again.
TEST(CaptureTest, AFrozenUpdateTakesTheGradientThatIsThere) {
  nn::Linear net({.in = 3, .out = 2});
  optim::Sgd sgd(net.parameters(), {.lr = 0.5});
  const auto backward = [&] {
    sgd.ZeroGrad();
    Sum(net(Ones({1, 3}))).Backward();
  };
  backward();
  StaticGraph step = Freeze([&]() {
    sgd.Step();
    return TensorList();
  });
  EXPECT_NO_THROW(step.Call({}));  // the same gradients once more
  backward();                      // replaces it
  const Tensor weight = net.parameters()[0];
  Tensor(weight).SetGrad(Full({2, 3}, 4.0));
  std::vector<float> want = weight.ToVector<float>();
  for (float& w : want) w -= 2;
  TensorList none;
  EXPECT_TRUE(step.Run({}, absl::MakeSpan(none)).ok());
  EXPECT_EQ(weight.ToVector<float>(), want);
  sgd.ZeroGrad();
  const absl::Status status = step.Run({}, absl::MakeSpan(none));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Has(std::string(status.message()), "there is none now")) << status;
  EXPECT_EQ(weight.ToVector<float>(), want);
}

TEST(CaptureTest, GradientsAddUpOverRuns) {
  Tensor w = Ones({3}).SetRequiresGrad();
  w.SetGrad(Zeros({3}));
  StaticGraph graph = Freeze(
      [&w](const Tensor& x) {
        const Tensor loss = Sum(w * x);
        loss.Backward();
        return loss;
      },
      Ones({3}));
  graph(Full({3}, 2.0));
  EXPECT_TRUE(w.grad().Equals(Full({3}, 3.0)));
  w.ZeroGrad();
  graph(Full({3}, 5.0));
  EXPECT_TRUE(w.grad().Equals(Full({3}, 5.0)));
}

// Control flow runs once, while capturing: the graph holds the branch that was taken.
TEST(CaptureTest, TheBranchThatWasTakenIsFrozen) {
  bool twice = false;
  const auto fn = [&twice](const Tensor& x) { return twice ? x * 2 : x + 0; };
  StaticGraph graph = Freeze(fn, Ones({3}));
  twice = true;
  EXPECT_TRUE(graph(Ones({3})).Equals(Ones({3})));
  EXPECT_TRUE(fn(Ones({3})).Equals(Full({3}, 2.0)));
}

TEST(CaptureTest, ATensorHeldOutsideIsOverwrittenAndSaidToBe) {
  Tensor held;
  const Tensor in[] = {Ones({3})};
  Captured captured = Capture(
      [&held](absl::Span<const Tensor> x) {
        held = x[0] * 3;
        return TensorList{held + 1};
      },
      in);
  ASSERT_EQ(captured.graph.warnings.size(), 1u);
  EXPECT_TRUE(Has(captured.graph.warnings[0], "held outside"));
  StaticGraph graph = *StaticGraph::Compile(std::move(captured.graph));
  EXPECT_TRUE(graph(Full({3}, 2.0)).Equals(Full({3}, 7.0)));
  EXPECT_TRUE(held.Equals(Full({3}, 6.0)));
}

TEST(CaptureTest, UnlistedTensorsAreReadWhereTheyAre) {
  const Tensor scale = Full({3}, 2.0);
  StaticGraph graph = Freeze([&scale](const Tensor& x) { return x * scale; }, Ones({3}));
  Tensor(scale).Fill(5);
  EXPECT_TRUE(graph(Ones({3})).Equals(Full({3}, 5.0)));
}

}  // namespace
}  // namespace firn

// Objects that hold nothing, because they were default-made or moved from: using them is an error
// that says so, or gives what the header documents, and never crashes.

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/backward.h"
#include "firn/autograd/graph/dot.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/graph/visit.h"
#include "firn/autograd/hooks.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/sequential.h"
#include "firn/nn/static_module.h"
#include "firn/optim/adam.h"
#include "firn/optim/loss_scaler.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/state_dict.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using Call = std::function<void(Tensor&)>;

// Every method that needs the tensor's elements.
const std::vector<std::pair<const char*, Call>>& TensorCalls() {
  static const auto* const calls = new std::vector<std::pair<const char*, Call>>{
      {"spec", [](Tensor& t) { t.spec(); }},
      {"shape", [](Tensor& t) { t.shape(); }},
      {"dtype", [](Tensor& t) { t.dtype(); }},
      {"device", [](Tensor& t) { t.device(); }},
      {"rank", [](Tensor& t) { t.rank(); }},
      {"size", [](Tensor& t) { t.size(0); }},
      {"num_elements", [](Tensor& t) { t.num_elements(); }},
      {"is_contiguous", [](Tensor& t) { t.is_contiguous(); }},
      {"host_view", [](Tensor& t) { t.host_view<float>(); }},
      {"mutable_host_view", [](Tensor& t) { t.mutable_host_view<float>(); }},
      {"ToVector", [](Tensor& t) { t.ToVector<float>(); }},
      {"ToVector of bool", [](Tensor& t) { t.ToVector<bool>(); }},
      {"Item", [](Tensor& t) { t.Item(); }},
      {"SetRequiresGrad", [](Tensor& t) { t.SetRequiresGrad(); }},
      {"grad", [](Tensor& t) { t.grad(); }},
      {"SetGrad", [](Tensor& t) { t.SetGrad(Ones({1})); }},
      {"ZeroGrad", [](Tensor& t) { t.ZeroGrad(); }},
      {"RetainGrad", [](Tensor& t) { t.RetainGrad(); }},
      {"Backward", [](Tensor& t) { t.Backward(); }},
      {"To a dtype", [](Tensor& t) { t.To(DType::kF64); }},
      {"To a device", [](Tensor& t) { t.To(Device::Cpu()); }},
      {"Contiguous", [](Tensor& t) { t.Contiguous(); }},
      {"Clone", [](Tensor& t) { t.Clone(); }},
      {"Reshape", [](Tensor& t) { t.Reshape({1}); }},
      {"Reshape to a Shape", [](Tensor& t) { t.Reshape(Shape{1}); }},
      {"Flatten", [](Tensor& t) { t.Flatten(); }},
      {"Transpose", [](Tensor& t) { t.Transpose(0, 1); }},
      {"T", [](Tensor& t) { t.T(); }},
      {"Permute", [](Tensor& t) { t.Permute({0}); }},
      {"Squeeze", [](Tensor& t) { t.Squeeze(); }},
      {"Unsqueeze", [](Tensor& t) { t.Unsqueeze(0); }},
      {"Matmul",
       [](Tensor& t) {
         t.Matmul(Ones({1, 1}));
       }},
      {"Sum", [](Tensor& t) { t.Sum(); }},
      {"Mean", [](Tensor& t) { t.Mean(); }},
      {"[]", [](Tensor& t) { t[0]; }},
      {"[{}]",
       [](Tensor& t) {
         t[{kAll, 0}];
       }},
      {"[] =", [](Tensor& t) { t[0] = 1; }},
      {"+=", [](Tensor& t) { t += 1; }},
      {"-=", [](Tensor& t) { t -= 1; }},
      {"*=", [](Tensor& t) { t *= 1; }},
      {"/=", [](Tensor& t) { t /= 1; }},
      {"CopyFrom", [](Tensor& t) { t.CopyFrom(1); }},
      {"Fill", [](Tensor& t) { t.Fill(1); }},
      {"CopyFrom of it", [](Tensor& t) { Ones({1}).CopyFrom(t); }},
      {"+= of it",
       [](Tensor& t) {
         Tensor x = Ones({1});
         x += t;
       }},
      {"[] = it",
       [](Tensor& t) {
         const Tensor x = Ones({1});
         x[0] = t;
       }},
      {"[it]",
       [](Tensor& t) {
         const Tensor x = Ones({1});
         x[t];
       }},
      {"a gradient of it", [](Tensor& t) { Grad(t, Ones({1}).SetRequiresGrad()); }},
      {"a gradient for it", [](Tensor& t) { Grad(Sum(Ones({1}).SetRequiresGrad()), t); }},
      {"a capture of it", [](Tensor& t) { Freeze([](const Tensor& x) { return x; }, t); }},
      {"a capture that gives it", [](Tensor& t) { Freeze([&] { return t; }); }},
      {"an optimizer of it", [](Tensor& t) { optim::Adam({t}, {}); }},
      {"a layer on it",
       [](Tensor& t) {
         nn::Linear linear({.in = 1, .out = 1});
         linear(t);
       }},
  };
  return *calls;
}

void ExpectErrorsOf(Tensor& t) {
  for (const auto& [name, call] : TensorCalls()) {
    const std::string why = testing::ErrorOf([&c = call, &t] { c(t); });
    EXPECT_NE(why.find("undefined"), std::string::npos) << name << ": " << why;
  }
  EXPECT_FALSE(t.defined());
  EXPECT_FALSE(t.requires_grad());
  EXPECT_TRUE(t.is_leaf());
  EXPECT_FALSE(t.Detach().defined());
  EXPECT_TRUE(t.Equals(Tensor()));
  EXPECT_FALSE(t.Equals(Ones({1})));
  EXPECT_TRUE(t.Is(Tensor()));
  EXPECT_EQ(t.impl(), nullptr);
  EXPECT_NE(t.ToString(), "");
}

TEST(UndefinedTest, ItsPlaceInAListIsTold) {
  const std::vector<Tensor> list = {Ones({2}), Tensor(), Ones({2})};
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"concat", [&] { Concat(list, 0); }},
      {"stack", [&] { Stack(list, 0); }},
      {"add_n", [&] { AddN(list); }},
      {"meshgrid", [&] { Meshgrid(list); }},
  };
  for (const auto& [name, call] : calls) {
    EXPECT_EQ(testing::ErrorOf(call), std::string(name) + ": tensors[1] is an undefined tensor");
  }
}

TEST(UndefinedTest, AnUndefinedTensorSaysSo) {
  Tensor t;
  ExpectErrorsOf(t);
}

TEST(UndefinedTest, ATensorThatWasMovedFromIsUndefined) {
  Tensor t = Ones({2}).SetRequiresGrad();
  const Tensor moved = std::move(t);
  ExpectErrorsOf(t);  // NOLINT: that is the point
  t = moved;
  EXPECT_EQ(t.num_elements(), 2);
}

TEST(UndefinedTest, TheGradientBeforeAnyBackwardPassSaysSo) {
  const nn::Linear linear({.in = 2, .out = 1});
  const std::string why = testing::ErrorOf([&] { linear.weight().grad().shape(); });
  EXPECT_NE(why.find("grad() of a leaf that no backward pass has reached"), std::string::npos)
      << why;
}

TEST(UndefinedTest, AGraphThatWasMovedFromSaysSo) {
  StaticGraph graph = Freeze([](const Tensor& x) { return x * 2; }, Ones({2}));
  StaticGraph moved = std::move(graph);
  const Tensor x = Ones({2});
  Tensor out;
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"()", [&] { graph(x); }},
      {"Call",
       [&] {
         graph.Call({&x, 1});
       }},
      {"Run",
       [&] {
         RaiseIfError(graph.Run({&x, 1}, absl::MakeSpan(&out, 1)), "run");
       }},
      {"TakeFirst", [&] { graph.TakeFirst(); }},
      {"TakeFirstResults", [&] { graph.TakeFirstResults(); }},
      {"captured", [&] { graph.captured(); }},
      {"graph", [&] { graph.graph(); }},
      {"memory", [&] { graph.memory(); }},
      {"device_graph_runs", [&] { graph.device_graph_runs(); }},
      {"operations_aside", [&] { graph.operations_aside(); }},
      {"Explain", [&] { graph.Explain(); }},
  };
  for (const auto& [name, call] : calls) {
    const std::string why = testing::ErrorOf(call);
    EXPECT_NE(why.find("moved from"), std::string::npos) << name << ": " << why;
  }
  EXPECT_TRUE(moved(x).Equals(Full({2}, 2.0)));
  graph = std::move(moved);
  EXPECT_TRUE(graph(x).Equals(Full({2}, 2.0)));
}

TEST(UndefinedTest, AStaticModuleThatWasMovedFromSaysSo) {
  nn::Linear linear({.in = 2, .out = 1});
  nn::StaticModule fast(linear);
  const Tensor x = Ones({1, 2});
  const Tensor want = fast(x);
  nn::StaticModule moved = std::move(fast);
  EXPECT_TRUE(moved(x).Equals(want));
  const std::string why = testing::ErrorOf([&] { fast(x); });
  EXPECT_NE(why.find("moved from"), std::string::npos) << why;
  EXPECT_NE(testing::ErrorOf([&] { fast.graph(0); }), "");
  fast.Clear();
  EXPECT_EQ(fast.size(), 0u);
  EXPECT_NE(fast.DebugString(), "");
}

TEST(UndefinedTest, AStateDictThatWasMovedFromIsEmpty) {
  StateDict state = {{"a", Ones({1})}};
  const StateDict moved = std::move(state);
  EXPECT_EQ(state.size(), 0u);
  EXPECT_FALSE(state.Contains("a"));
  EXPECT_EQ(state.Find("a"), nullptr);
  EXPECT_NE(testing::ErrorOf([&] { state["a"]; }), "");
  state.Insert("a", Zeros({1}));
  EXPECT_EQ(state.size(), 1u);
}

TEST(UndefinedTest, AModuleWithNothingInItAnswers) {
  nn::Module module;
  EXPECT_EQ(module.type_name(), "Module");
  EXPECT_EQ(module.Describe(), "");
  EXPECT_EQ(module.name(), "module");
  EXPECT_EQ(module.path(), "module");
  EXPECT_EQ(module.ToString(), "Module()");
  EXPECT_EQ(module.named_modules().size(), 1u);
  EXPECT_EQ(module.num_children(), 0u);
  EXPECT_THROW(module.child(0), Error);
  EXPECT_EQ(module.FindChild("fc"), nullptr);
  EXPECT_TRUE(module.parameters().empty() && module.named_parameters().empty());
  EXPECT_TRUE(module.named_buffers().empty() && module.state_dict().empty());
  EXPECT_EQ(module.num_parameters(), 0);
  module.LoadStateDict({});
  EXPECT_THROW(module.LoadStateDict({{"a", Ones({1})}}), Error);
  EXPECT_THROW(module.ShareParameter("a", Ones({1})), Error);
  EXPECT_THROW(module.ShareParameter("a", Tensor()), Error);
  module.Train();
  module.Eval();
  EXPECT_FALSE(module.training());
  module.SetTrainable(false);
  module.To(Device::Cpu());
  module.To(DType::kF64);
  EXPECT_THROW(module.To(DType::kI64), Error);
  module.RegisterForwardHook({}).Remove();
  module.SetName("other");
  EXPECT_EQ(module.path(), "other");
}

TEST(UndefinedTest, ContainersWithNothingInThemAnswer) {
  nn::Sequential nothing;
  EXPECT_TRUE(nothing(Ones({2})).Equals(Ones({2})));
  EXPECT_THROW(nothing[0], Error);
  EXPECT_FALSE(nothing(Tensor()).defined());
  nn::ModuleList<nn::Linear> list;
  EXPECT_EQ(list.size(), 0u);
  EXPECT_THROW(list[0], Error);
  nn::ModuleDict<nn::Linear> dict;
  EXPECT_FALSE(dict.Contains("a"));
  EXPECT_THROW(dict["a"], Error);
}

TEST(UndefinedTest, AGraphWithNothingInItRuns) {
  Graph graph;
  EXPECT_TRUE(graph.Verify().ok());
  EXPECT_NE(DotText(graph), "");
  int operations = 0;
  VisitOperations(graph, [&](const OpView&) { ++operations; });
  EXPECT_EQ(operations, 0);
  absl::StatusOr<StaticGraph> compiled = StaticGraph::Compile(std::move(graph));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_TRUE(compiled->Call({}).empty());
  EXPECT_THROW((*compiled)(), Error);
  EXPECT_THROW(compiled->TakeFirstResults(), Error);
  EXPECT_NE(compiled->Explain(), "");
}

TEST(UndefinedTest, AHandleOfNoHookRemovesNothing) {
  HookHandle none;
  none.Remove();
  Tensor x = Ones({1}).SetRequiresGrad();
  HookHandle handle = RegisterHook(x, [](const Tensor& g) { return g * 2; });
  const HookHandle moved = std::move(handle);
  handle.Remove();
  Sum(x).Backward();
  EXPECT_EQ(x.grad().Item(), 2);
}

TEST(UndefinedTest, ALossScalerThatWasMovedFromSaysSo) {
  optim::LossScaler scaler;
  const optim::LossScaler moved = std::move(scaler);
  nn::Linear linear({.in = 1, .out = 1});
  optim::Adam adam(linear.parameters(), {});
  Sum(linear(Ones({1, 1}))).Backward();
  EXPECT_THROW(scaler.scale(), Error);
  EXPECT_THROW(scaler.skipped(), Error);
  EXPECT_THROW(scaler.Scale(Ones({})), Error);
  EXPECT_THROW(scaler.Unscale(adam), Error);
  EXPECT_THROW(scaler.Step(adam), Error);
  EXPECT_THROW(scaler.Update(), Error);
  EXPECT_THROW(scaler.state_dict(), Error);
  EXPECT_THROW(scaler.LoadStateDict(moved.state_dict()), Error);
  EXPECT_GT(moved.scale(), 0);
}

TEST(UndefinedTest, ANewGeneratorDraws) {
  RandomGenerator generator;
  EXPECT_TRUE(generator.state().defined());
  EXPECT_EQ(generator.device(), Device::Cpu());
  EXPECT_EQ(generator.position().offset, 0u);
  generator.Reserve(2);
  EXPECT_EQ(generator.position().offset, 2u);
  generator.SetSeed(3);
  EXPECT_EQ(generator.position().seed, 3u);
}

// Every arithmetic type, exactly.
template <class T>
void ExpectNumbers() {
  const Tensor ints = FromValues<int64_t>({0, 1, 100});
  EXPECT_EQ(ints.ToVector<T>(), (std::vector<T>{T(0), T(1), T(100)}));
  EXPECT_EQ(ints[2].template Item<T>(), T(100));
  EXPECT_EQ((ints > 0).template ToVector<T>(), (std::vector<T>{T(0), T(1), T(1)}));
  EXPECT_EQ(ints.To(DType::kBF16).template ToVector<T>(), (std::vector<T>{T(0), T(1), T(100)}));
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    EXPECT_THROW(FromValues({std::numeric_limits<float>::quiet_NaN()}).Item<T>(), Error);
    EXPECT_THROW(FromValues({1e20}).Item<T>(), Error);
    EXPECT_EQ(FromValues({3.7}).Item<T>(), T(3));
    if constexpr (sizeof(T) < 8) {
      const int64_t above = int64_t{std::numeric_limits<T>::max()} + 1;
      EXPECT_THROW(FromValues({above}).Item<T>(), Error);
      EXPECT_THROW(FromValues({static_cast<double>(above)}).Item<T>(), Error);
      EXPECT_EQ(FromValues({above - 1}).Item<T>(), std::numeric_limits<T>::max());
      EXPECT_EQ(FromValues({static_cast<double>(above) - 0.5}).Item<T>(),
                std::numeric_limits<T>::max());
    }
    if (std::is_unsigned_v<T>) {
      EXPECT_THROW(FromValues<int64_t>({-1}).Item<T>(), Error);
      EXPECT_EQ(FromValues({-0.5}).Item<T>(), T(0));
    } else {
      EXPECT_EQ(FromValues({static_cast<double>(std::numeric_limits<T>::min())}).Item<T>(),
                std::numeric_limits<T>::min());
    }
  }
}

TEST(NumbersTest, AreOfEveryArithmeticType) {
  ExpectNumbers<bool>();
  ExpectNumbers<char>();
  ExpectNumbers<signed char>();
  ExpectNumbers<unsigned char>();
  ExpectNumbers<short>();           // NOLINT
  ExpectNumbers<unsigned short>();  // NOLINT
  ExpectNumbers<int>();
  ExpectNumbers<unsigned>();
  ExpectNumbers<long>();                // NOLINT
  ExpectNumbers<unsigned long>();       // NOLINT
  ExpectNumbers<long long>();           // NOLINT
  ExpectNumbers<unsigned long long>();  // NOLINT
  ExpectNumbers<wchar_t>();
  ExpectNumbers<char16_t>();
  ExpectNumbers<char32_t>();
  ExpectNumbers<float>();
  ExpectNumbers<double>();
  ExpectNumbers<long double>();
}

TEST(NumbersTest, LargeIntegersAreExact) {
  const int64_t large = (int64_t{1} << 60) + 1;
  const Tensor t = FromValues({large});
  EXPECT_EQ(t.Item<int64_t>(), large);
  EXPECT_EQ(t.Item<uint64_t>(), static_cast<uint64_t>(large));
  EXPECT_EQ(t.Item<long double>(), static_cast<long double>(large));
  EXPECT_EQ(t.ToVector<long long>()[0], large);  // NOLINT
  EXPECT_EQ(Ones({2}).ToVector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ(FromValues({0.5f, 0.f}).ToVector<bool>(), (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace firn

// Numbers are those of torch 2.15, of the code above each test's values.

#include "firn/nn/parametrize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/clone.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/parametrizations.h"
#include "firn/nn/sequential.h"
#include "firn/nn/static_module.h"
#include "firn/nn/summary.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/pending.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using parametrize::Held;
using parametrize::IsParametrized;
using parametrize::Register;
using parametrize::RemoveParametrizations;
using parametrize::SetValue;
using parametrize::SpectralNorm;
using parametrize::Value;
using parametrize::WeightNorm;
using parametrize::WeightStandardization;
using testing::ErrorOf;
using Values = std::vector<float>;

const Values kWeight = {0.5, -1.25, 2, 1.5, 0.25, -0.75};

Tensor X() { return FromVector<float>({1, 2, -1, 0.5, -1.5, 0.25}, {2, 3}); }

void Set(const Tensor& t, const Values& values) {
  const NoGradScope no_grad;
  Tensor(t).CopyFrom(FromVector<float>(values, t.shape()));
}

struct Net : Module {
  Linear& fc = Add<Linear>("fc", {.in = 3, .out = 2});
  Net() {
    Set(fc.weight(), kWeight);
    Set(fc.bias(), {0.1f, -0.2f});
  }
  Tensor Forward(const Tensor& x) { return fc(x); }
};

void ExpectNear(const Tensor& got, const Values& want) {
  ASSERT_TRUE(got.defined());
  const Values values = got.ToVector<float>();
  ASSERT_EQ(values.size(), want.size());
  // A few roundings of sums of a few terms.
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(values[i], want[i], 2e-6 * (1 + std::abs(want[i]))) << i;
  }
}

Tensor Parameter(const Module& m, const std::string& name) {
  for (const NamedTensor& p : m.named_parameters()) {
    if (p.name == name) return p.tensor;
  }
  return {};
}
const char* const kOriginal = "fc.parametrizations.weight.original";
Tensor Original(const Module& m, const std::string& i = "") { return Parameter(m, kOriginal + i); }
Tensor Buffer(const Module& m, const std::string& name) {
  for (const NamedTensor& b : m.named_buffers()) {
    if (b.name == "fc.parametrizations.weight.0." + name) return b.tensor;
  }
  return {};
}

std::vector<std::string> Names(const Module& m) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : m.state_dict()) names.push_back(name);
  return names;
}
using List = std::vector<std::string>;

// A step of descent by 0.1, and the loss before it.
Tensor Step(Net& net, const Tensor& x) {
  net.SetTrainable();
  for (Tensor& p : net.parameters()) p.ZeroGrad();
  const Tensor loss = Sum(Square(net.Forward(x)));
  loss.Backward();
  const NoGradScope no_grad;
  for (Tensor& p : net.parameters()) p -= 0.1 * p.grad();
  return loss.Detach();
}

// --- Values -------------------------------------------------------------------------------------

// m = weight_norm(linear, dim=dim); m.parametrizations.weight.original0.mul_(1.5)
// (m(x) ** 2).sum().backward(); p -= 0.1 * p.grad; m(x)
struct WeightNormCase {
  std::optional<int64_t> dim;
  Shape length_shape;
  Values length, y, length_grad, direction_grad, next;
};
const WeightNormCase kWeightNorms[] = {
    {0,
     {2, 1},
     {3.6163692f, 2.5433738f},
     {-5.9f, 3.925f, 4.0375f, 0.08125f},
     {28.369703f, 12.749582f},
     {-20.469154f, -31.505245f, -14.573486f, -5.0215349f, 20.364641f, -3.2548566f},
     {0.95226204f, -1.5364406f, 0.35416317f, 0.66775584f}},
    {1,
     {1, 3},
     {2.3717084f, 1.9121323f, 3.2040014f},
     {-5.9f, 3.925f, 4.0375f, 0.08125f},
     {5.0695262f, 38.050209f, 15.680953f},
     {-14.048439f, 2.3981972f, -1.2956753f, 4.6828136f, 11.990984f, -3.4551361f},
     {3.6979315f, 2.2261815f, -0.70054632f, -2.1590619f}},
    {std::nullopt,
     {},
     {4.421185f},
     {-5.9f, 3.925f, 4.0375f, 0.08125f},
     {30.539835f},
     {-19.414816f, -34.14109f, -10.356134f, -11.416319f, 19.298843f, -0.0574646f},
     {1.4012907f, -0.9947539f, 0.15747485f, -0.092235327f}}};

TEST(ParametrizeTest, WeightNormComputesAndTrainsAsInPyTorch) {
  for (const WeightNormCase& c : kWeightNorms) {
    SCOPED_TRACE(c.length_shape.ToString());
    Net net;
    const Tensor before = net.fc(X());
    Register(net.fc, "weight", WeightNorm{.dim = c.dim});
    ExpectNear(net.fc(X()), before.ToVector<float>());
    const Tensor length = Original(net, "0");
    EXPECT_EQ(length.shape(), c.length_shape);
    {
      const NoGradScope no_grad;
      Tensor(length) *= 1.5;
    }
    ExpectNear(length, c.length);
    ExpectNear(net.fc(X()), c.y);
    Step(net, X());
    ExpectNear(length.grad(), c.length_grad);
    ExpectNear(Original(net, "1").grad(), c.direction_grad);
    ExpectNear(net.fc(X()), c.next);
  }
}

TEST(ParametrizeTest, WeightNormStartsAtTheWeightWithEpsToo) {
  Net net;
  const Tensor before = net.fc(X());
  Register(net.fc, "weight", WeightNorm{.eps = 0.5});
  ExpectNear(Original(net, "0"), {std::sqrt(5.8125f + 0.5f), std::sqrt(2.875f + 0.5f)});
  ExpectNear(net.fc(X()), before.ToVector<float>());
  Register(net.fc, "bias", WeightNorm());  // each element is a row
  ExpectNear(Value(net.fc, "bias"), {0.1f, -0.2f});
}

// m = spectral_norm(linear); _u and _v from the state dict; (m(x) ** 2).sum().backward()
TEST(ParametrizeTest, SpectralNormComputesAndMovesItsVectorsAsInPyTorch) {
  Net net;
  Register(net.fc, "weight", SpectralNorm());
  Set(Buffer(net, "_u"), {0.6f, 0.8f});
  Set(Buffer(net, "_v"), {0, 0.6f, -0.8f});
  const Tensor y = net.fc(X());
  const Values want = {-1.5121096f, 0.90832549f, 1.1579471f, -0.12443236f};
  const Values u = {-0.95265919f, 0.30404019f}, v = {-0.0081690867f, 0.51056892f, -0.85979801f};
  ExpectNear(y, want);
  Sum(Square(y)).Backward();
  ExpectNear(Original(net).grad(),
             {-0.78139138f, -2.010704f, -1.6245431f, 0.69134009f, 1.0316725f, 0.2246998f});
  ExpectNear(Buffer(net, "_u"), u);
  ExpectNear(Buffer(net, "_v"), v);
  net.Eval();
  ExpectNear(net.fc(X()), want);
  ExpectNear(Buffer(net, "_u"), u);
}

TEST(ParametrizeTest, SpectralNormStartsFromWhatFifteenIterationsFound) {
  Net net;
  Register(net.fc, "weight", SpectralNorm());
  const Tensor u = Buffer(net, "_u"), before = u.Clone();
  net.Eval();
  // The largest singular value of the weight, by numpy.linalg.svd.
  ExpectNear(Value(net.fc, "weight"), [] {
    Values w = kWeight;
    for (float& x : w) x /= 2.4812334f;
    return w;
  }());
  EXPECT_TRUE(u.Equals(before));
  Conv2d conv({.in = 2, .out = 3, .kernel = 2});
  Register(conv, "weight", SpectralNorm{.dim = 1});
  EXPECT_EQ(conv.named_buffers()[0].tensor.shape(), (Shape{2}));
  EXPECT_EQ(conv.named_buffers()[1].tensor.shape(), (Shape{12}));
  Register(net.fc, "bias", SpectralNorm());
  ExpectNear(Value(net.fc, "bias"), {0.44721360f, -0.89442719f});
}

// (w - w.mean(1)) / torch.sqrt(w.var(1, unbiased=False) + 1e-5)
TEST(ParametrizeTest, WeightStandardizationComputesAsInPyTorch) {
  Net net;
  Register(net.fc, "weight", WeightStandardization());
  const Tensor y = net.fc(X());
  ExpectNear(y, {-3.5392332f, 2.0633805f, 2.3117752f, 0.2753098f});
  Sum(Square(y)).Backward();
  ExpectNear(Original(net).grad(),
             {0.26768112f, -0.12360907f, -0.14407396f, -2.4643669f, 5.544939f, -3.0805712f});
}

// --- What a module's state is -------------------------------------------------------------------

TEST(ParametrizeTest, NamesAreThoseOfPyTorch) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  EXPECT_EQ(Names(net), (List{"fc.bias", "fc.parametrizations.weight.original0",
                              "fc.parametrizations.weight.original1"}));
  RemoveParametrizations(net.fc, "weight");
  Register(net.fc, "weight", SpectralNorm());
  EXPECT_EQ(Names(net), (List{"fc.bias", kOriginal, "fc.parametrizations.weight.0._u",
                              "fc.parametrizations.weight.0._v"}));
  EXPECT_EQ(net.ToString(),
            "Net(\n  (fc): Linear(3 -> 2\n    (parametrizations): Parametrizations(\n"
            "      (weight): ParametrizationList(\n"
            "        (0): SpectralNorm(dim=0, iterations=1)\n      )\n    )\n  )\n)");
}

TEST(ParametrizeTest, AStateDictIsLoadedAndRefused) {
  Net from, to;
  Register(from.fc, "weight", SpectralNorm());
  Set(Original(from), {1, 2, 3, 4, 5, 6});
  EXPECT_NE(ErrorOf([&] { (void)to.LoadStateDict(from.state_dict()); }), "");
  Register(to.fc, "weight", SpectralNorm());
  from.Eval(), to.Eval();
  EXPECT_FALSE(to.fc(X()).Equals(from.fc(X())));
  EXPECT_TRUE(to.LoadStateDict(from.state_dict()).ok());
  EXPECT_TRUE(to.fc(X()).Equals(from.fc(X())));
}

TEST(ParametrizeTest, OneOriginalIsTheParameterItself) {
  Net net;
  Tensor weight = Parameter(net, "fc.weight");
  Register(net.fc, "weight", SpectralNorm());
  EXPECT_TRUE(Original(net).Is(weight));
  EXPECT_EQ(weight.ToVector<float>(), kWeight);
  EXPECT_EQ(net.parameters().size(), 2u);
  RemoveParametrizations(net.fc, "weight", false);
  EXPECT_TRUE(Parameter(net, "fc.weight").Is(weight));
  EXPECT_EQ(weight.ToVector<float>(), kWeight);
}

TEST(ParametrizeTest, BetweenCallsTheWeightHasAShapeAndRefusesItsElements) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  net.fc(X());
  EXPECT_EQ(net.fc.weight().shape(), (Shape{2, 3}));
  EXPECT_EQ(net.fc.weight().ToString(),
            "parameter net.fc.weight f32 [2, 3], computed by each call of its module");
  const std::string refused =
      "parameter net.fc.weight is parametrized: it has elements while its module is called, or a"
      " parametrize::Held lives; parametrize::Value computes it";
  EXPECT_EQ(ErrorOf([&] { Neg(net.fc.weight()); }), "neg: " + refused);
  EXPECT_EQ(ErrorOf([&] { (void)net.fc.weight().ToVector<float>(); }), "to_vector: " + refused);
  ExpectNear(Value(net.fc, "weight"), kWeight);
  EXPECT_TRUE(Value(net.fc, "bias").Is(net.fc.bias()));
}

TEST(ParametrizeTest, RemovalLeavesTheValueOrTheOriginal) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  EXPECT_EQ(ErrorOf([&] { RemoveParametrizations(net.fc, "weight", false); }),
            "parametrize::RemoveParametrizations: weight of net.fc has 2 originals, so it can only"
            " stay parametrized");
  EXPECT_TRUE(IsParametrized(net.fc, "weight"));
  {
    const NoGradScope no_grad;
    Original(net, "0") *= 2;
  }
  RemoveParametrizations(net.fc, "weight");
  EXPECT_FALSE(IsParametrized(net.fc));
  EXPECT_EQ(Names(net), (List{"fc.weight", "fc.bias"}));
  Values twice = kWeight;
  for (float& w : twice) w *= 2;
  ExpectNear(net.fc.weight(), twice);
  EXPECT_TRUE(net.fc.weight().requires_grad());
  Step(net, X());
  EXPECT_TRUE(net.fc.weight().grad().defined());

  // Of two parametrized tensors the other one stays so, and vectors do not move.
  Register(net.fc, "weight", SpectralNorm());
  Register(net.fc, "bias", WeightNorm());
  const Tensor weight = Original(net), u = Buffer(net, "_u").Clone();
  net.Eval();
  const Tensor y = net.fc(X());
  net.Train();
  RemoveParametrizations(net.fc, "weight");
  EXPECT_TRUE(IsParametrized(net.fc, "bias"));
  EXPECT_TRUE(net.fc.weight().Is(weight));
  ExpectNear(net.fc(X()), y.ToVector<float>());
}

TEST(ParametrizeTest, SetValueStoresWhatMakesIt) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  const Tensor length = Original(net, "0");
  SetValue(net.fc, "weight", FromVector<float>({3, 4, 0, 0, 6, 8}, {2, 3}));
  ExpectNear(length, {5, 10});
  ExpectNear(Value(net.fc, "weight"), {3, 4, 0, 0, 6, 8});
  EXPECT_EQ(ErrorOf([&] {
              SetValue(net.fc, "weight", Ones({3, 2}));
            }),
            "parametrize::SetValue: value must be f32 [2, 3] on cpu, got f32 [3, 2] on cpu");
  Register(net.fc, "bias", SpectralNorm());
  EXPECT_EQ(ErrorOf([&] { SetValue(net.fc, "bias", Ones({2})); }),
            "parametrize::SetValue: SpectralNorm has no RightInverse");
}

// --- One's own ----------------------------------------------------------------------------------

struct Scaled {
  double by = 1;
  Tensor Forward(const Tensor& x) const { return x * by; }
  Tensor RightInverse(const Tensor& w) const { return w / by; }
};
struct Turned {  // of another shape
  Tensor Forward(const Tensor& x) const { return x.T(); }
  Tensor RightInverse(const Tensor& w) const { return w.T(); }
};
struct Wrong {
  Tensor Forward(const Tensor& x) const { return x.T(); }
};
struct Fails {
  std::shared_ptr<bool> on;
  Tensor Forward(const Tensor& x) const { return *on ? Reshape(x, {7}) : x; }
};

TEST(ParametrizeTest, ParametrizationsFollowEachOther) {
  Net net;
  const Tensor weight = Parameter(net, "fc.weight"), before = net.fc(X());
  Register(net.fc, "weight", Scaled{4});
  EXPECT_TRUE(Original(net).Is(weight));
  EXPECT_EQ(weight.ToVector<float>()[0], 0.125f);
  EXPECT_TRUE(net.fc(X()).Equals(before));
  Register(net.fc, "weight", Scaled{2});
  EXPECT_EQ(Value(net.fc, "weight").ToVector<float>()[0], 1.f);
  SetValue(net.fc, "weight", Full({2, 3}, 16));
  EXPECT_EQ(weight.ToVector<float>(), Values(6, 2.f));
  EXPECT_EQ(ErrorOf([&] { Register(net.fc, "weight", WeightNorm()); }),
            "parametrize::Register: WeightNorm computes from 2 tensors, and what is parametrized"
            " already is one");
  EXPECT_EQ(net.fc.num_children(), 1u);
}

TEST(ParametrizeTest, AnOriginalMayHaveAnotherShape) {
  Net net;
  const Tensor before = net.fc(X());
  Register(net.fc, "weight", Turned());
  EXPECT_EQ(Original(net).shape(), (Shape{3, 2}));
  EXPECT_TRUE(net.fc(X()).Equals(before));
  RemoveParametrizations(net.fc, "weight");
  EXPECT_EQ(net.fc.weight().ToVector<float>(), kWeight);
}

TEST(ParametrizeTest, WhatCannotBeChangesNothing) {
  Net net;
  const Tensor weight = net.fc.weight();
  EXPECT_EQ(ErrorOf([&] { Register(net.fc, "wieght", WeightNorm()); }),
            "parametrize::Register: net.fc itself has no parameter wieght; there are weight, bias");
  EXPECT_EQ(ErrorOf([&] { Register(net.fc, "weight", Wrong()); }),
            "parametrize::Register: what Wrong computes must be f32 [2, 3] on cpu, got f32 [3, 2]"
            " on cpu");
  EXPECT_NE(ErrorOf([&] { Register(net.fc, "weight", WeightNorm{.dim = 2}); }), "");
  Linear open({.out = 2});
  EXPECT_NE(ErrorOf([&] { Register(open, "weight", WeightNorm()); }).find("no size yet"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([&] { RemoveParametrizations(net.fc, "weight"); }),
            "parametrize::RemoveParametrizations: weight of net.fc is not parametrized");
  EXPECT_EQ(net.fc.num_children(), 0u);
  EXPECT_TRUE(net.fc.weight().Is(weight));
  EXPECT_EQ(weight.ToVector<float>(), kWeight);
}

TEST(ParametrizeTest, ACallThatFailsLeavesNoValue) {
  Net net;
  const auto on = std::make_shared<bool>(false);
  Register(net.fc, "weight", Fails{on});
  *on = true;
  EXPECT_NE(ErrorOf([&] { net.fc(X()); }).find("net.fc.parametrizations.weight.0"),
            std::string::npos);
  *on = false;
  EXPECT_THROW(net.fc(Ones({2, 4})), Error);  // in the layer itself
  EXPECT_TRUE(IsPending(net.fc.weight()));
  net.fc(X());
}

// --- Everything else a module does ---------------------------------------------------------------

TEST(ParametrizeTest, ACopyComputesItsOwn) {
  Net net;
  Register(net.fc, "weight", SpectralNorm{.iterations = 2});
  Register(net.fc, "bias", WeightNorm());
  const std::unique_ptr<Net> copy = Clone(net);
  EXPECT_EQ(Names(*copy), Names(net));
  EXPECT_EQ(copy->ToString(), net.ToString());
  EXPECT_FALSE(Original(*copy).Is(Original(net)));
  EXPECT_TRUE(copy->fc(X()).Equals(net.fc(X())));
  net.Eval();
  const Tensor before = net.fc(X());
  Set(Original(*copy), {1, 2, 3, 4, 5, 6});
  Step(*copy, X());
  EXPECT_TRUE(net.fc(X()).Equals(before));
  EXPECT_FALSE(copy->fc(X()).Equals(before));
  RemoveParametrizations(copy->fc, "weight");
  EXPECT_EQ(Names(*copy).front(), "fc.weight");
}

TEST(ParametrizeTest, ConversionsReachOriginalsAndBuffers) {
  Net net;
  Register(net.fc, "weight", SpectralNorm());
  net.Eval();
  const Values before = net.fc(X()).ToVector<float>();
  net.To(DType::kF64);
  EXPECT_EQ(net.fc.weight().dtype(), DType::kF64);
  EXPECT_EQ(Buffer(net, "_u").dtype(), DType::kF64);
  const Tensor y = net.fc(X().To(DType::kF64));
  EXPECT_EQ(y.dtype(), DType::kF64);
  ExpectNear(y, before);
}

TEST(ParametrizeTest, AFrozenTrainingStepDoesWhatTheStepDoes) {
  Net net, same;
  const auto prepare = [](Net& n) {
    Register(n.fc, "weight", SpectralNorm());
    Set(Buffer(n, "_u"), {0.6f, 0.8f});
    Set(Buffer(n, "_v"), {0, 0.6f, -0.8f});
    Register(n.fc, "bias", WeightNorm());
  };
  prepare(net), prepare(same);
  StaticGraph step = Freeze([&](const Tensor& x) { return Step(net, x); }, X());
  ExpectNear(step.TakeFirst(), Step(same, X()).ToVector<float>());
  for (int i = 0; i < 3; ++i) {
    const Tensor x = X() * (0.5 + i);
    ExpectNear(step(x), Step(same, x).ToVector<float>());
  }
  ExpectNear(Original(net), Original(same).ToVector<float>());
  ExpectNear(Buffer(net, "_u"), Buffer(same, "_u").ToVector<float>());
  EXPECT_TRUE(IsPending(net.fc.weight()));
}

TEST(ParametrizeTest, AStaticModuleSeesOriginalsAsTheyAre) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  net.Eval();
  StaticModule fast(net.fc);
  const NoGradScope no_grad;
  fast(X());
  EXPECT_TRUE(fast(X()).Equals(net.fc(X())));
  Original(net, "0") *= 3;
  EXPECT_TRUE(fast(X()).Equals(net.fc(X())));
  EXPECT_EQ(fast.misses(), 1);
  // A value that is held is what that graph would not see change.
  {
    const Held held(net);
    fast(X());
    EXPECT_EQ(fast.misses(), 2);
  }
  Original(net, "0") *= 3;
  EXPECT_TRUE(fast(X()).Equals(net.fc(X())));
}

// Neither a Layer nor called by one.
struct Plain : Module {
  Tensor& scale = AddParameter("scale", FromVector<float>({2, 3}));
  Tensor Forward(const Tensor& x) { return x * scale; }
};

struct Counting {
  std::shared_ptr<int> calls;
  Tensor Forward(const Tensor& x) const { return ++*calls, x * 2; }
};

TEST(ParametrizeTest, WhatIsHeldIsComputedOnce) {
  Net net;
  const auto calls = std::make_shared<int>(0);
  Register(net.fc, "weight", Counting{calls});
  *calls = 0;
  {
    const Held held(net);
    net.fc(X());
    const Tensor y = net.fc(X());
    EXPECT_EQ(*calls, 1);
    Sum(y).Backward();
    EXPECT_TRUE(Original(net).grad().defined());
    EXPECT_EQ(ErrorOf([&] { RemoveParametrizations(net.fc, "weight"); }),
              "parametrize::RemoveParametrizations at net.fc: a call of the module is running, or a"
              " Held lives; do it before");
    EXPECT_TRUE(Value(net.fc, "weight").Is(net.fc.weight()));
  }
  net.fc(X());
  EXPECT_EQ(*calls, 2);

  Plain plain;
  Register(plain, "scale", Scaled{2});
  EXPECT_NE(ErrorOf([&] { plain.Forward(Ones({2})); }).find("parametrize::Held"),
            std::string::npos);
  const Held held(plain);
  EXPECT_EQ(plain.Forward(Ones({2})).ToVector<float>(), (Values{2, 3}));
}

TEST(ParametrizeTest, SeveralThreadsMayCallWhatIsHeld) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  net.Eval();
  const NoGradScope no_grad;
  const Values want = net.fc(X()).ToVector<float>();
  const Held held(net);
  std::vector<Values> got(4);
  std::vector<std::thread> threads;
  for (Values& g : got) {
    threads.emplace_back([&] {
      const NoGradScope here;
      for (int i = 0; i < 50; ++i) g = net.fc(X()).ToVector<float>();
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Values& g : got) EXPECT_EQ(g, want);
}

TEST(ParametrizeTest, HooksAndSummariesSeeTheValue) {
  Net net;
  Register(net.fc, "weight", WeightNorm());
  Tensor before, after;
  const HookHandle pre = net.fc.RegisterForwardPreHook(
      [&](Module&, absl::Span<Tensor>) { before = Neg(net.fc.weight()); });
  const HookHandle post = net.fc.RegisterForwardHook(
      [&](Module&, absl::Span<const Tensor>, Tensor&) { after = Neg(net.fc.weight()); });
  net.fc(X());
  EXPECT_TRUE(before.defined() && after.Equals(before));
  EXPECT_NE(Summary(net.fc, {1, 3}).ToString().find("Linear"), std::string::npos);
}

TEST(ParametrizeTest, FrozenParametersStayFrozen) {
  Net net;
  net.SetTrainable(false);
  Register(net.fc, "weight", WeightNorm());
  EXPECT_FALSE(Original(net, "0").requires_grad());
  EXPECT_FALSE(net.fc(X()).requires_grad());
  net.SetTrainable();
  EXPECT_TRUE(net.fc(X()).requires_grad());
}

}  // namespace
}  // namespace firn::nn

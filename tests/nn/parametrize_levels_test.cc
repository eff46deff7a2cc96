// Pruned weights and weights of few levels. Numbers are those of torch 2.15, of the code above.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "firn/nn/clone.h"
#include "firn/nn/parametrizations.h"
#include "firn/tensor/ops/quantize/binary.h"
#include "tests/nn/parametrize_net.h"

namespace firn::nn::parametrize {
namespace {

// prune.l1_unstructured(linear, "weight", amount=0.4); (m(x) ** 2).sum().backward()
TEST(ParametrizeLevelsTest, AFixedPruningIsThatOfPyTorch) {
  Net net;
  Register(net.fc, "weight", MagnitudePrune{.rate = 0.4, .fixed = true});
  EXPECT_EQ(Buffer(net, "mask").ToVector<float>(), (Values{0, 1, 1, 1, 0, 1}));
  const Tensor y = net.fc(X());
  ExpectNear(y, {-4.4f, 2.05f, 2.475f, 0.3625f});
  Sum(Square(y)).Backward();
  ExpectNear(Original(net).grad(), {0, -25.025f, 10.0375f, 4.4625f, 0, -3.91875f});
  Set(Original(net), {9, 1, 1, 1, 1, 1});  // pruned elements stay pruned
  ExpectNear(Value(net.fc, "weight"), {0, 1, 1, 1, 0, 1});
}

// Each is the function of its name, with a gradient to the learnt tensor.
template <class P>
void ExpectComputes(const P& p, const Values& want) {
  Net net;
  Register(net.fc, "weight", p);
  const Tensor value = Value(net.fc, "weight");
  EXPECT_EQ(value.ToVector<float>(), want);
  Sum(value * 3).Backward();
  EXPECT_EQ(Original(net).grad().ToVector<float>(), Values(6, 3.f));
  EXPECT_EQ(Original(net).ToVector<float>(), kWeight);
}

TEST(ParametrizeLevelsTest, WeightsOfFewLevelsLearnStraightThrough) {
  // Rank floor(5 * 0.5) of the sizes is 0.75.
  ExpectComputes(MagnitudePrune{.rate = 0.5}, {0, -1.25f, 2, 1.5f, 0, -0.75f});
  ExpectComputes(Binarize(), {1, -1, 1, 1, 1, -1});
  ExpectComputes(Binarize{.scale_dim = 1}, {1, -0.75f, 1.375f, 1, 0.75f, -1.375f});
  ExpectComputes(FixedPoint{{.n = 4, .delta = 0.5}}, {0.5f, -1.5f, 2, 1.5f, 0.5f, -1});
  ExpectComputes(Pow2{{.n = 8, .m = 2}}, {0.5f, -1, 2, 2, 0.25f, -1});
}

TEST(ParametrizeLevelsTest, InqFixesWeightsAtItsSteps) {
  Net net;
  Register(net.fc, "weight", Inq{.num_bits = 5, .iterations = {1, 3}});
  EXPECT_EQ(net.fc.FindChild("parametrizations")->child(0).child(0).Describe(),
            "num_bits=5, iterations=[1, 3]");
  const Tensor fixed = Buffer(net, "fixed"), step = Buffer(net, "step");
  EXPECT_EQ(step.Item<int64_t>(), 0);
  net.fc(X());
  EXPECT_EQ(fixed.ToVector<int>(), std::vector<int>(6, 0));
  net.Eval();
  net.fc(X());
  EXPECT_EQ(step.Item<int64_t>(), 1);
  net.Train();
  Sum(net.fc(X())).Backward();
  EXPECT_EQ(fixed.ToVector<int>(), (std::vector<int>{0, 1, 1, 1, 0, 0}));
  const Values grad = Original(net).grad().ToVector<float>();
  EXPECT_TRUE(grad[0] != 0 && grad[1] == 0 && grad[2] == 0 && grad[3] == 0 && grad[4] != 0);
  const std::unique_ptr<Net> copy = Clone(net);
  copy->fc(X()), copy->fc(X());
  EXPECT_EQ(Buffer(*copy, "fixed").ToVector<int>(), std::vector<int>(6, 1));
  EXPECT_EQ(fixed.ToVector<int>(), (std::vector<int>{0, 1, 1, 1, 0, 0}));
  copy->Eval();
  EXPECT_EQ(Value(copy->fc, "weight").ToVector<float>(), (Values{0.5f, -1, 2, 2, 0.25f, -1}));
}

struct Keeps : Module {
  explicit Keeps(const std::vector<NamedTensor>& buffers) {
    for (const NamedTensor& b : buffers) AddBuffer(b.name, b.tensor);
  }
};

TEST(ParametrizeLevelsTest, EachIsTheFunctionOfItsName) {
  const Tensor w = FromVector<float>(kWeight, {2, 3});
  EXPECT_TRUE(Binarize{.zero_to = 0}.Forward(w).Equals(firn::Binarize(w, {.zero_to = 0})));
  EXPECT_TRUE(FixedPoint().Forward(w).Equals(FixedPointQuantize(w)));
  EXPECT_TRUE(Pow2().Forward(w).Equals(Pow2Quantize(w)));
  const Keeps none({});
  EXPECT_TRUE(MagnitudePrune().Forward(w, State(none)).Equals(firn::MagnitudePrune(w)));
  const Inq inq{.iterations = {0}};
  const Keeps keeps(inq.Buffers(w));
  const Tensor fixed = Zeros(w.shape(), DType::kBool), step = Zeros({}, DType::kI64);
  const Tensor want = InqQuantize(w, fixed, step, {.iterations = {0}});
  EXPECT_TRUE(inq.Forward(w, State(keeps)).Equals(want));
}

}  // namespace
}  // namespace firn::nn::parametrize

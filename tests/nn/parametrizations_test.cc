// Numbers are those of torch 2.15, of the code above each test's values.

#include "firn/nn/parametrizations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "firn/nn/conv.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"
#include "tests/nn/parametrize_net.h"

namespace firn::nn::parametrize {
namespace {

using testing::ErrorOf;

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

TEST(ParametrizationsTest, WeightNormComputesAndTrainsAsInPyTorch) {
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

TEST(ParametrizationsTest, WeightNormStartsAtTheWeightWithEpsToo) {
  Net net;
  const Tensor before = net.fc(X());
  Register(net.fc, "weight", WeightNorm{.eps = 0.5});
  ExpectNear(Original(net, "0"), {std::sqrt(5.8125f + 0.5f), std::sqrt(2.875f + 0.5f)});
  ExpectNear(net.fc(X()), before.ToVector<float>());
  Register(net.fc, "bias", WeightNorm());  // each element is a row
  ExpectNear(Value(net.fc, "bias"), {0.1f, -0.2f});
}

// m = spectral_norm(linear); _u and _v from the state dict; (m(x) ** 2).sum().backward()
TEST(ParametrizationsTest, SpectralNormComputesAndMovesItsVectorsAsInPyTorch) {
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

TEST(ParametrizationsTest, SpectralNormStartsFromWhatFifteenIterationsFound) {
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
TEST(ParametrizationsTest, WeightStandardizationComputesAsInPyTorch) {
  Net net;
  Register(net.fc, "weight", WeightStandardization());
  const Tensor y = net.fc(X());
  ExpectNear(y, {-3.5392332f, 2.0633805f, 2.3117752f, 0.2753098f});
  Sum(Square(y)).Backward();
  ExpectNear(Original(net).grad(),
             {0.26768112f, -0.12360907f, -0.14407396f, -2.4643669f, 5.544939f, -3.0805712f});
}

TEST(ParametrizationsTest, WhatIsKeptHasThePlaceAndKindOfTheWeight) {
  const Tensor w = Reshape(Arange(0, 24), {2, 3, 4}).To(DType::kF64);
  const auto [length, direction] = WeightNorm{.dim = 1}.RightInverse(w);
  EXPECT_EQ(length.shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(length.dtype(), DType::kF64);
  EXPECT_TRUE(direction.Equals(w));
  const std::vector<NamedTensor> vectors = SpectralNorm{.dim = -1}.Buffers(w);
  ASSERT_EQ(vectors.size(), 2u);
  EXPECT_EQ(vectors[0].tensor.shape(), (Shape{4}));
  EXPECT_EQ(vectors[1].tensor.dtype(), DType::kF64);
  EXPECT_TRUE(MagnitudePrune().Buffers(w).empty());
  EXPECT_EQ(Inq().Buffers(w)[0].tensor.shape(), w.shape());
  EXPECT_NE(ErrorOf([&] { SpectralNorm{.iterations = 0}.Buffers(w); }), "");
  EXPECT_EQ(ErrorOf([&] { MagnitudePrune{.rate = 2, .fixed = true}.Buffers(w); }),
            "parametrize::MagnitudePrune: rate must lie in [0, 1], got 2");
  EXPECT_NE(ErrorOf([&] { WeightStandardization().Forward(Ones({3})); }), "");
}

}  // namespace
}  // namespace firn::nn::parametrize

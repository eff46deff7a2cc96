// Numbers are those of torch 2.15: orthogonal(linear, orthogonal_map=map), base and original set,
// (y ** 2 * [1, 2, ...]).sum().backward(), original -= 0.1 * grad. Those of the exponential are of
// f64: torch's gradient in f32 is 3e-5 off.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/clone.h"
#include "firn/nn/parametrizations.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"
#include "tests/nn/parametrize_net.h"

namespace firn::nn::parametrize {
namespace {

using testing::ErrorOf;

// The largest element of W^T W - I, or of W W^T - I where W is wide.
double FromOrthogonal(const Tensor& w) {
  const Tensor tall = w.size(-2) < w.size(-1) ? Transpose(w, -2, -1) : w;
  const Tensor product = Matmul(tall, tall, true);
  return Max(Abs(product - Eye(tall.size(-1), tall.size(-1), 0, w.dtype()))).Item();
}

struct Case {
  OrthogonalMap map;
  Shape shape;
  Values weight, base, start, original, y, grad, next;
};
const Values kTall = {2, 1, 0, 3, 2, -1}, kSquare = {2, 1, 0.5, 0, 3, 1, 2, -1, 1};
const Values kThirds = {2 / 3.f, 1 / 3.f, 2 / 3.f, -2 / 3.f, 2 / 3.f,
                        1 / 3.f, 1 / 3.f, 2 / 3.f, -2 / 3.f};
const Values kStart = {0.70710683f, 0.30151138f, 0, 0.9045341f, 0.70710677f, -0.30151141f};
const Values kFactor = {0.70710683f, 0.30151138f, -0.63960207f, 0,          0.9045341f,
                        0.4264015f,  0.70710677f, -0.30151141f, 0.63960212f};
const Values kTallOriginal = {1, 0.5, -0.5, -1, 0.25, -0.75};
const Values kSquareOriginal = {1, 0.5, -0.5, 1.25, -1, -0.75, 1, 0, 1};

const Case kCases[] = {
    {OrthogonalMap::kHouseholder,
     {3, 2},
     kTall,
     kThirds,
     kStart,
     kTallOriginal,
     {-0.6704762f, -0.59809518f, 2.0476189f, -0.066349164f, -1.36127f, 0.80158716f},
     {0, 0, 0.3058424f, 0, -0.55999947f, 8.1402168f},
     {-1.7212151f, -0.64281219f, 1.2744458f, -0.86292332f, -1.318386f, 0.13123292f}},
    {OrthogonalMap::kCayley,
     {3, 2},
     kTall,
     kThirds,
     kStart,
     kTallOriginal,
     {1.051282f, -0.82051289f, 1.7948718f, -0.098290592f, 0.2393162f, 1.5598291f},
     {0, 0, 4.4046626f, 0, -4.0388412f, -3.1804323f},
     {1.9057214f, -0.82395625f, 0.8302539f, 0.71637374f, 0.042425156f, 1.4089035f}},
    {OrthogonalMap::kByShape,
     {2, 3},
     {2, 0, 2, 1, 3, -1},
     kThirds,
     {0.70710683f, 0, 0.70710677f, 0.30151138f, 0.9045341f, -0.30151141f},
     {1, 0.5f, -0.5f, 1.25f, -1, -0.75f},
     {1, -0.39999992f, -0.25000003f, -0.9000001f},
     {0, -12.152004f, -5.8160019f, 0, 0, 7.4752021f},
     {-1.4449209f, -1.904563f, 1.2920649f, 0.65464646f}},
    {OrthogonalMap::kByShape,
     {3, 3},
     kSquare,
     kFactor,
     kFactor,
     kSquareOriginal,
     {0.55348599f, 1.4161419f, -1.9204673f, -0.15889846f, 0.25293973f, 1.5726645f},
     {0, 0, 0, 5.6231607f, 0, 0, -2.2297221f, 2.5403339f, 0},
     {1.3890198f, 1.842455f, -0.82218264f, -0.81807704f, -0.27412762f, 1.3483708f}},
    {OrthogonalMap::kCayley,
     {3, 3},
     kSquare,
     kFactor,
     kFactor,
     kSquareOriginal,
     {0.71098483f, 1.6199346f, -1.6942f, -0.044520348f, -0.0045455098f, 1.6001554f},
     {0, 0, 0, 5.0595846f, 0, 0, -2.2406096f, 1.6677017f, 0},
     {1.29671f, 1.9029369f, -0.8350898f, -0.59966922f, -0.41058585f, 1.4262944f}},
    {OrthogonalMap::kHouseholder,
     {3, 3},
     kSquare,
     kFactor,
     kFactor,
     kSquareOriginal,
     {-0.45215204f, -1.6981786f, -1.7063847f, 0.4665989f, -0.042917401f, 1.5306677f},
     {0, 0, 0, -5.7616692f, 0, 0, 5.865078f, -16.060646f, 0},
     {0.050122619f, 0.33909702f, 2.4253869f, 0.7024942f, -1.0296514f, -1.0044003f}}};

// The numbers are sums of some ten terms up to 16.
void ExpectClose(const Tensor& got, const Values& want) {
  const Values values = got.ToVector<float>();
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], 2e-5) << i;
}

TEST(OrthogonalTest, ComputesAndTrainsAsInPyTorch) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::to_string(static_cast<int>(c.map)) + c.shape.ToString());
    Linear fc({.in = c.shape[1], .out = c.shape[0], .bias = false});
    Set(fc.weight(), c.weight);
    const Tensor original = fc.weight();
    Register(fc, "weight", Orthogonal{.map = c.map});
    ExpectNear(Value(fc, "weight"), c.start);
    const Tensor base = fc.named_buffers()[0].tensor;
    EXPECT_EQ(fc.named_buffers()[0].name, "parametrizations.weight.0.base");
    EXPECT_LE(FromOrthogonal(base), 1e-6);
    Set(base, c.base);
    Set(original, c.original);
    const Tensor x = c.shape[1] == 2 ? FromVector<float>({1, 2, -0.5, 1.5}, {2, 2}) : X();
    const Tensor y = fc(x);
    ExpectClose(y, c.y);
    Sum(Square(y) * Reshape(Arange(1, y.num_elements() + 1), y.shape())).Backward();
    ExpectClose(original.grad(), c.grad);
    {
      const NoGradScope no_grad;
      Tensor(original) -= 0.1 * original.grad();
    }
    ExpectClose(fc(x), c.next);
  }
}

TEST(OrthogonalTest, StaysOrthogonalWhileItLearns) {
  ManualSeed(5);
  for (const OrthogonalMap map :
       {OrthogonalMap::kMatrixExp, OrthogonalMap::kCayley, OrthogonalMap::kHouseholder}) {
    for (const Shape& shape : {Shape{6, 6}, Shape{9, 4}, Shape{4, 9}, Shape{2, 5, 3}}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(map)) + shape.ToString());
      struct Holder : Module {
        Tensor& w;
        explicit Holder(const Shape& s) : w(AddParameter("w", Randn(s))) {}
      } holder(shape);
      const Tensor original = holder.w, target = Randn(shape);
      Register(holder, "w", Orthogonal{.map = map});
      const Tensor before = Value(holder, "w").Detach();
      for (int i = 0; i < 20; ++i) {
        Tensor(original).ZeroGrad();
        Sum(Square(Value(holder, "w") - target)).Backward();
        const NoGradScope no_grad;
        Tensor(original) -= 0.01 * original.grad();
      }
      const Tensor after = Value(holder, "w").Detach();
      // Each of up to 9 rounding errors of sums of 9 products of up to 1.
      EXPECT_LE(FromOrthogonal(after), 5e-6);
      EXPECT_LT(Sum(Square(after - target)).Item(), Sum(Square(before - target)).Item());
    }
  }
}

// torch.matrix_exp of f64.
TEST(OrthogonalTest, TheExponentialOfLargeMatricesIsExact) {
  Linear fc({.in = 3, .out = 3, .bias = false});
  fc.To(DType::kF64);
  Set(fc.weight(), {1, 0, 0, 0, 1, 0, 0, 0, 1});
  const Tensor original = fc.weight();
  Register(fc, "weight", Orthogonal());
  Set(original, {0, 0, 0, 30, 0, 0, -20, 50, 0});
  ExpectNear(Value(fc, "weight"),
             {0.78576754f, 0.61618337f, -0.053734812f, -0.28659497f, 0.43969972f, 0.8511918f,
              0.54811741f, -0.65343876f, 0.52209682f});
  EXPECT_LE(FromOrthogonal(Value(fc, "weight")), 1e-13);
  Set(original, {0, 0, 0, 3e6f, 0, 0, -2e6f, 5e6f, 0});
  EXPECT_LE(FromOrthogonal(Value(fc, "weight")), 1e-9);
}

TEST(OrthogonalTest, AnOrthogonalWeightStaysAndOthersAreMadeSo) {
  Net net;
  Register(net.fc, "weight", Orthogonal());
  const Tensor base = Buffer(net, "base");
  EXPECT_EQ(Original(net).ToVector<float>(), (Values{-1, 0, 0, 0, -1, 0}));
  SetValue(net.fc, "weight", FromVector<float>({0, 0.6f, -0.8f, 1, 0, 0}, {2, 3}));
  ExpectNear(Value(net.fc, "weight"), {0, 0.6f, -0.8f, 1, 0, 0});
  EXPECT_TRUE(Buffer(net, "base").Is(base));
  SetValue(net.fc, "weight", FromVector<float>({0, 0, -3, 0, 2, 4}, {2, 3}));
  ExpectNear(Value(net.fc, "weight"), {0, 0, -1, 0, 1, 0});
  const Values kept = base.ToVector<float>();
  EXPECT_THROW(SetValue(net.fc, "weight", Ones({3, 2})), Error);
  EXPECT_EQ(base.ToVector<float>(), kept);
  RemoveParametrizations(net.fc, "weight");
  ExpectNear(net.fc.weight(), {0, 0, -1, 0, 1, 0});
}

// A parametrization that inverts a value, and then refuses.
struct Refuses {
  std::shared_ptr<bool> on;
  Tensor Forward(const Tensor& x) const { return x; }
  Tensor RightInverse(const Tensor& w) const { return *on ? Reshape(w, {7}) : w; }
};

TEST(OrthogonalTest, ASetThatFailsLeavesTheBase) {
  Net net;
  const auto on = std::make_shared<bool>(false);
  Register(net.fc, "weight", Refuses{on});
  Register(net.fc, "weight", Orthogonal());
  Tensor base;
  for (const NamedTensor& b : net.named_buffers()) base = b.tensor;
  const Values before = base.ToVector<float>();
  *on = true;
  EXPECT_THROW(SetValue(net.fc, "weight", Net().fc.weight()), Error);
  EXPECT_EQ(base.ToVector<float>(), before);
  *on = false;
  SetValue(net.fc, "weight", FromVector<float>({0, 1, 0, 0, 0, 1}, {2, 3}));
  EXPECT_NE(base.ToVector<float>(), before);
}

TEST(OrthogonalTest, AFrozenStepAndACopyComputeTheSame) {
  for (const OrthogonalMap map : {OrthogonalMap::kMatrixExp, OrthogonalMap::kHouseholder}) {
    Net net;
    Register(net.fc, "weight", Orthogonal{.map = map});
    const std::unique_ptr<Net> same = Clone(net);
    EXPECT_EQ(same->ToString(), net.ToString());
    StaticGraph step = Freeze([&](const Tensor& x) { return Step(net, x); }, X());
    ExpectNear(step.TakeFirst(), Step(*same, X()).ToVector<float>());
    for (int i = 0; i < 3; ++i) ExpectNear(step(X()), Step(*same, X()).ToVector<float>());
    ExpectNear(Original(net), Original(*same).ToVector<float>());
  }
}

struct Keeps : Module {
  explicit Keeps(const NamedTensor& buffer) { AddBuffer(buffer.name, buffer.tensor); }
};

TEST(OrthogonalTest, WhatIsKeptHasThePlaceAndKindOfTheWeight) {
  const Tensor w = Randn({2, 3, 4}, DType::kF64);
  const Orthogonal by_shape;
  const std::vector<NamedTensor> buffers = by_shape.Buffers(w);
  ASSERT_EQ(buffers.size(), 1u);
  EXPECT_EQ(buffers[0].tensor.shape(), (Shape{2, 4, 4}));
  EXPECT_EQ(buffers[0].tensor.dtype(), DType::kF64);
  const Keeps keeps(buffers[0]);
  const Tensor original = by_shape.RightInverse(w, State(keeps));
  EXPECT_EQ(original.shape(), w.shape());
  EXPECT_LE(FromOrthogonal(buffers[0].tensor), 1e-14);
  EXPECT_LE(FromOrthogonal(by_shape.Forward(original, State(keeps))), 1e-14);
}

TEST(OrthogonalTest, RefusesWhatIsNoMatrix) {
  Net net;
  EXPECT_EQ(ErrorOf([&] { Register(net.fc, "bias", Orthogonal()); }),
            "parametrize::Orthogonal: the weight must be a matrix, or several, with elements, got"
            " f32 [2] on cpu");
  net.To(DType::kF16);
  EXPECT_NE(ErrorOf([&] { Register(net.fc, "weight", Orthogonal()); }), "");
  EXPECT_EQ(net.fc.num_children(), 0u);
}

}  // namespace
}  // namespace firn::nn::parametrize

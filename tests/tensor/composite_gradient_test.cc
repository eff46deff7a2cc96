// Gradients that are recorded, of operations whose own gradient is a kernel that has none.

#include "firn/tensor/composite_gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/anomaly.h"
#include "firn/autograd/backward.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;
using Mode = GridSampleMode;
using Padding = GridSamplePadding;

using In = const std::vector<Tensor>&;

void ExpectSame(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  const std::vector<double> a = got.ToVector<double>(), b = want.ToVector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    EXPECT_NEAR(a[i], b[i], 1e-12 * (1 + std::abs(b[i]))) << "element " << i;
  }
}

Tensor Doubles(const Shape& shape) {
  return Sin(Reshape(Arange(0.0, static_cast<double>(shape.num_elements()), 1.0,
                            {.dtype = DType::kF64}),
                     shape))
      .Detach();
}

// x y, whose recorded gradient is that of x y^2, so that the two can be told apart.
const OpDef& TwoWays() {
  static const OpDef* op = [] {
    auto* two_ways = new OpDef(Op("mul"));
    two_ways->grad = [](GradContext& g) {
      if (GradEnabled()) {
        return CompositeGradient(g, [](In in) { return Mul(in[0], Square(in[1])); });
      }
      g.set_grad_input(0, Mul(g.grad_output(), g.input(1)));
      g.set_grad_input(1, Mul(g.grad_output(), g.input(0)));
    };
    return two_ways;
  }();
  return *op;
}

TEST(CompositeGradientTest, IsThatOfTheCompositeWhereItIsRecordedAlone) {
  const Tensor x = Full({1}, 2.0, DType::kF64).SetRequiresGrad();
  const Tensor y = Full({1}, 3.0, DType::kF64).SetRequiresGrad();
  const auto gradients = [&](bool recorded) {
    return Grad({Apply1(TwoWays(), {x, y})}, {x, y}, {.create_graph = recorded});
  };
  const std::vector<Tensor> plain = gradients(false), recorded = gradients(true);
  EXPECT_EQ(plain[0].Item<double>(), 3);
  EXPECT_EQ(plain[1].Item<double>(), 2);
  EXPECT_EQ(recorded[0].Item<double>(), 9);
  EXPECT_EQ(recorded[1].Item<double>(), 12);
  const std::vector<Tensor> second = Grad({recorded[1]}, {x, y});
  EXPECT_EQ(second[0].Item<double>(), 6);  // of 2 x y
  EXPECT_EQ(second[1].Item<double>(), 4);
}

TEST(CompositeGradientTest, HoldsForATensorThatIsTwoInputs) {
  const Tensor once = Doubles({1, 2, 2, 2}).SetRequiresGrad();
  const Tensor x = once.Detach().SetRequiresGrad(), grid = once.Detach().SetRequiresGrad();
  const auto gradients = [](const Tensor& a, const Tensor& b, const std::vector<Tensor>& of) {
    return Grad({Sum(Square(GridSample(a, b)))}, of, {.create_graph = true});
  };
  const std::vector<Tensor> apart = gradients(x, grid, {x, grid});
  ExpectSame(gradients(once, once, {once})[0], Add(apart[0], apart[1]));
}

TEST(CompositeGradientTest, GivesZerosToWhatTheResultDoesNotDependOn) {
  const Tensor x = Doubles({1, 1, 3, 3}).SetRequiresGrad();
  const Tensor grid = Doubles({1, 2, 2, 2}).SetRequiresGrad();
  const Tensor y = GridSample(x, grid, {.mode = Mode::kNearest});
  const Tensor dgrid = Grad(Sum(y), grid, {.create_graph = true});
  EXPECT_EQ(dgrid.ToVector<double>(), std::vector<double>(8, 0.0));
}

// Inputs on which only the second gradient depends get gradients as well.
TEST(CompositeGradientTest, LeadsToInputsWhoseOwnGradientNobodyAskedFor) {
  const Tensor x = Doubles({1, 1, 3, 3}).SetRequiresGrad();
  const Tensor grid = Mul(Doubles({1, 2, 2, 2}), 0.4).SetRequiresGrad();
  const Tensor dgrid = Grad(Sum(GridSample(x, grid)), grid, {.create_graph = true});
  const Tensor mixed = Grad(Sum(dgrid), x);
  EXPECT_GT(Sum(Abs(mixed)).Item<double>(), 0.1);
}

// Arguments at kinks of functions, on elements and at edges, and infinite ones.
TEST(CompositeGradientTest, OfPlacesOnKinksIsThatOfTheKernel) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers = {-1, 1,       0,     -0.5, 0.5,         3,
                                       -3, 0x1p100, -kInf, kInf, std::nan("")};
  std::vector<double> places;
  for (double a : numbers) places.insert(places.end(), {a, 0.1, -0.2, a});
  const Tensor x = Doubles({1, 2, 3, 4}).SetRequiresGrad();
  const int64_t rows = static_cast<int64_t>(numbers.size());
  const Tensor grid = Reshape(FromVector(places), {1, rows, 2, 2}).Detach().SetRequiresGrad();
  for (const Mode mode : {Mode::kLinear, Mode::kNearest, Mode::kCubic}) {
    for (const Padding padding : {Padding::kZeros, Padding::kBorder, Padding::kReflection}) {
      for (const bool align : {false, true}) {
        SCOPED_TRACE(::testing::Message() << static_cast<int>(mode) << ", "
                                          << static_cast<int>(padding) << ", " << align);
        const auto gradients = [&](bool recorded) {
          const Tensor y = GridSample(x, grid, {mode, padding, align});
          return Grad({Sum(Mul(y, Doubles(y.shape())))}, {x, grid}, {.create_graph = recorded});
        };
        const std::vector<Tensor> got = gradients(true), want = gradients(false);
        ExpectSame(got[0], want[0]);
        ExpectSame(got[1], want[1]);
        ExpectSame(SampledByOperations(x, grid, {{mode, padding, align}}),
                   GridSample(x, grid, {mode, padding, align}));
      }
    }
  }
}

// Places outside have no influence, even if their factor is not finite.
TEST(CompositeGradientTest, PlacesOutsideTakeNothingFromInfinities) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Tensor grid =
      FromVector(std::vector<double>{0.1, 0.2, 9, 0.1, 9, 9, -0.3, 0.4}, {1, 2, 2, 2})
          .SetRequiresGrad();
  Tensor x = Add(Doubles({1, 1, 3, 4}), 5).Detach().SetRequiresGrad();
  const auto roots = [&](bool recorded) {  // whose gradient is infinite at 0
    return Grad(Sum(Sqrt(GridSample(x, grid))), x, {.create_graph = recorded});
  };
  ExpectSame(roots(true), roots(false));
  EXPECT_TRUE(std::isfinite(Sum(roots(true)).Item<double>()));
  Tensor with = x.Detach();
  with = Where(Eq(Arange(0., 4., 1.), 0), kInf, with).Detach().SetRequiresGrad();
  const auto of_grid = [&](bool recorded) {
    return Grad(Sum(GridSample(with, grid)), grid, {.create_graph = recorded});
  };
  ExpectSame(of_grid(true), of_grid(false));
}

// A path that leads to this loss gives no NaN.
TEST(CompositeGradientTest, OfFiniteLossesIsNoAnomaly) {
  const AnomalyScope anomaly;
  const Tensor log_probs = LogSoftmax(Doubles({5, 2, 4}), 2).Detach().SetRequiresGrad();
  const Tensor loss =
      CtcLoss(log_probs, FromVector(std::vector<int64_t>{1, 2, 3, 1}, {2, 2}),
              FromVector(std::vector<int64_t>{5, 4}), FromVector(std::vector<int64_t>{2, 1}));
  const Tensor gradient = Grad(loss, log_probs, {.create_graph = true});
  EXPECT_TRUE(std::isfinite(Sum(Square(gradient)).Item<double>()));
}

// A penalty on a gradient, as a step of a graph that runs on other numbers than it was captured on.
TEST(CompositeGradientTest, IsCapturedAsOperations) {
  const auto penalty = [](absl::Span<const Tensor> in) {
    const Tensor x = in[0].Detach().SetRequiresGrad(), grid = in[1].Detach().SetRequiresGrad();
    const Tensor dx = Grad(Sum(Square(GridSample(x, grid))), x, {.create_graph = true});
    return TensorList{Grad(Sum(Square(dx)), grid)};
  };
  const std::vector<Tensor> first = {Doubles({1, 2, 3, 3}), Mul(Doubles({1, 2, 2, 2}), 0.5)};
  const std::vector<Tensor> other = {Mul(first[0], 2).Detach(), Mul(first[1], -0.7).Detach()};
  Captured captured = Capture(penalty, first);
  auto graph = StaticGraph::Compile(std::move(captured.graph));
  ASSERT_TRUE(graph.ok()) << graph.status();
  ExpectSame(graph->Call(first)[0], penalty(first)[0]);
  ExpectSame(graph->Call(other)[0], penalty(other)[0]);
}

// Numbers of PyTorch's autograd, for the same formula written with indexing, since its grid_sample
// has no second gradient. sum(dx^2) + sum(dgrid^2) for sum(y^2), differentiated.
TEST(CompositeGradientTest, OfBicubicSamplesIsPyTorchsOfTheSameFormula) {
  const Tensor x = Doubles({1, 1, 3, 4}).SetRequiresGrad();
  const Tensor grid = Mul(Doubles({1, 2, 2, 2}), 1.3).Detach().SetRequiresGrad();
  const Tensor y = GridSample(x, grid, {Mode::kCubic, Padding::kReflection});
  const std::vector<Tensor> d = Grad({Sum(Square(y))}, {x, grid}, {.create_graph = true});
  const std::vector<Tensor> second = Grad({Add(Sum(Square(d[0])), Sum(Square(d[1])))}, {x, grid});
  EXPECT_THAT(second[0].ToVector<double>(),
              Pointwise(DoubleNear(1e-9),
                        {-2.131067456274, 0.336065373861, 0.317228023646, -2.73628039945,
                         -4.511108322172, -4.721695028782, -2.399125191727, 29.565118784467,
                         32.139872438683, 21.137750943084, -4.963946779931, 1.894866826942}));
  EXPECT_THAT(second[1].ToVector<double>(),
              Pointwise(DoubleNear(1e-9),
                        {-14.641378195, -1.308454875057, -24.967503599495, -58.16986041964,
                         -0.116105185041, -0.745565146889, 25.970098717718, 10.911271864621}));
}

// Numbers of PyTorch's autograd for the logarithm of a sum over all paths.
TEST(CompositeGradientTest, OfCtcLossIsPyTorchsOfAllPaths) {
  const Tensor x = Doubles({4, 1, 3}).SetRequiresGrad();
  const Tensor loss = CtcLoss(x, FromVector<int64_t>({1, 2}), FromVector<int64_t>({4}),
                              FromVector<int64_t>({2}), {.reduction = Reduction::kSum});
  const Tensor d = Grad(loss, x, {.create_graph = true});
  const Tensor second = Grad(Sum(Square(d)), x);
  EXPECT_THAT(second.ToVector<double>(),
              Pointwise(DoubleNear(1e-11),
                        {-0.233217815182, 0.233217815182, 0.0, 0.19323391475, -0.158657654227,
                         -0.034576260523, -0.120098194453, -0.176016383826, 0.296114578279,
                         0.316720059101, 0.0, -0.316720059101}));
}

// A sample of each kind: one that fits, one that does not, and one of impossible classes.
TEST(CompositeGradientTest, OfInfiniteCtcLossesTouchesNoOtherSample) {
  std::vector<double> values = Doubles({3, 3, 3}).ToVector<double>();
  for (int64_t c = 0; c < 3; ++c) values[static_cast<size_t>(6 + c)] = -HUGE_VAL;  // sample 2
  const Tensor x = Reshape(FromVector(values), {3, 3, 3}).Detach().SetRequiresGrad();
  const auto gradient = [&](bool zero_infinity, bool recorded) {
    const Tensor loss = CtcLoss(x, FromVector<int64_t>({1, 2, 1, 1, 2}),
                                FromVector<int64_t>({3, 2, 3}), FromVector<int64_t>({2, 2, 1}),
                                {.reduction = Reduction::kSum, .zero_infinity = zero_infinity});
    return Grad(loss, x, {.create_graph = recorded});
  };
  ExpectSame(gradient(true, true), gradient(true, false));
  const Tensor got = gradient(false, true), want = gradient(false, false);
  ExpectSame(Select(got, 1, 0), Select(want, 1, 0));
  EXPECT_TRUE(Any(Isnan(Select(got, 1, 1))).Item<bool>());
  EXPECT_TRUE(Any(Isnan(Select(want, 1, 1))).Item<bool>());
  const Tensor second = Grad(Sum(Square(gradient(true, true))), x);
  EXPECT_TRUE(All(Isfinite(second)).Item<bool>());
}

// Half types, which the operation takes as they are, and rows of padded targets.
TEST(CompositeGradientTest, OfCtcLossHoldsForHalfTypes) {
  const Tensor x = Cast(Doubles({4, 2, 3}), DType::kBF16).Detach().SetRequiresGrad();
  const Tensor targets = Reshape(FromVector<int64_t>({1, 2, 2, -5}), {2, 2});
  const auto lengths = [](int64_t a, int64_t b) { return FromVector<int64_t>({a, b}); };
  const auto gradient = [&](bool recorded) {
    const Tensor loss = CtcLoss(x, targets, lengths(4, 3), lengths(2, 1));
    return Grad(loss, x, {.create_graph = recorded});
  };
  ExpectSame(Cast(gradient(true), DType::kF64), Cast(gradient(false), DType::kF64));
  EXPECT_EQ(CtcLossByOperations(x, targets, lengths(4, 3), lengths(2, 1), {}).dtype(),
            DType::kBF16);
}

TEST(CompositeGradientTest, OfACorrelationWithItselfHasBothParts) {
  const Tensor x = Doubles({1, 2, 3, 3}).SetRequiresGrad();
  const auto gradient = [&](bool recorded) {
    const Tensor y = PatchCorrelation(x, x, {.shift = 1});
    return Grad(Sum(Mul(y, Doubles(y.shape()))), x, {.create_graph = recorded});
  };
  ExpectSame(gradient(true), gradient(false));
}

}  // namespace
}  // namespace firn

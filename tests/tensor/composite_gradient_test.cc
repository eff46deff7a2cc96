// Gradients that are recorded, of operations whose own gradient is a kernel that has none.

#include "firn/tensor/composite_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

using Mode = GridSampleMode;
using Padding = GridSamplePadding;

using In = const std::vector<Tensor>&;

void ExpectSame(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  const std::vector<double> a = got.ToVector<double>(), b = want.ToVector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    EXPECT_NEAR(a[i], b[i], 1e-12 * (1 + std::abs(b[i]))) << "element " << i;
  }
}

Tensor Doubles(const Shape& shape) {
  return Sin(Reshape(Arange(0.0, static_cast<double>(shape.num_elements()), 1.0,
                            {.dtype = DType::kF64}),
                     shape))
      .Detach();
}

// x y, whose recorded gradient says x y^2: told apart from the other one by that.
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

// What only the second gradient depends on is reached as well.
TEST(CompositeGradientTest, LeadsToInputsWhoseOwnGradientNobodyAskedFor) {
  const Tensor x = Doubles({1, 1, 3, 3}).SetRequiresGrad();
  const Tensor grid = Mul(Doubles({1, 2, 2, 2}), 0.4).SetRequiresGrad();
  const Tensor dgrid = Grad(Sum(GridSample(x, grid)), grid, {.create_graph = true});
  const Tensor mixed = Grad(Sum(dgrid), x);
  EXPECT_GT(Sum(Abs(mixed)).Item<double>(), 0.1);
}

// Where functions have kinks, on elements and at edges, and beyond all numbers.
TEST(CompositeGradientTest, OfPlacesOnKinksIsThatOfTheKernel) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers = {-1, 1, 0, -0.5, 0.5, 3, -3, 1e30, -kInf, kInf, std::nan("")};
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

}  // namespace
}  // namespace firn

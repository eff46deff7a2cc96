#include "firn/optim/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/pending.h"
#include "tests/error_of.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;

Tensor Leaf(std::vector<double> values) { return FromVector(std::move(values)).SetRequiresGrad(); }

// Rosenbrock's valley, whose floor bends: least, 0, at (1, 1).
Tensor Valley(const Tensor& x) {
  const Tensor a = Select(x, 0, 0), b = Select(x, 0, 1);
  return Add(Square(Sub(1, a)), Mul(Square(Sub(b, Square(a))), 100));
}

std::function<Tensor()> LossOf(Lbfgs& lbfgs, const Tensor& x, Tensor (*f)(const Tensor&)) {
  return [&lbfgs, &x, f] {
    lbfgs.ZeroGrad();
    Tensor loss = f(x);
    loss.Backward();
    return loss;
  };
}

TEST(LbfgsTest, FindsTheEndOfABentValley) {
  const Tensor x = Leaf({-1.5, 2});
  Lbfgs lbfgs({x}, {.max_iterations = 60});
  EXPECT_NEAR(lbfgs.Step(LossOf(lbfgs, x, Valley)), 12.5, 1e-9);
  EXPECT_NEAR(x.ToVector<double>()[0], 1, 1e-5);
  EXPECT_NEAR(x.ToVector<double>()[1], 1, 1e-5);
}

// sum_i i (x_i - 1)^2 over several parameters of several types.
TEST(LbfgsTest, MovesSeveralParametersWithAndWithoutASearch) {
  for (const bool search : {true, false}) {
    Tensor a = Zeros({2, 3}).SetRequiresGrad(), b = Leaf({5, 5});
    Lbfgs lbfgs({{"a", a}, {"b", b}}, {.max_iterations = 100, .line_search = search});
    lbfgs.Step([&] {
      lbfgs.ZeroGrad();
      Tensor loss = Add(Sum(Square(Sub(a, 1))),
                        Sum(Mul(Square(Sub(b, 1)), FromVector(std::vector<double>{1, 20}))));
      loss.Backward();
      return loss;
    });
    for (double v : a.ToVector<double>()) EXPECT_NEAR(v, 1, 1e-4) << search;
    for (double v : b.ToVector<double>()) EXPECT_NEAR(v, 1, 1e-4) << search;
  }
}

// No step goes beyond a wall of infinities.
TEST(LbfgsTest, TurnsBackFromInfinities) {
  const Tensor x = Leaf({3});
  Lbfgs lbfgs({x}, {.lr = 100, .max_iterations = 50});
  const auto f = [&]() -> Tensor {
    lbfgs.ZeroGrad();
    Tensor loss = Sum(Square(x));
    loss.Backward();
    const double at = x.ToVector<double>()[0];
    return at < -5 ? Full({}, std::numeric_limits<double>::infinity()) : loss;
  };
  lbfgs.Step(f);
  EXPECT_NEAR(x.ToVector<double>()[0], 0, 1e-6);
}

TEST(LbfgsTest, ResumesBitByBit) {
  Tensor x = Leaf({-1.5, 2});
  Lbfgs whole({x}, {.max_iterations = 4, .history = 3});
  whole.Step(LossOf(whole, x, Valley));
  StateDict saved;
  for (const auto& [name, t] : whole.state_dict()) saved.Insert(name, Clone(t));
  Tensor y = Clone(x.Detach()).SetRequiresGrad();
  whole.Step(LossOf(whole, x, Valley));
  Lbfgs resumed({y}, {.max_iterations = 4, .history = 3});
  resumed.LoadStateDict(saved);
  resumed.Step(LossOf(resumed, y, Valley));
  EXPECT_TRUE(y.Equals(x));

  Lbfgs fresh({y});
  fresh.LoadStateDict(Lbfgs({x}).state_dict());  // of one that never stepped
  saved.Set("direction", Ones({3}));
  saved.Erase("scale");
  EXPECT_EQ(ErrorOf([&] { fresh.LoadStateDict(saved); }),
            "Lbfgs: the state dict does not fit: direction is [3], no scale");
}

TEST(LbfgsTest, RefusesWhatItCannotDo) {
  Tensor x = Leaf({1});
  EXPECT_NE(ErrorOf([&] { Lbfgs({x}, {.lr = 0}); }).find("must be positive"), std::string::npos);
  EXPECT_EQ(ErrorOf([&] { Lbfgs({Zeros({1}, DType::kI64)}); }),
            "Lbfgs: parameter 0 is not floating");
  EXPECT_EQ(ErrorOf([&] { Lbfgs({Add(x, x)}); }), "Lbfgs: parameter 0 is computed (want a leaf)");
  EXPECT_NE(ErrorOf([&] { Lbfgs({inner::MakePending(DType::kF32, {})}); }).find("first forward"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([&] { Lbfgs({Zeros({0})}); }), "Lbfgs: there are no parameters to move");
  Lbfgs lbfgs({x});
  EXPECT_NE(ErrorOf([&] {
              Freeze(
                  [&](const Tensor& g) {
                    lbfgs.Step([&] { return g; });
                    return g;
                  },
                  Ones({1}));
            }).find("cannot be captured"),
            std::string::npos);
}

}  // namespace
}  // namespace firn::optim

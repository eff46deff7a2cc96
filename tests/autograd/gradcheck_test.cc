#include "firn/autograd/gradcheck.h"

#include <gtest/gtest.h>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn {
namespace {

Tensor Doubles(std::vector<double> values) { return FromVector(std::move(values)); }

// mul with a gradient that is right for x only.
const OpDef& WrongMul() {
  static const OpDef* op = [] {
    auto* wrong = new OpDef(Op("mul"));
    wrong->grad = [](GradContext& g) {
      g.set_grad_input(0, Mul(g.grad_output(), g.input(1)));
      g.set_grad_input(1, Mul(Mul(g.grad_output(), g.input(0)), 1.01f));
    };
    return wrong;
  }();
  return *op;
}

TEST(GradCheckTest, PassesRightGradients) {
  const auto cube = [](const Tensor& x) { return Sum(Mul(Mul(x, x), x)); };
  EXPECT_TRUE(GradCheck(cube, Doubles({1, -2, 0.5})).ok());
  EXPECT_TRUE(GradGradCheck(cube, Doubles({1, -2, 0.5})).ok());
}

TEST(GradCheckTest, PassesResultsOfAnyShapeAndSeveralOfThem) {
  const auto both = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{Mul(in[0], in[1]), Add(in[0], in[1])};
  };
  const std::vector<Tensor> inputs = {Doubles({1, 2, 3}), Doubles({4})};
  EXPECT_TRUE(GradCheck(both, inputs).ok());
  EXPECT_TRUE(GradGradCheck(both, inputs).ok());
}

TEST(GradCheckTest, NamesTheWorstElement) {
  const auto wrong = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{Apply1(WrongMul(), {in[0], in[1]})};
  };
  const absl::Status status = GradCheck(wrong, {Doubles({1, 9, 2}), Doubles({3, 4, 5})});
  const std::string message(status.message());
  EXPECT_NE(message.find("gradient of input 1 at [1] is"), std::string::npos) << message;
  EXPECT_NE(message.find("worst of 3 wrong elements of 6"), std::string::npos) << message;
}

TEST(GradCheckTest, ChecksOnlyInputsThatRequireGradientsWhenSomeDo) {
  const auto wrong = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{Apply1(WrongMul(), {in[0], in[1]})};
  };
  Tensor x = Doubles({1, 9, 2}).SetRequiresGrad();
  EXPECT_TRUE(GradCheck(wrong, {x, Doubles({3, 4, 5})}).ok());
  EXPECT_FALSE(x.grad().defined());
}

TEST(GradCheckTest, FindsAWrongSecondGradient) {
  // The first gradient is right, but computed by the operation whose own gradient is wrong.
  static OpDef sly = Op("mul");
  sly.grad = [](GradContext& g) {
    g.set_grad_input(0, Apply1(WrongMul(), {g.grad_output(), g.input(1)}));
    g.set_grad_input(1, Apply1(WrongMul(), {g.grad_output(), g.input(0)}));
  };
  const auto fn = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{Apply1(sly, {in[0], in[1]})};
  };
  const std::vector<Tensor> inputs = {Doubles({1, 9, 2}), Doubles({3, 4, 5})};
  EXPECT_TRUE(GradCheck(fn, inputs).ok());
  EXPECT_FALSE(GradGradCheck(fn, inputs).ok());
}

TEST(GradCheckTest, RefusesInputsBelowF64) {
  const auto square = [](const Tensor& x) { return Mul(x, x); };
  const absl::Status status = GradCheck(square, FromValues({1.f, 2.f}));
  EXPECT_EQ(status.message(), "grad_check: input 0 must be f64, got f32 [2] on cpu");
}

TEST(GradCheckTest, LimitsTheNumberOfElements) {
  int calls = 0;
  const auto square = [&](const Tensor& x) {
    ++calls;
    return Mul(x, x);
  };
  const Tensor x = Doubles(std::vector<double>(1000, 2));
  EXPECT_TRUE(GradCheck(square, x, {.max_elements = 5}).ok());
  EXPECT_EQ(calls, 11);  // one backward pass, two evaluations an element
}

}  // namespace
}  // namespace firn

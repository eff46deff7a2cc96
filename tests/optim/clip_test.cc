#include "optim/clip.h"

#include <gtest/gtest.h>

#include <limits>

#include "tensor/error.h"
#include "tensor/from.h"
#include "tensor/ops/create/constant.h"
#include "tests/golden/vectors.h"

namespace firn::optim {
namespace {

using Values = std::vector<float>;

Tensor WithGrad(const Tensor& grad) {
  Tensor p = ZerosLike(grad).SetRequiresGrad();
  p.SetGrad(grad);
  return p;
}

TEST(ClipTest, ClipsTheGlobalNormAsPyTorch) {
  for (const testing::GoldenCase& c : testing::ReadGolden("ops/clip_grad_norm.txt")) {
    std::vector<Tensor> parameters;
    for (const auto& [name, grad] : c.inputs) parameters.push_back(WithGrad(grad));
    const Tensor norm = ClipGradNorm(parameters, c.Number("max_norm", 1), c.Number("p", 2));
    for (const auto& [name, want] : c.outputs) {
      const bool is_norm = name.find('.') == std::string::npos;
      const size_t i = is_norm ? 0 : std::stoul(name.substr(name.find('.') + 1));
      EXPECT_EQ(testing::Compare(is_norm ? norm : parameters[i].grad(), want), "")
          << c.name << " " << name;
    }
  }
}

TEST(ClipTest, TakesTheLargestElementAsTheInfinityNorm) {
  Tensor a = WithGrad(FromVector<float>({3, -8})), b = WithGrad(FromVector<float>({4}));
  const Tensor norm = ClipGradNorm({a, b}, 2, std::numeric_limits<double>::infinity());
  EXPECT_EQ(norm.Item(), 8);
  EXPECT_NEAR(a.grad().ToVector<float>()[1], -2, 1e-5);
  EXPECT_NEAR(b.grad().ToVector<float>()[0], 1, 1e-5);
}

TEST(ClipTest, ScalesAGradientSharedByTwoParametersOnce) {
  const Tensor grad = FromVector<float>({3, 4});
  Tensor a = WithGrad(grad), b = WithGrad(grad);
  ClipGradNormEach({a, b, a}, 2.5);
  EXPECT_NEAR(a.grad().ToVector<float>()[0], 1.5, 1e-5);
  EXPECT_NEAR(b.grad().ToVector<float>()[1], 2, 1e-5);
  EXPECT_EQ(grad.ToVector<float>(), (Values{3, 4}));  // whoever holds it sees no change
}

TEST(ClipTest, PassesOverParametersWithoutGradient) {
  Tensor none = Zeros({2}).SetRequiresGrad();
  EXPECT_EQ(ClipGradNorm({none, Tensor()}, 1).Item(), 0);
  ClipGradValue({none}, 1);
  EXPECT_FALSE(none.grad().defined());
}

TEST(ClipTest, CutsElementsOff) {
  Tensor a = WithGrad(FromVector<float>({3, -4, 0.5}));
  ClipGradValue({a}, 1);
  EXPECT_EQ(a.grad().ToVector<float>(), (Values{1, -1, 0.5}));
}

TEST(ClipTest, RefusesNegativeLimits) {
  EXPECT_THROW(ClipGradNorm({}, -1), Error);
  EXPECT_THROW(ClipGradNormEach({}, -1), Error);
  EXPECT_THROW(ClipGradValue({}, -0.1), Error);
}

}  // namespace
}  // namespace firn::optim

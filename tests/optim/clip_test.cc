#include "firn/optim/clip.h"

#include <gtest/gtest.h>

#include <limits>

#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"
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

// Factors so near to 1 that no number of f16 changes, and factors that change some of its numbers.
TEST(ClipTest, RoundsWhatItScalesOnce) {
  std::vector<float> values;
  for (int i = 1; i < 2048; ++i) values.push_back(static_cast<float>(i) * 0x1p-24f);
  for (int i = 1024; i <= 2048; ++i) values.push_back(static_cast<float>(-i) / 1024);
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32}) {
    const Tensor grad = FromVector<float>(values).To(dtype);
    for (const double less :
         {0x1p-26, 0x1p-13, 0x1p-12, 0x1p-11, 0x1p-10, 0x1p-9, 0x1p-8, 0x1p-7}) {
      const double factor = 1 - less;
      Tensor a = WithGrad(grad);
      ClipGradNorm({a}, factor * (2 + 1e-6), std::numeric_limits<double>::infinity());
      const Tensor want = (grad.To(DType::kF32) * static_cast<float>(factor)).To(dtype);
      EXPECT_TRUE(a.grad().Equals(want)) << DTypeName(dtype) << " " << less;
    }
  }
}

TEST(ClipTest, ScalesAGradientSharedByTwoParametersOnce) {
  const Tensor grad = FromVector<float>({3, 4});
  Tensor a = WithGrad(grad), b = WithGrad(grad);
  ClipGradNormEach({a, b, a}, 2.5);
  EXPECT_NEAR(a.grad().ToVector<float>()[0], 1.5, 1e-5);
  EXPECT_NEAR(b.grad().ToVector<float>()[1], 2, 1e-5);
  EXPECT_EQ(grad.ToVector<float>(), (Values{3, 4}));  // other handles see no change
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

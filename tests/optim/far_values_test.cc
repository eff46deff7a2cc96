// Optimizers on gradients that hardly vary, and on numbers whose squares leave the range of f32.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firn/optim/adafactor.h"
#include "firn/optim/clip.h"
#include "firn/optim/rmsprop.h"
#include "firn/optim/trust_ratio.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn::optim {
namespace {

Tensor WithGrad(double value, double grad, DType dtype = DType::kF32) {
  Tensor p = Full({4}, value, dtype).SetRequiresGrad();
  p.SetGrad(Full({4}, grad, dtype));
  return p;
}

TEST(FarValuesTest, CentredRmspropGoesOnWhereGradientsHardlyVary) {
  Tensor p = FromVector(std::vector<float>(64, 1)).SetRequiresGrad();
  Rmsprop rmsprop({p}, {.lr = 1e-6, .centered = true});
  RmspropGraves graves({p}, {.lr = 1e-6});
  for (int step = 0; step < 3000; ++step) {
    std::vector<float> grad(64);
    for (size_t i = 0; i < grad.size(); ++i) {
      grad[i] = 0.1f * static_cast<float>(i + 1) + (step % 2 == 0 ? 1e-7f : 0);
    }
    p.SetGrad(FromVector(grad));
    rmsprop.Step();
    graves.Step();
  }
  for (const float v : p.ToVector<float>()) ASSERT_TRUE(std::isfinite(v));
}

TEST(FarValuesTest, AdafactorGoesOnWithoutGradientsAndWithATinyEpsilon) {
  for (const Shape& shape : {Shape({4}), Shape({2, 2})}) {
    Tensor p = Full(shape, 1).SetRequiresGrad();
    p.SetGrad(Zeros(shape));
    Adafactor adafactor({p}, {.eps1 = 1e-30});
    adafactor.Step();
    EXPECT_EQ(p.ToVector<float>(), std::vector<float>(4, 1));
  }
}

TEST(FarValuesTest, ClipsNormsWhosePowersLeaveTheRangeOfDouble) {
  for (const double p : {2.0, 3.0, 20.0, 3000.0}) {
    for (const double size : {1e200, 1e-200}) {
      Tensor a = WithGrad(0, size, DType::kF64);
      const double want = size * std::pow(4, 1 / p);
      EXPECT_NEAR(ClipGradNorm({a}, 1, p).Item(), want, 1e-12 * want);
      const double kept = size > 1 ? std::pow(4, -1 / p) : size;
      EXPECT_NEAR(a.grad().ToVector<double>()[0], kept, 1e-12 * kept);
    }
    Tensor b = WithGrad(0, 1e30);
    EXPECT_NEAR(ClipGradNorm({b}, 1, p).Item() / 1e30, std::pow(4, 1 / p), 1e-6);
  }
}

// The ratio of lengths is 1 whatever the unit.
TEST(FarValuesTest, LarsMeasuresLengthsWhoseSquaresAreNoFloats) {
  for (const double size : {1.0, 1e25}) {
    Tensor p = WithGrad(size, size);
    Lars lars({p}, {.lr = 1, .momentum = 0, .coefficient = 0.5, .eps = 1e-30});
    lars.Step();
    EXPECT_NEAR(p.ToVector<double>()[0] / size, 0.5, 1e-6) << size;
  }
}

TEST(FarValuesTest, LambMeasuresLengthsWhoseSquaresAreNoFloats) {
  for (const double size : {1.0, 1e25, 1e-25}) {
    Tensor p = WithGrad(size, 1);
    Lamb lamb({p}, {.lr = 0.25, .gamma_l = 0, .gamma_u = 1e30, .eps = 0, .weight_decay = 0});
    lamb.Step();
    EXPECT_NEAR(p.ToVector<double>()[0] / size, 0.75, 1e-6) << size;
  }
}

}  // namespace
}  // namespace firn::optim

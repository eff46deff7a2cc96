// The steps of optimizers as functions of one parameter: what they do without attributes.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "device/inner.h"
#include "tensor/from.h"
#include "tensor/ops/create/constant.h"
#include "tensor/ops/optimizer/adam.h"
#include "tensor/ops/optimizer/sgd.h"

namespace firn {
namespace {

// The decay would turn the sign of the gradient: 1 against -0.5.
TEST(StepTest, SgdIsPlainByDefault) {
  const Tensor param = FromVector<double>({1}), grad = FromVector<double>({-0.5});
  for (int i = 0; i < 2; ++i) SgdStep(param, grad, {}, Full({}, 0.25, DType::kF64));
  EXPECT_EQ(param.ToVector<double>()[0], 1.25);
}

// The third step from mean 0.1 and var 0.04, by the formula of Kingma and Ba with their constants.
TEST(StepTest, AdamHasThePapersConstantsAndNoDecayByDefault) {
  const Tensor param = FromVector<double>({1}), grad = FromVector<double>({-0.5});
  const Tensor mean = FromVector<double>({0.1}), var = FromVector<double>({0.04});
  const Tensor step = Full({}, 2, DType::kI64);
  AdamStep(param, grad, mean, var, {}, step, Full({}, 0.25, DType::kF64));
  const double m = 0.9 * 0.1 - 0.1 * 0.5, v = 0.999 * 0.04 + 0.001 * 0.25;
  const double corrected = std::sqrt(v / (1 - std::pow(0.999, 3))) + 1e-8;
  EXPECT_NEAR(param.ToVector<double>()[0], 1 - 0.25 / (1 - std::pow(0.9, 3)) * m / corrected,
              1e-14);
  EXPECT_NEAR(mean.ToVector<double>()[0], m, 1e-15);
  EXPECT_NEAR(var.ToVector<double>()[0], v, 1e-15);
  EXPECT_EQ(step.Item<int64_t>(), 3);
}

}  // namespace
}  // namespace firn

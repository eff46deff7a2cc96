#include "firn/io/metrics/regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;

Tensor Numbers(std::vector<double> numbers, const Shape& shape) {
  return FromVector(std::move(numbers), shape);
}

// The examples of scikit-learn's documentation of r2_score.
TEST(R2Test, IsScikitLearns) {
  R2 one;
  one.Update(Numbers({2.5, 0, 2, 8}, {4}), Numbers({3, -0.5, 2, 7}, {4}));
  EXPECT_NEAR(one.Value(), 0.9486081370449679, 1e-15);
  R2 two;
  two.Update(Numbers({0, 2, -1, 2, 8, -5}, {3, 2}), Numbers({0.5, 1, -1, 1, 7, -6}, {3, 2}));
  EXPECT_NEAR(two.Value(), 0.9368005266622779, 1e-15);
  R2 mean;
  mean.Update(Numbers({2, 2, 2}, {3}), Numbers({1, 2, 3}, {3}));
  EXPECT_EQ(mean.Value(), 0);
  R2 worse;
  worse.Update(Numbers({3, 2, 1}, {3}), Numbers({1, 2, 3}, {3}));
  EXPECT_EQ(worse.Value(), -3);
  R2 constant;
  constant.Update(Numbers({-2, -2, -2}, {3}), Numbers({-2, -2, -2}, {3}));
  EXPECT_EQ(constant.Value(), 1);
  constant.Update(Numbers({-3}, {1}), Numbers({-2}, {1}));
  EXPECT_EQ(constant.Value(), 0);
}

TEST(R2Test, DoesNotDependOnBatches) {
  ManualSeed(3);
  const Tensor targets = Randn({100, 2}, DType::kF64) + 1e6;  // far from 0
  const Tensor predictions = targets + Randn({100, 2}, DType::kF64) * 0.3;
  R2 whole;
  whole.Update(predictions, targets);
  EXPECT_GT(whole.Value(), 0.8);
  EXPECT_LT(whole.Value(), 0.99);
  for (const int64_t batch : {1, 7, 33}) {
    R2 batches, first, rest;
    for (int64_t i = 0; i < 100; i += batch) {
      const Tensor p = predictions[{Range(i, i + batch)}], t = targets[{Range(i, i + batch)}];
      batches.Update(p, t);
      (i < 40 ? first : rest).Update(p, t);
    }
    first.Merge(rest);
    EXPECT_NEAR(batches.Value(), whole.Value(), 1e-9) << batch;
    EXPECT_NEAR(first.Value(), whole.Value(), 1e-9) << batch;
    EXPECT_EQ(batches.count(), 100);
  }
}

TEST(R2Test, RefusesWhatDoesNotFitAndChangesNothing) {
  R2 r2;
  EXPECT_TRUE(std::isnan(r2.Value()));
  r2.Update(Ones({1, 2}), Ones({1, 2}));
  EXPECT_TRUE(std::isnan(r2.Value()));  // one sample has no value
  EXPECT_THAT(ErrorOf([&] {
                r2.Update(Ones({3, 1}), Ones({3}));
              }),
              HasSubstr("predictions are [3, 1] and targets [3]"));
  EXPECT_THAT(ErrorOf([&] {
                r2.Update(Ones({3, 1}), Ones({3, 1}));
              }),
              HasSubstr("a sample has 1 numbers, those before had 2"));
  EXPECT_THAT(ErrorOf([&] { r2.Update(Ones({}), Ones({})); }), HasSubstr("want one shape"));
  EXPECT_EQ(r2.count(), 1);
  R2 other;
  other.Update(Ones({2}), Ones({2}));
  EXPECT_THAT(ErrorOf([&] { r2.Merge(other); }), HasSubstr("cannot merge"));
  r2.Update(Ones({0, 2}), Ones({0, 2}));
  EXPECT_EQ(r2.count(), 1);
  r2.Reset();
  EXPECT_EQ(r2.count(), 0);
}

TEST(ErrorsTest, AreMeansOfAllNumbers) {
  MeanSquaredError mse, rmse({.root = true});
  MeanAbsoluteError mae;
  EXPECT_TRUE(std::isnan(mse.Value()));
  EXPECT_TRUE(std::isnan(mae.Value()));
  for (const auto& [p, t] : {std::pair(Numbers({1, 2, 3}, {3}), Numbers({1, 4, 3}, {3})),
                             std::pair(Numbers({0}, {1}), Numbers({-4}, {1}))}) {
    mse.Update(p, t);
    rmse.Update(p, t);
    mae.Update(p, t);
  }
  EXPECT_EQ(mse.Value(), 5);
  EXPECT_EQ(rmse.Value(), std::sqrt(5.0));
  EXPECT_EQ(mae.Value(), 1.5);
  mse.Merge(mse);
  mae.Merge(mae);
  EXPECT_EQ(mse.Value(), 5);
  EXPECT_EQ(mae.count(), 8);
  EXPECT_THAT(ErrorOf([&] { mse.Update(Ones({2, 1}), Ones({2})); }), HasSubstr("want one shape"));
  EXPECT_EQ(mse.count(), 8);
  mse.Reset();
  mae.Reset();
  EXPECT_EQ(mse.count() + mae.count(), 0);
}

}  // namespace
}  // namespace firn::io

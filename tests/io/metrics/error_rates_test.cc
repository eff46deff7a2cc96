#include "firn/io/metrics/error_rates.h"

#include <cmath>
#include <utility>
#include <vector>

#include "firn/io/metrics/accuracy.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::HasSubstr;

Tensor Labels(std::vector<int64_t> labels) { return FromVector(std::move(labels)); }

// Three samples of four classes.
Tensor Scores() { return FromVector<float>({.1f, .9f, .3f, 0, 5, 4, 3, 2, 1, 1, 0, 1}, {3, 4}); }

TEST(TopNErrorTest, CountsLabelsBehindNOthersAndTiesAgainstThem) {
  // 1, 2 and 2 others score at least as much as the label, the last two of them the same.
  const Tensor labels = Labels({2, 2, 0});
  for (const auto& [n, wrong] : std::vector<std::pair<int64_t, int>>{{1, 3}, {2, 2}, {3, 0}}) {
    TopNError error({.n = n});
    EXPECT_TRUE(std::isnan(error.Value()));
    error.Update(Scores(), labels);
    EXPECT_EQ(error.Value(), wrong / 3.0) << n;
    EXPECT_EQ(error.count(), 3);
  }
  TopNError error;  // of one is n = 1
  error.Update(Zeros({0, 4}), Labels({}));
  EXPECT_TRUE(std::isnan(error.Value()));
  error.Update(Cast(Scores(), DType::kBF16), Cast(Labels({1, 0, 1}), DType::kU8));
  EXPECT_EQ(error.Value(), 1 / 3.0);
}

TEST(TopNErrorTest, IsTheRestOfTopKAccuracyWithoutTies) {
  RandomGenerator random(3);
  const Tensor scores = Randn({5, 6, 2, 2}, DType::kF64, {.generator = &random});
  const Tensor labels = Randint(0, 6, {5, 2, 2});
  for (int64_t n = 1; n <= 6; ++n) {
    TopNError error({.n = n});
    TopKAccuracy right({.k = n});
    error.Update(scores, labels);
    right.Update(scores, labels);
    EXPECT_EQ(std::lround(20 * error.Value()), 20 - std::lround(20 * right.Value())) << n;
  }
}

TEST(TopNErrorTest, LeavesOutIgnoredLabelsAndMerges) {
  TopNError error({.ignore_label = -100});
  error.Update(Scores(), Labels({0, -100, 2}));
  EXPECT_EQ(error.count(), 2);
  EXPECT_EQ(error.Value(), 1);
  TopNError right({.ignore_label = -100});
  right.Update(Scores(), Labels({1, 0, -100}));
  EXPECT_EQ(right.Value(), 0);
  right.Merge(error);
  EXPECT_EQ(right.Value(), 0.5);
  EXPECT_EQ(right.count(), 4);
  right.Reset();
  EXPECT_EQ(right.count(), 0);
  EXPECT_TRUE(std::isnan(right.Value()));
}

TEST(TopNErrorTest, RefusesWhatDoesNotFitAndKeepsItsCounts) {
  EXPECT_THAT(ErrorOf([] { TopNError({.n = 0}); }), HasSubstr("n is 0 (want >= 1)"));
  TopNError error({.n = 2});
  error.Update(Scores(), Labels({1, 0, 0}));
  EXPECT_THAT(ErrorOf([&] {
                error.Update(Scores(), Labels({0, 4, 0}));
              }),
              HasSubstr("a label is 4 (want 0 to 3)"));
  EXPECT_THAT(ErrorOf([&] {
                error.Update(Scores(), Labels({0, -1, 0}));
              }),
              HasSubstr("a label is -1 (want 0 to 3)"));
  EXPECT_THAT(ErrorOf([&] {
                error.Update(Full({1, 2}, std::nan("")), Labels({0}));
              }),
              HasSubstr("a score is NaN"));
  EXPECT_THAT(ErrorOf([&] { error.Update(Labels({1}), Labels({1})); }), HasSubstr("want scores"));
  EXPECT_THAT(ErrorOf([&] { error.Merge(TopNError({.n = 1})); }),
              HasSubstr("cannot merge counts of n = 1 into n = 2"));
  EXPECT_EQ(error.count(), 3);
}

TEST(BinaryErrorTest, CountsSidesOfOneHalf) {
  BinaryError error;
  EXPECT_TRUE(std::isnan(error.Value()));
  const Tensor p = FromVector<float>({.5f, .49f, .9f, .1f}, {2, 2});
  error.Update(p, FromVector<float>({1, 0, .2f, .6f}, {2, 2}));
  EXPECT_EQ(error.Value(), 0.5);
  error.Update(p, Ge(p, 0.5));
  EXPECT_EQ(error.Value(), 0.25);
  BinaryError sum;
  sum.Merge(error);
  sum.Merge(error);
  EXPECT_EQ(sum.count(), 16);
  EXPECT_EQ(sum.Value(), 0.25);
  sum.Reset();
  EXPECT_EQ(sum.count(), 0);
  EXPECT_TRUE(std::isnan(sum.Value()));
  sum.Update(Zeros({0, 3}), Zeros({0, 3}));
  EXPECT_TRUE(std::isnan(sum.Value()));
}

TEST(BinaryErrorTest, CountsMoreThanAHalfTypeHolds) {
  BinaryError error;
  error.Update(Zeros({5001}, DType::kBF16), Ones({5001}, DType::kBF16));
  error.Update(Zeros({1}), Zeros({1}));
  EXPECT_EQ(error.Value(), 5001.0 / 5002);
}

TEST(BinaryErrorTest, RefusesWhatDoesNotFitAndKeepsItsCounts) {
  BinaryError error;
  error.Update(Zeros({2}), Zeros({2}));
  EXPECT_THAT(ErrorOf([&] {
                error.Update(Zeros({2}), Zeros({2, 1}));
              }),
              HasSubstr("predictions are [2] f32 and targets [2, 1] f32"));
  EXPECT_THAT(ErrorOf([&] { error.Update(Labels({1}), Labels({1})); }),
              HasSubstr("want probabilities"));
  EXPECT_THAT(ErrorOf([&] { error.Update(Full({1}, std::nan("")), Zeros({1})); }),
              HasSubstr("a prediction is NaN"));
  EXPECT_THAT(ErrorOf([&] { error.Update(Zeros({1}), Full({1}, std::nan(""))); }),
              HasSubstr("a target is NaN"));
  EXPECT_EQ(error.count(), 2);
}

}  // namespace
}  // namespace firn::io

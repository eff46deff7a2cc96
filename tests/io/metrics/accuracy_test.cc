#include "firn/io/metrics/accuracy.h"

#include <cmath>
#include <vector>

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

TEST(AccuracyTest, TakesScoresAndClasses) {
  Accuracy accuracy;
  EXPECT_TRUE(std::isnan(accuracy.Value()));
  accuracy.Update(Scores(), Labels({1, 2, 0}));
  EXPECT_EQ(accuracy.Value(), 2.0 / 3);
  accuracy.Update(Labels({3}), Labels({3}));
  EXPECT_EQ(accuracy.Value(), 0.75);
  EXPECT_EQ(accuracy.count(), 4);
  accuracy.Reset();
  accuracy.Update(Zeros({0, 4}), Labels({}));
  EXPECT_EQ(accuracy.count(), 0);
}

TEST(AccuracyTest, LeavesOutIgnoredLabelsAndTakesPlaces) {
  Accuracy accuracy({.ignore_label = -100});
  // [1, 2 classes, 3 places]: the classes are 0, 1, 1.
  accuracy.Update(FromVector<double>({3, 1, 1, 2, 2, 2}, {1, 2, 3}),
                  FromVector<int64_t>({0, -100, 0}, {1, 3}));
  EXPECT_EQ(accuracy.Value(), 0.5);
  Accuracy sum({.ignore_label = -100});
  sum.Merge(accuracy);
  sum.Merge(accuracy);
  EXPECT_EQ(sum.count(), 4);
  EXPECT_EQ(sum.Value(), 0.5);
}

TEST(AccuracyTest, RefusesWhatDoesNotFitAndKeepsItsCounts) {
  Accuracy accuracy;
  accuracy.Update(Scores(), Labels({1, 2, 0}));
  EXPECT_THAT(ErrorOf([&] {
                accuracy.Update(Scores(), Labels({1, 2}));
              }),
              HasSubstr("[3, 4] f32 and labels [2] i64 (want scores [N, classes, ...]"));
  EXPECT_THAT(ErrorOf([&] { accuracy.Update(Scores(), Zeros({3})); }),
              HasSubstr("labels are [3] f32 (want integers)"));
  EXPECT_THAT(ErrorOf([&] {
                accuracy.Update(Full({1, 2}, std::nan("")), Labels({0}));
              }),
              HasSubstr("a score is NaN"));
  EXPECT_EQ(accuracy.count(), 3);
}

TEST(TopKAccuracyTest, CountsLabelsAmongTheLargest) {
  const Tensor labels = Labels({2, 2, 3});
  // In order of their scores: 1 2 0 3, 0 1 2 3, and 0 1 3 2, equal ones by number.
  for (const auto& [k, right] : std::vector<std::pair<int64_t, int>>{{1, 0}, {2, 1}, {3, 3}}) {
    TopKAccuracy accuracy({.k = k});
    accuracy.Update(Scores(), labels);
    EXPECT_EQ(accuracy.Value(), right / 3.0) << k;
  }
}

TEST(AccuracyTest, RefusesLabelsThatAreNoClass) {
  Accuracy accuracy({.ignore_label = -100});
  EXPECT_THAT(ErrorOf([&] {
                accuracy.Update(Zeros({2, 4}), Labels({0, 4}));
              }),
              HasSubstr("a label is 4 (want 0 to 3)"));
  EXPECT_THAT(ErrorOf([&] {
                accuracy.Update(Zeros({1, 4}), Labels({-1}));
              }),
              HasSubstr("a label is -1"));
  EXPECT_EQ(accuracy.count(), 0);
  accuracy.Update(Zeros({2, 4}), Labels({0, -100}));
  EXPECT_EQ(accuracy.count(), 1);
}

TEST(TopKAccuracyTest, IsAccuracyForOneAndTakesPlaces) {
  const Tensor scores = Round(Randn({5, 3, 2, 2}));  // with ties
  const Tensor labels = Randint(0, 3, {5, 2, 2});
  Accuracy accuracy;
  TopKAccuracy top({.k = 1}), all({.k = 3});
  accuracy.Update(scores, labels);
  top.Update(scores, labels);
  all.Update(scores, labels);
  EXPECT_EQ(top.Value(), accuracy.Value());
  EXPECT_EQ(all.Value(), 1);
  EXPECT_EQ(all.count(), 20);
  top.Merge(top);
  EXPECT_EQ(top.count(), 40);
  top.Reset();
  EXPECT_TRUE(std::isnan(top.Value()));
}

TEST(TopKAccuracyTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(ErrorOf([] { TopKAccuracy({.k = 0}); }), HasSubstr("k is 0"));
  TopKAccuracy top({.k = 3, .ignore_label = 9});
  EXPECT_THAT(ErrorOf([&] {
                top.Update(Zeros({1, 2}), Labels({0}));
              }),
              HasSubstr("k is 3 but there are 2 classes"));
  EXPECT_THAT(ErrorOf([&] {
                top.Update(Zeros({2, 4}), Labels({0, 4}));
              }),
              HasSubstr("a label is 4 (want 0 to 3)"));
  EXPECT_THAT(ErrorOf([&] { top.Update(Labels({1}), Labels({1})); }), HasSubstr("want scores"));
  EXPECT_THAT(ErrorOf([&] { top.Merge(TopKAccuracy({.k = 2})); }), HasSubstr("cannot merge"));
  EXPECT_EQ(top.count(), 0);
  top.Update(Zeros({2, 4}), Labels({0, 9}));
  EXPECT_EQ(top.count(), 1);
}

}  // namespace
}  // namespace firn::io

#include "firn/io/metrics/auc.h"

#include <cmath>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::HasSubstr;

TEST(AucTest, IsTheShareOfPairsInOrderAndTiesCountHalf) {
  Auc auc;
  EXPECT_TRUE(std::isnan(auc.Value()));
  // scikit-learn's example of roc_auc_score.
  auc.Update(FromVector<float>({.1f, .4f, .35f, .8f}), FromVector<int64_t>({0, 0, 1, 1}));
  EXPECT_EQ(auc.Value(), 0.75);
  auc.Reset();
  auc.Update(FromVector<double>({1, 1, 1}, {3, 1}),
             FromVector(std::vector<bool>{true, false, true}));
  EXPECT_EQ(auc.Value(), 0.5);
  auc.Reset();
  auc.Update(FromVector<double>({1, 2}), FromVector<int64_t>({1, 1}));
  EXPECT_TRUE(std::isnan(auc.Value()));  // no negative one
}

TEST(AucTest, AgreesWithAllPairsAndMergesToTheSame) {
  const Tensor scores = Round(Randn({300}) * 3);  // with many ties
  const Tensor labels = Randint(0, 2, {300});
  const std::vector<double> s = scores.ToVector<double>();
  const std::vector<int64_t> y = labels.ToVector<int64_t>();
  double sum = 0, pairs = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    for (size_t j = 0; j < s.size(); ++j) {
      if (y[i] != 1 || y[j] != 0) continue;
      sum += s[i] > s[j] ? 1 : s[i] == s[j] ? 0.5 : 0;
      ++pairs;
    }
  }
  Auc whole, first, second;
  whole.Update(scores, labels);
  EXPECT_DOUBLE_EQ(whole.Value(), sum / pairs);
  first.Update(scores[{Range(0, 100)}], labels[{Range(0, 100)}]);
  second.Update(scores[{Range(100, 300)}], labels[{Range(100, 300)}]);
  first.Merge(second);
  EXPECT_EQ(first.Value(), whole.Value());
  first.Merge(first);
  EXPECT_DOUBLE_EQ(first.Value(), whole.Value());
}

// The targets of BinaryCrossEntropyWithLogits are floats in the shape of the scores.
TEST(AucTest, TakesLabelsAsLossesWantThem) {
  Auc integers, floats;
  const Tensor scores = FromVector<float>({0.25f, 2, -1, 0.5f}).Reshape({4, 1});
  integers.Update(scores, FromVector<int64_t>({0, 1, 0, 0}));
  floats.Update(scores, FromVector<float>({0, 1, 0, 0}).Reshape({4, 1}));
  EXPECT_EQ(floats.Value(), integers.Value());
  EXPECT_THAT(ErrorOf([&] {
                floats.Update(scores, Full({4, 1}, 0.5));
              }),
              HasSubstr("a label is 0.5 (want 0 or 1)"));
}

TEST(AucTest, RefusesWhatDoesNotFitAndKeepsWhatItHas) {
  Auc auc;
  auc.Update(FromVector<float>({0, 1}), FromVector<int64_t>({0, 1}));
  EXPECT_THAT(ErrorOf([&] {
                auc.Update(Zeros({2, 2}), Zeros({2}, DType::kI64));
              }),
              HasSubstr("want scores [N] or [N, 1]"));
  EXPECT_THAT(ErrorOf([&] { auc.Update(Zeros({2}), Zeros({3}, DType::kI64)); }),
              HasSubstr("labels are [3] i64 (want 2 of them)"));
  EXPECT_THAT(ErrorOf([&] {
                auc.Update(Zeros({2}), FromVector<int64_t>({0, 2}));
              }),
              HasSubstr("a label is 2 (want 0 or 1)"));
  EXPECT_THAT(ErrorOf([&] { auc.Update(Full({1}, std::nan("")), FromVector<int64_t>({0})); }),
              HasSubstr("Auc: score 0 is NaN: the network has diverged"));
  EXPECT_EQ(auc.Value(), 1);
}

}  // namespace
}  // namespace firn::io

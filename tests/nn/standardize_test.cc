// The layer's means and deviations are those of its data, and every copy has them.
#include "firn/nn/standardize.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/clone.h"
#include "firn/nn/sequential.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::FloatEq;
using ::testing::FloatNear;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Columns 1, 3, 5, 7 (mean 4, variance 5) and 2, 2, 2, 2.
Tensor Rows() { return FromVector(std::vector<float>{1, 2, 3, 2, 5, 2, 7, 2}, {4, 2}); }

TEST(StandardizeTest, TakesMeansAndDeviationsOfTheFeatures) {
  Standardize scale;
  EXPECT_THAT(ErrorOf([&] { scale(Rows()); }),
              HasSubstr("there are no means and deviations yet (Fit or Update takes them"));
  scale.Fit(Rows());
  EXPECT_THAT(scale.mean().ToVector<float>(), ElementsAre(4, 2));
  EXPECT_THAT(scale.std().ToVector<float>(), ElementsAre(FloatEq(std::sqrt(5.0f)), 1));
  const float s = std::sqrt(5.0f);
  EXPECT_THAT(scale(FromVector(std::vector<float>{4, 2, 9, 0}, {2, 2})).ToVector<float>(),
              ElementsAre(0, 0, FloatEq(5 / s), -2));
  EXPECT_EQ(scale.Describe(), "2");
}

TEST(StandardizeTest, BatchesAreAsGoodAsAllRowsAtOnce) {
  Standardize scale;
  scale.Update(FromVector(std::vector<float>{1, 2, 3, 2}, {2, 2}));
  scale.Update(FromVector(std::vector<float>{5, 2, 7, 2}, {1, 2, 2}));
  EXPECT_THAT(scale.mean().ToVector<float>(), ElementsAre(4, 2));
  EXPECT_THAT(scale.std().ToVector<float>(), ElementsAre(FloatEq(std::sqrt(5.0f)), 1));
  scale.Fit(FromVector(std::vector<float>{1, 1}, {1, 2}));
  EXPECT_THAT(scale.mean().ToVector<float>(), ElementsAre(1, 1));
  // Sums of squares would lose the whole variance.
  scale.Fit(FromVector(std::vector<double>{1e9, 0, 1e9 + 1, 0}, {2, 2}));
  EXPECT_THAT(scale.std().ToVector<float>(), ElementsAre(0.5, 1));
}

TEST(StandardizeTest, MissingValuesAreTheMeanWhereThatIsAskedFor) {
  const Tensor rows = FromVector(std::vector<float>{1, kNan, kNan, 3, 5, 5}, {3, 2});
  Standardize strict;
  EXPECT_THAT(ErrorOf([&] { strict.Fit(rows); }),
              HasSubstr("expected finite values, x has nan (StandardizeOptions::fill_missing)"));
  EXPECT_THAT(ErrorOf([&] { strict(rows); }), HasSubstr("no means"));  // nothing has changed
  Standardize scale({.fill_missing = true});
  scale.Fit(rows);
  EXPECT_THAT(scale.mean().ToVector<float>(), ElementsAre(3, 4));
  EXPECT_THAT(scale(rows).ToVector<float>(), ElementsAre(-1, 0, 0, -1, 1, 1));
}

TEST(StandardizeTest, RefusesWhatHasOtherFeatures) {
  Standardize scale;
  EXPECT_THAT(ErrorOf([&] { scale.Fit(Zeros({0, 2})); }), HasSubstr("expected rows of features"));
  scale.Fit(Rows());
  EXPECT_EQ(ErrorOf([&] {
              scale.Fit(Zeros({2, 3}));
            }),
            "nn::Standardize: has 2 features, x is [2, 3]");
  EXPECT_THAT(ErrorOf([&] {
                scale.Update(Full({2, 2}, std::numeric_limits<double>::infinity()));
              }),
              HasSubstr("expected finite values, x has inf"));
  EXPECT_THAT(scale.mean().ToVector<float>(), ElementsAre(4, 2));
}

// The buffers are f32, whatever dtype the rows have.
TEST(StandardizeTest, NumbersThatF32CannotHoldAreRefusedOrTooSmallToDivideBy) {
  Standardize scale;
  const Tensor near = FromVector(std::vector<float>{0, 1.4e-45f}, {2, 1});
  scale.Fit(near);  // a deviation of half the smallest f32
  EXPECT_THAT(scale.std().ToVector<float>(), ElementsAre(1));
  EXPECT_THAT(scale(near).ToVector<float>(), Each(FloatNear(0, 1e-40f)));
  scale.Fit(FromVector(std::vector<double>{1, 3}, {2, 1}));
  EXPECT_THAT(ErrorOf([&] {
                scale.Fit(FromVector(std::vector<double>{1e39, 1e39}, {2, 1}));
              }),
              HasSubstr("expected means and deviations that f32 can hold, feature 0 of x has 1e+39 "
                        "and 0"));
  EXPECT_THAT(ErrorOf([&] {
                scale.Update(FromVector(std::vector<double>{-1e39, 1e39}, {2, 1}));
              }),
              HasSubstr("expected means and deviations that f32 can hold"));
  // This holds even if the sums themselves are infinite.
  EXPECT_THAT(ErrorOf([&] {
                scale.Fit(FromVector(std::vector<double>{-1.7e308, 1.7e308}, {2, 1}));
              }),
              HasSubstr("expected means and deviations that f32 can hold"));
  EXPECT_THAT(scale.mean().ToVector<float>(), ElementsAre(2));
  scale.Update(FromVector(std::vector<double>{1, 3}, {2, 1}));
  EXPECT_THAT(scale.std().ToVector<float>(), ElementsAre(1));
}

TEST(StandardizeTest, StateDictsClonesAndGraphsHaveTheNumbers) {
  Sequential net;
  auto& scale = net.Append<Standardize>({.fill_missing = true});
  scale.Fit(Rows());
  const Tensor x = FromVector(std::vector<float>{9, kNan}, {1, 2});
  const std::vector<float> y = net(x).ToVector<float>();
  EXPECT_EQ(net.state_dict().size(), 2u);
  EXPECT_TRUE(net.parameters().empty());

  Standardize loaded({.fill_missing = true});
  loaded.LoadStateDict(scale.state_dict());
  EXPECT_EQ(loaded(x).ToVector<float>(), y);
  const auto clone = Clone(scale);
  EXPECT_EQ((*clone)(x).ToVector<float>(), y);
  StaticGraph graph = Freeze([&](const Tensor& t) { return net(t); }, Zeros({1, 2}));
  EXPECT_EQ(graph(x).ToVector<float>(), y);
}

}  // namespace
}  // namespace firn::nn

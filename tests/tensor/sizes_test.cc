#include "firn/tensor/sizes.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/error_of.h"

namespace firn {
namespace {

TEST(SizesTest, OneNumberHoldsForEveryDimension) {
  const Sizes one = 3;
  EXPECT_EQ(one.count(), 1);
  EXPECT_EQ(one[2], 3);
  EXPECT_TRUE(one.Fits(1) && one.Fits(2) && one.Fits(3));
  EXPECT_EQ(one.Over(3), Sizes(3, 3, 3));
  EXPECT_NE(one, Sizes(3, 3));
}

TEST(SizesTest, SeveralFitOnlyTheirNumberOfDimensions) {
  const Sizes two = {4, 5};
  EXPECT_EQ(two[0], 4);
  EXPECT_EQ(two[1], 5);
  EXPECT_FALSE(two.Fits(1) || two.Fits(3));
  EXPECT_EQ(two.Over(2), two);
  EXPECT_EQ(two.Lifted(3, 1), Sizes(1, 4, 5));
  EXPECT_EQ(two.volume(), 20);
}

TEST(SizesTest, EachIsOneNumberForSoManyDimensions) {
  EXPECT_EQ(Sizes::Each(2, 7), Sizes(7, 7));
  const Sizes three(1, 2, 3);
  const absl::Span<const int64_t> numbers = three.span();
  EXPECT_EQ(std::vector<int64_t>(numbers.begin(), numbers.end()), (std::vector<int64_t>{1, 2, 3}));
}

TEST(SizesTest, NoNumbersFitNothing) {
  const Sizes none;
  EXPECT_EQ(none.count(), 0);
  EXPECT_FALSE(none.Fits(0) || none.Fits(1));
  EXPECT_TRUE(none.Are(7));
  EXPECT_EQ(none.ToString(), "()");
}

TEST(SizesTest, WhatIsNotGivenIsTheStandard) {
  EXPECT_FALSE(Sizes().given());
  EXPECT_TRUE(Sizes(0).given());
  EXPECT_EQ(Sizes().Or({3, 4}), Sizes(3, 4));
  EXPECT_EQ(Sizes(2).Or({3, 4}), Sizes(2));
}

TEST(SizesTest, AreComparesEveryNumber) {
  EXPECT_TRUE(Sizes(2, 2).Are(2));
  EXPECT_FALSE(Sizes(2, 3).Are(2));
}

TEST(SizesTest, PrintsItsNumbers) {
  EXPECT_EQ(Sizes(-1).ToString(), "-1");
  EXPECT_EQ(Sizes(1, 2, 3).ToString(), "(1, 2, 3)");
}

TEST(SizesTest, RefusesListsOfMoreThanThree) {
  EXPECT_EQ(Sizes(std::vector<int64_t>{1, 2, 3}), Sizes(1, 2, 3));
  EXPECT_EQ(testing::ErrorOf([] {
              Sizes(std::vector<int64_t>{1, 2, 3, 4});
            }),
            "Sizes: 4 numbers, want 1 to 3");
}

}  // namespace
}  // namespace firn

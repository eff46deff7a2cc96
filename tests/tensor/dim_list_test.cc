// One dimension, several or none: every way to write them, for every function that takes them.

#include "firn/tensor/dim_list.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using Ints = std::vector<int64_t>;

Ints Entries(const DimList& dims) { return Ints(dims.begin(), dims.end()); }

TEST(DimListTest, IsMadeFromWhatCallersHave) {
  const int i = -1;
  const size_t n = 2;
  const Ints vector = {0, 2};
  EXPECT_EQ(Entries(0), (Ints{0}));  // not a null pointer
  EXPECT_EQ(Entries(i), (Ints{-1}));
  EXPECT_EQ(Entries(int64_t{1}), (Ints{1}));
  EXPECT_EQ(Entries(n), (Ints{2}));
  EXPECT_EQ(Entries({}), Ints());
  EXPECT_EQ(Entries({1}), (Ints{1}));
  EXPECT_EQ(Entries({1, -2}), (Ints{1, -2}));
  EXPECT_EQ(Entries({i, 0}), (Ints{-1, 0}));
  EXPECT_EQ(Entries(vector), vector);
  EXPECT_EQ(Entries(absl::MakeConstSpan(vector)), vector);
  EXPECT_EQ(Entries(std::array<int64_t, 2>{3, 4}), (Ints{3, 4}));
}

// Sum(x, true) would otherwise sum over dimension 1, and Sum(x, 0.5) over dimension 0.
TEST(DimListTest, IsNotMadeFromFlagsAndFractions) {
  static_assert(!std::is_convertible_v<bool, DimList>);
  static_assert(!std::is_convertible_v<double, DimList>);
  static_assert(!std::is_convertible_v<int*, DimList>);
}

TEST(DimListTest, CopiesNeedNoMemory) {
  static_assert(std::is_trivially_destructible_v<DimList>);
  static_assert(std::is_nothrow_copy_constructible_v<DimList>);
}

TEST(DimListTest, RefusesMoreThanATensorHas) {
  EXPECT_EQ(Entries({0, 1, 2, 3, 4, 5, 6, 7}).size(), 8u);
  EXPECT_EQ(
      testing::ErrorOf([] {
        Sum(Ones({2}), {0, 1, 2, 3, 4, 5, 6, 7, 8});
      }),
      "dims: a tensor has at most 8 dimensions, the list {0, 1, 2, 3, 4, 5, 6, 7, 8} names 9");
}

// The results of a function for one dimension, and for the list of it.
struct Pair {
  const char* name;
  Tensor one, list;
};

TEST(DimListTest, OneDimensionMeansTheListOfIt) {
  const Tensor x = FromVector<double>({1, 2, 3, 4, 5, 7}, {2, 3});
  const Tensor thin = Reshape(x, {2, 1, 3});
  const Pair pairs[] = {
      {"sum", Sum(x, 1), Sum(x, {1})},
      {"mean", Mean(x, 1), Mean(x, {1})},
      {"prod", Prod(x, 1), Prod(x, {1})},
      {"amax", Amax(x, 1), Amax(x, {1})},
      {"amin", Amin(x, 1), Amin(x, {1})},
      {"any", Any(x, 1), Any(x, {1})},
      {"all", All(x, 1), All(x, {1})},
      {"logsumexp", Logsumexp(x, 1), Logsumexp(x, {1})},
      {"norm", Norm(x, 2, 1), Norm(x, 2, {1})},
      {"var", Var(x, 1), Var(x, {1})},
      {"std", Std(x, 1), Std(x, {1})},
      {"var_mean", VarMean(x, 1).mean, VarMean(x, {1}).mean},
      {"flip", Flip(x, 1), Flip(x, {1})},
      {"squeeze", Squeeze(thin, 1), Squeeze(thin, {1})},
      {"movedim", Movedim(thin, 0, 2), Movedim(thin, {0}, {2})},
  };
  for (const Pair& p : pairs) EXPECT_TRUE(p.one.Equals(p.list)) << p.name;
  EXPECT_EQ(Sum(x, 1).ToVector<double>(), (std::vector<double>{6, 16}));
}

// The second argument is the dimension, also where a correction or a flag follows.
TEST(DimListTest, LaterArgumentsKeepTheirMeaning) {
  const Tensor x = FromVector<double>({1, 3, 2, 8}, {2, 2});
  EXPECT_EQ(Std(x, 1, 0).ToVector<double>(), (std::vector<double>{1, 3}));
  EXPECT_EQ(Std(x, {1}, 0).ToVector<double>(), (std::vector<double>{1, 3}));
  EXPECT_EQ(Std(x, 0, 0).ToVector<double>(), (std::vector<double>{0.5, 2.5}));
  EXPECT_EQ(Sum(x, 0, true).shape(), Shape({1, 2}));
  EXPECT_EQ(Sum(x, {0, 1}, true).shape(), Shape({1, 1}));
  EXPECT_EQ(Sum(x, {}, true).shape(), Shape({1, 1}));
  EXPECT_EQ(Norm(x, 1, {}, true).ToVector<double>(), (std::vector<double>{14}));
}

// Also as methods, and as functions that take a span.
TEST(DimListTest, IsWhatMethodsAndSpansTake) {
  const Tensor x = FromVector<double>({1, 3, 2, 8}, {2, 2});
  EXPECT_EQ(x.Sum(1).ToVector<double>(), (std::vector<double>{4, 10}));
  EXPECT_EQ(x.Mean({0, 1}, true).ToVector<double>(), (std::vector<double>{3.5}));
  EXPECT_EQ(x.Mean().Item(), 3.5);
  EXPECT_EQ(x.Permute({1, 0}).ToVector<double>(), (std::vector<double>{1, 2, 3, 8}));
  EXPECT_EQ(x.Unsqueeze(1).Squeeze(1).shape(), Shape({2, 2}));
  const DimList dims = {0, 1};
  EXPECT_EQ(dims.data()[1], 1);
  EXPECT_EQ(absl::Span<const int64_t>(dims).size(), 2u);
}

}  // namespace
}  // namespace firn

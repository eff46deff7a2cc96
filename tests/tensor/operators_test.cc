// The operators that integers and bool tensors have beside arithmetic and comparisons. The values
// are those of Python's integers.

#include "firn/tensor/operators.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using Integers = std::vector<int32_t>;
using Flags = std::vector<bool>;

// The elements of an i32 tensor.
Integers Of(const Tensor& t) {
  EXPECT_EQ(t.dtype(), DType::kI32);
  return t.ToVector<int32_t>();
}

TEST(OperatorsTest, BitsOfIntegers) {
  const Tensor x = FromVector<int32_t>({5, -7, 12}), y = FromVector<int32_t>({3, 2, 10});
  const Tensor places = FromVector<int32_t>({1, 2, 3});
  EXPECT_EQ(Of(x & y), (Integers{1, 0, 8}));
  EXPECT_EQ(Of(x | y), (Integers{7, -5, 14}));
  EXPECT_EQ(Of(x ^ y), (Integers{6, -5, 6}));
  EXPECT_EQ(Of(~x), (Integers{-6, 6, -13}));
  EXPECT_EQ(Of(x << places), (Integers{10, -28, 96}));
  EXPECT_EQ(Of(x >> places), (Integers{2, -2, 1}));
}

TEST(OperatorsTest, RemaindersHaveTheSignOfTheDivisor) {
  const Tensor x = FromVector<int32_t>({5, -7, 12}), y = FromVector<int32_t>({3, 2, -10});
  EXPECT_EQ(Of(x % y), (Integers{2, 1, -8}));
  EXPECT_EQ(Of(x % 5), (Integers{0, 3, 2}));
  EXPECT_EQ(Of(17 % y), (Integers{2, 1, -3}));
  EXPECT_EQ((x % 1.5).ToVector<double>(), (std::vector<double>{0.5, 0.5, 0}));
}

TEST(OperatorsTest, EitherSideMayBeANumber) {
  const Tensor x = FromVector<int32_t>({5, -7, 12}), places = FromVector<int32_t>({0, 1, 4});
  EXPECT_EQ(Of(x & 4), (Integers{4, 0, 4}));
  EXPECT_EQ(Of(4 & x), (Integers{4, 0, 4}));
  EXPECT_EQ(Of(x | 6), (Integers{7, -1, 14}));
  EXPECT_EQ(Of(6 | x), (Integers{7, -1, 14}));
  EXPECT_EQ(Of(x ^ 1), (Integers{4, -8, 13}));
  EXPECT_EQ(Of(1 ^ x), (Integers{4, -8, 13}));
  EXPECT_EQ(Of(x << 2), (Integers{20, -28, 48}));
  EXPECT_EQ(Of(1 << places), (Integers{1, 2, 16}));
  EXPECT_EQ(Of(x >> 1), (Integers{2, -4, 6}));
  EXPECT_EQ(Of(64 >> places), (Integers{64, 32, 4}));
}

TEST(OperatorsTest, BoolsAreCombinedByLogic) {
  const Tensor x = FromVector<int32_t>({0, 1, 2, 3});
  const Tensor high = x > 1, odd = x % 2 == 1;
  EXPECT_EQ((high & odd).dtype(), DType::kBool);
  EXPECT_EQ((high & odd).ToVector<bool>(), (Flags{false, false, false, true}));
  EXPECT_EQ((high | odd).ToVector<bool>(), (Flags{false, true, true, true}));
  EXPECT_EQ((high ^ odd).ToVector<bool>(), (Flags{false, true, true, false}));
  EXPECT_EQ((~high).ToVector<bool>(), (Flags{true, true, false, false}));
  EXPECT_EQ((high & true).ToVector<bool>(), (Flags{false, false, true, true}));
  EXPECT_EQ((x[3] & ~x[1]).Item<int32_t>(), 2);
}

TEST(OperatorsTest, FloatsHaveNoBits) {
  const Tensor x = FromValues({1.0f, 2.0f});
  EXPECT_THROW(x & x, Error);
  EXPECT_THROW(x | 1, Error);
  EXPECT_THROW(~x, Error);
  EXPECT_THROW(x << 1, Error);
}

TEST(OperatorsTest, StreamsStillPrint) {
  const Tensor x = FromVector<int32_t>({5, -7});
  std::ostringstream out;
  out << x << ' ' << (x << 1);
  EXPECT_EQ(out.str(), x.ToString() + " " + (x << 1).ToString());
}

}  // namespace
}  // namespace firn

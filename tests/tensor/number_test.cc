// Numbers beside a dtype: integers that a double would round arrive as they are.
#include "firn/tensor/number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using inner::Number;

constexpr int64_t kOdd = 9007199254740993;  // 2^53 + 1
constexpr int64_t kLargest = INT64_MAX, kSmallest = INT64_MIN;
using Integers = std::vector<int64_t>;

Integers Of(const Tensor& t) { return t.ToVector<int64_t>(); }

TEST(NumberTest, KeepsIntegers) {
  for (const int64_t v : {int64_t{0}, int64_t{-7}, kOdd, -kOdd, kLargest, kSmallest, kLargest - 1,
                          kSmallest + 1, int64_t{1} << 62, (int64_t{1} << 62) + 1}) {
    const Number n(v);
    EXPECT_EQ(n.value(), static_cast<double>(v));
    EXPECT_EQ(n.is_double() ? static_cast<int64_t>(n.value()) : n.integer(), v);
    EXPECT_EQ(Of(Full({1}, v, DType::kI64)), (Integers{v}));
  }
  EXPECT_TRUE(Number(0.5).is_double());
  EXPECT_TRUE(Number(1e300).is_double());
  EXPECT_EQ(Number(std::numeric_limits<uint64_t>::max()).integer(), kLargest);
  EXPECT_EQ(Of(Full({1}, uint64_t{1} << 63, DType::kI64)), (Integers{kLargest}));
}

TEST(NumberTest, FillsExactly) {
  EXPECT_EQ(Of(Full({2}, kOdd, DType::kI64)), (Integers{kOdd, kOdd}));
  Tensor x = FromVector<int64_t>({1, 2, 3});
  EXPECT_EQ(Of(FullLike(x, -kOdd)), (Integers{-kOdd, -kOdd, -kOdd}));
  x[{Range(0, 1)}].Fill(kOdd);
  EXPECT_EQ(Of(x), (Integers{kOdd, 2, 3}));
  x[2].Fill(Half(3));
  EXPECT_EQ(Of(x), (Integers{kOdd, 2, 3}));
  x[1] = kLargest;
  EXPECT_EQ(Of(x), (Integers{kOdd, kLargest, 3}));
  x.Fill(kOdd + 2);
  EXPECT_EQ(Of(x), (Integers(3, kOdd + 2)));
  EXPECT_EQ(Of(Pad(FromVector<int64_t>({1}), {1, 1}, {.value = kOdd})), (Integers{kOdd, 1, kOdd}));
}

TEST(NumberTest, OtherDtypesTakeTheNearestOrTheEndOfTheirRange) {
  EXPECT_EQ(Full({1}, kOdd, DType::kI32).ToVector<int64_t>()[0], INT32_MAX);
  EXPECT_EQ(Full({1}, kSmallest + 1, DType::kI8).ToVector<int64_t>()[0], -128);
  EXPECT_EQ(Full({1}, -1, DType::kU8).ToVector<int64_t>()[0], 0);
  EXPECT_EQ(Full({1}, kOdd, DType::kF64).Item(), 9007199254740992.0);
  EXPECT_TRUE(Full({1}, kOdd, DType::kBool).Item<bool>());
  EXPECT_EQ(Full({1}, std::numeric_limits<uint64_t>::max(), DType::kF32).Item<float>(), 0x1p64f);
  // By way of a double it would become 2^60.
  const int64_t above = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
  EXPECT_EQ(Full({1}, above, DType::kF32).Item<float>(), static_cast<float>(above));
}

TEST(NumberTest, ArithmeticAndComparisonsWithANumberAreExact) {
  const Tensor x = FromVector<int64_t>({kOdd, kOdd - 1, 0});
  EXPECT_EQ(Of(x + kOdd), (Integers{2 * kOdd, 2 * kOdd - 1, kOdd}));
  EXPECT_EQ(Of(kOdd - x), (Integers{0, 1, kOdd}));
  EXPECT_EQ(Of(Add(x, FromVector<int64_t>({0, 1, 2}), kOdd)),
            (Integers{kOdd, 2 * kOdd - 1, 2 * kOdd}));
  EXPECT_EQ(Of(Sub(x, FromVector<int64_t>({0, 1, 1}), kOdd)), (Integers{kOdd, -1, -kOdd}));
  const uint64_t beyond = std::numeric_limits<uint64_t>::max();  // of a float as of a double
  EXPECT_EQ(Add(Full({1}, 0.5), Full({1}, 2), beyond).Item(), 0x1p65);
  EXPECT_EQ(Sub(Full({1}, 0.5), Full({1}, 2), beyond).Item(), -0x1p65);
  EXPECT_EQ(Of(IndexAdd(x, 0, FromVector<int64_t>({2}), FromVector<int64_t>({1}), kOdd)),
            (Integers{kOdd, kOdd - 1, kOdd}));
  EXPECT_EQ(Of(Eq(x, kOdd)), (Integers{1, 0, 0}));
  EXPECT_EQ(Of(Ge(x, kOdd)), (Integers{1, 0, 0}));
  EXPECT_EQ(Of(Clamp(x, kOdd, kLargest)), (Integers{kOdd, kOdd, kOdd}));
  EXPECT_EQ(Of(Where(Eq(x, 0), kOdd, x)), (Integers{kOdd, kOdd - 1, kOdd}));
  EXPECT_EQ(Of(MaskedFill(x, Eq(x, 0), kOdd)), (Integers{kOdd, kOdd - 1, kOdd}));
  EXPECT_EQ(Of(Maximum(x, kOdd)), (Integers{kOdd, kOdd, kOdd}));
  EXPECT_EQ(Of(Remainder(x, kOdd)), (Integers{0, kOdd - 1, 0}));
}

TEST(NumberTest, RangesEndWhereTheyShould) {
  EXPECT_EQ(Of(Arange(kOdd, kOdd + 3)), (Integers{kOdd, kOdd + 1, kOdd + 2}));
  EXPECT_EQ(Of(Linspace(kOdd, kOdd + 4, 3, DType::kI64)), (Integers{kOdd, kOdd + 2, kOdd + 4}));
  EXPECT_EQ(Of(Linspace(-kOdd, -kOdd - 2, 3, DType::kI64)),
            (Integers{-kOdd, -kOdd - 1, -kOdd - 2}));
  // Towards zero, whichever way.
  const Integers up = {kOdd, kOdd + 1, kOdd + 2, kOdd + 4};
  EXPECT_EQ(Of(Linspace(kOdd, kOdd + 4, 4, DType::kI64)), up);
  EXPECT_EQ(Of(Linspace(kOdd + 4, kOdd, 4, DType::kI64)), Integers(up.rbegin(), up.rend()));
  EXPECT_EQ(Of(Linspace(-kOdd, -kOdd - 4, 4, DType::kI64)), Of(Neg(FromVector(up))));
  EXPECT_EQ(Of(Linspace(-kOdd - 4, -kOdd, 4, DType::kI64)),
            Of(Neg(FromVector(Integers(up.rbegin(), up.rend())))));
}

TEST(NumberTest, NoTensorIsMadeOfAnIntegerThatNoDtypeHolds) {
  EXPECT_EQ(testing::ErrorOf([] { Tensor t(std::numeric_limits<uint64_t>::max()); }),
            "number: no dtype holds the integer 18446744073709551615; the largest is "
            "9223372036854775807");
  EXPECT_EQ(Tensor(uint64_t{kLargest}).Item<int64_t>(), kLargest);
}

}  // namespace
}  // namespace firn

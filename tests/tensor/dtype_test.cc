#include "firn/tensor/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "firn/device/inner.h"

namespace firn {
namespace {

// The table of torch.promote_types, except for u8 with i8: PyTorch gives i16.
TEST(DTypeTest, PromotesAsWritten) {
  const std::vector<std::string> names = {"f32", "f64", "f16", "bf16", "i8",
                                          "i32", "i64", "u8",  "bool"};
  const std::vector<std::string> table = {
      // f32  f64 f16  bf16 i8   i32  i64  u8   bool
      "f32 f64 f32 f32 f32 f32 f32 f32 f32",        // f32
      "f64 f64 f64 f64 f64 f64 f64 f64 f64",        // f64
      "f32 f64 f16 f32 f16 f16 f16 f16 f16",        // f16
      "f32 f64 f32 bf16 bf16 bf16 bf16 bf16 bf16",  // bf16
      "f32 f64 f16 bf16 i8 i32 i64 i32 i8",         // i8
      "f32 f64 f16 bf16 i32 i32 i64 i32 i32",       // i32
      "f32 f64 f16 bf16 i64 i64 i64 i64 i64",       // i64
      "f32 f64 f16 bf16 i32 i32 i64 u8 u8",         // u8
      "f32 f64 f16 bf16 i8 i32 i64 u8 bool",        // bool
  };
  ASSERT_EQ(table.size(), static_cast<size_t>(kNumDTypes));
  for (int a = 0; a < kNumDTypes; ++a) {
    EXPECT_EQ(DTypeName(static_cast<DType>(a)), names[static_cast<size_t>(a)]);
    std::istringstream row(table[static_cast<size_t>(a)]);
    for (int b = 0; b < kNumDTypes; ++b) {
      std::string want;
      row >> want;
      EXPECT_EQ(DTypeName(Promote(static_cast<DType>(a), static_cast<DType>(b))), want)
          << static_cast<DType>(a) << " with " << static_cast<DType>(b);
    }
  }
}

TEST(DTypeTest, SizesAreThoseOfTheTypes) {
  for (int d = 0; d < kNumDTypes; ++d) {
    VisitDType(static_cast<DType>(d), [&]<class T>(TypeTag<T>) {
      EXPECT_EQ(DTypeOf<T>(), static_cast<DType>(d));
      EXPECT_EQ(static_cast<size_t>(SizeOf(DTypeOf<T>())), sizeof(T));
      EXPECT_EQ(IsIntegral(DTypeOf<T>()), std::is_integral_v<T> && !(std::is_same_v<T, bool>));
    });
  }
}

TEST(DTypeTest, SetsAreDescribedInWords) {
  EXPECT_EQ(DTypeNames(kFloating), "f32, f64, f16 or bf16");
  EXPECT_EQ(DTypeNames(kIndex), "i32 or i64");
  EXPECT_EQ(DTypeNames(kBoolean), "bool");
}

TEST(DTypeTest, HalfRoundsToNearestEven) {
  EXPECT_EQ(Half(1.0f).bits, 0x3c00);
  EXPECT_EQ(Half(1.0f + 0x1p-11f).bits, 0x3c00);      // half way: down to the even one
  EXPECT_EQ(Half(1.0f + 3 * 0x1p-11f).bits, 0x3c02);  // half way: up to the even one
  EXPECT_EQ(Half(1.0f + 0x1.002p-11f).bits, 0x3c01);  // just above half way
  EXPECT_EQ(Half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);  // rounds to infinity
  EXPECT_EQ(Half(0x1p-24f).bits, 0x0001);  // the smallest subnormal
  EXPECT_EQ(Half(0x1p-25f).bits, 0x0000);  // half of it: to the even one
  EXPECT_EQ(Half(0x1.8p-24f).bits, 0x0002);
  EXPECT_EQ(Half(-0.0f).bits, 0x8000);
  EXPECT_EQ(Half(-std::numeric_limits<float>::infinity()).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(NAN))));
}

TEST(DTypeTest, BFloat16RoundsToNearestEven) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1.0f + 0x1p-8f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1.0f + 3 * 0x1p-8f).bits, 0x3f82);
  EXPECT_EQ(BFloat16(1.0f + 0x1.0002p-8f).bits, 0x3f81);
  EXPECT_EQ(BFloat16(3.4028235e38f).bits, 0x7f80);  // rounds to infinity
  EXPECT_EQ(BFloat16(-0.0f).bits, 0x8000);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(NAN))));
  // A NaN whose payload is in the lower half only must not become an infinity.
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001u)))));
}

TEST(DTypeTest, HalfTypesSurviveTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half h;
    h.bits = static_cast<uint16_t>(bits);
    BFloat16 b;
    b.bits = static_cast<uint16_t>(bits);
    if (!std::isnan(static_cast<float>(h))) {
      ASSERT_EQ(Half(static_cast<float>(h)).bits, bits);
    }
    if (!std::isnan(static_cast<float>(b))) {
      ASSERT_EQ(BFloat16(static_cast<float>(b)).bits, bits);
    }
  }
}

}  // namespace
}  // namespace firn

// Sizes that no tensor can have, as a caller gives them.

#include "firn/tensor/shape.h"

#include <gtest/gtest.h>

#include "firn/tensor/ops/create/constant.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

constexpr int64_t kHuge = int64_t{1} << 40;

TEST(ShapeTest, RefusesProductsThatOverflow) {
  const std::string message = ErrorOf([] { Zeros({kHuge, kHuge}); });
  EXPECT_NE(message.find("overflows"), std::string::npos) << message;
  EXPECT_NE(message.find("[1099511627776, 1099511627776]"), std::string::npos) << message;
}

TEST(ShapeTest, RefusesNegativeSizes) {
  const std::string message = ErrorOf([] { Zeros({2, -1}); });
  EXPECT_NE(message.find("negative size"), std::string::npos) << message;
  EXPECT_NE(message.find("[2, -1]"), std::string::npos) << message;
}

TEST(ShapeTest, RefusesANinthDimension) {
  const std::string message = ErrorOf([] { Zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}); });
  EXPECT_NE(message.find("8 dimensions"), std::string::npos) << message;
}

TEST(ShapeTest, RefusesMoreBytesThanAnyMachineHas) {
  const std::string message = ErrorOf([] { Zeros({kHuge, 1 << 20}); });
  EXPECT_NE(message, "");
}

}  // namespace
}  // namespace firn

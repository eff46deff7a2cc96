#include "firn/device/product_rest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace firn::inner {
namespace {

TEST(ProductRestTest, IsWhatRoundingLost) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-300, 300);
  for (int i = 0; i < 100000; ++i) {
    const double a = std::ldexp(mantissa(random), exponent(random));
    const double b = std::ldexp(mantissa(random), exponent(random) / 2);
    const double p = RoundedProduct(a, b);
    ASSERT_EQ(ProductRest(a, b, p), std::fma(a, b, -p)) << a << " * " << b;
  }
  EXPECT_EQ(ProductRest(3.0, 5.0, 15.0), 0);
  EXPECT_EQ(ProductRest(1 + 0x1p-30, 1 + 0x1p-30, 1 + 0x1p-29), 0x1p-60);
}

TEST(ProductRestTest, OfFloats) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-40, 40);
  for (int i = 0; i < 100000; ++i) {
    const float a = std::ldexp(mantissa(random), exponent(random));
    const float b = std::ldexp(mantissa(random), exponent(random));
    const float p = RoundedProduct(a, b);
    ASSERT_EQ(ProductRest(a, b, p), std::fma(a, b, -p)) << a << " * " << b;
  }
}

}  // namespace
}  // namespace firn::inner

// The functions of registers against the standard library in double, over a sweep of all floats.
#include "tensor/kernels/cpu/vec_math.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tensor/from.h"
#include "tensor/ops/activation/sigmoids.h"
#include "tensor/ops/elementwise/special.h"
#include "tensor/tensor.h"
#include "tests/tensor/kernels/float_errors.h"

namespace firn::cpu {
namespace {

constexpr size_t kLanes = static_cast<size_t>(kSimdLanes<float>);

// f of all kinds of floats, a register of them at a time.
template <class F>
std::vector<float> Map(const std::vector<float>& x, const F& f) {
  std::vector<float> y;
  for (size_t i = 0; i < x.size(); i += kLanes) {
    Vec<float> v = {};
    for (size_t j = 0; j < kLanes; ++j) v[j] = x[std::min(i + j, x.size() - 1)];
    v = f(v);
    for (size_t j = 0; j < kLanes && i + j < x.size(); ++j) y.push_back(v[j]);
  }
  return y;
}

template <class F>
void ExpectAccurate(const F& f, double ulps, double (*exact)(double)) {
  const std::vector<float> x = math::AllKindsOfFloats(), y = Map(x, f);
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = exact(static_cast<double>(x[i]));
    ASSERT_LE(math::Ulps(y[i], want), ulps) << std::hexfloat << x[i] << ": " << y[i];
  }
}

double Integral(double x) { return 0.5 * std::erfc(x * -0.70710678118654752440); }
double Density(double x) { return std::exp(-0.5 * x * x) * 0.39894228040143268; }

TEST(VecMathTest, GeluIsAccurateEverywhere) {
  ExpectAccurate(GeluOfVec(), 1.96, [](double x) { return x * Integral(x); });
}

TEST(VecMathTest, ErfIsAccurateEverywhere) {
  ExpectAccurate(ErfOfVec(), 1.5, [](double x) { return std::erf(x); });
}

// Near its root two terms cancel, whose own errors show then. The density may be subnormal before x
// multiplies it, and its error with it.
TEST(VecMathTest, SlopeOfGeluIsAccurateToItsTerms) {
  const GeluGradOfVec grad;
  const std::vector<float> x = math::AllKindsOfFloats();
  const std::vector<float> y = Map(x, [&](Vec<float> v) { return grad(Vec<float>{} + 1.0f, v); });
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double at = static_cast<double>(x[i]), integral = Integral(at), rest = at * Density(at);
    if (std::isnan(integral + rest)) {
      EXPECT_TRUE(std::isnan(y[i])) << x[i];
      continue;
    }
    const double larger = std::max(std::abs(integral), std::abs(rest));
    int exponent;
    std::frexp(larger, &exponent);
    const double lost = Density(at) < 0x1p-126 ? std::abs(at) * 0x1p-150 : 0;
    const double unit = std::ldexp(1.0, std::max(exponent, -125) - 24) + lost;
    worst = std::max(worst, std::abs(static_cast<double>(y[i]) - (integral + rest)) / unit);
  }
  EXPECT_LE(worst, 2.93);
}

TEST(VecMathTest, KeepsSignsAndInfinities) {
  const std::vector<float> x = {-0.0f, -math::kInf, math::kInf, -100.0f,
                                3e38f, math::kNan,  0x1p-149f};
  const std::vector<float> gelu = Map(x, GeluOfVec()), erf = Map(x, ErfOfVec());
  EXPECT_TRUE(gelu[0] == 0 && std::signbit(gelu[0]));
  EXPECT_TRUE(std::isnan(gelu[1]));
  EXPECT_EQ(gelu[2], math::kInf);
  EXPECT_TRUE(gelu[3] == 0 && std::signbit(gelu[3]));
  EXPECT_EQ(gelu[4], 3e38f);
  EXPECT_TRUE(std::isnan(gelu[5]));
  EXPECT_FALSE(std::signbit(gelu[6]));
  EXPECT_TRUE(erf[0] == 0 && std::signbit(erf[0]));
  EXPECT_EQ(erf[1], -1.0f);
  EXPECT_EQ(erf[2], 1.0f);
  EXPECT_TRUE(std::isnan(erf[5]));
}

// The scalar functions differ in last bits. Rows end within a register, and some are short.
TEST(VecMathTest, IsWhatOperationsCompute) {
  if (!inner::internal::kFastLookUp) GTEST_SKIP() << "no fast look-up";
  std::vector<float> x;
  for (int i = 0; i < 1003; ++i) x.push_back(-6.0f + 0.0117f * static_cast<float>(i));
  const Tensor t = FromVector(x), columns = t.Reshape({17, 59}).Transpose(0, 1);
  EXPECT_EQ(Gelu(t).ToVector<float>(), Map(x, GeluOfVec()));
  EXPECT_EQ(Erf(t).ToVector<float>(), Map(x, ErfOfVec()));
  EXPECT_EQ(Gelu(columns).ToVector<float>(), Map(columns.ToVector<float>(), GeluOfVec()));
}

}  // namespace
}  // namespace firn::cpu

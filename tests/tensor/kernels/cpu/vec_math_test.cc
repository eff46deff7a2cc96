// The functions of registers against the standard library in double, over a sweep of all floats.
#include "firn/tensor/kernels/cpu/vec_math.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/elementwise/special.h"
#include "firn/tensor/tensor.h"
#include "gtest/gtest.h"
#include "tests/tensor/kernels/float_errors.h"

namespace firn::cpu {
namespace {

// f of all of x, a register of them at a time.
template <class T, class F>
std::vector<T> Map(const std::vector<T>& x, const F& f) {
  constexpr auto kLanes = static_cast<size_t>(kSimdLanes<T>);
  std::vector<T> y;
  for (size_t i = 0; i < x.size(); i += kLanes) {
    Vec<T> v = {};
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
  ExpectAccurate(GeluOfVec<float>(), 1.96, [](double x) { return x * Integral(x); });
}

// z P(X > z), of a double z below 39. The exponential's argument is exact: z = high + low.
long double TailOf(double z) {
  const auto high = static_cast<long double>(static_cast<float>(z)), low = z - high;
  const long double bell = std::exp(-high * high / 2) * std::exp(-low * (z + high) / 2);
  long double rest = 0;
  for (int k = 400; k > 0; --k) rest = k / (z + rest);
  const long double mills = z < 5 ? std::exp(static_cast<long double>(z) * z / 2) *
                                        std::erfc(z * 0.707106781186547524400844362105L) / 2
                                  : 0.398942280401432677939946059934L / (z + rest);
  return z * mills * bell;
}

TEST(VecMathTest, GeluOfDoublesIsAccurateEverywhere) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-40, 5.29);  // of e: up to 198
  std::vector<double> x = {0.5, 1, 5, 37, 0x1p-1022, 1e-310, 38.5, 39, 40, 1e308};
  while (x.size() < 200000) x.push_back(std::exp(exponent(random)) * (x.size() % 2 == 0 ? 1 : -1));
  while (x.size() < 400000) x.push_back(std::ldexp(static_cast<double>(random() >> 11), -47) - 39);
  const std::vector<double> y = Map(x, GeluOfVec<double>());
  for (size_t i = 0; i < x.size(); ++i) {
    const double z = std::abs(x[i]);
    const long double tail = z < 39 ? TailOf(z) : 0, want = x[i] < 0 ? -tail : z - tail;
    int place;
    std::frexp(want, &place);
    const long double unit = std::ldexp(1.0L, std::max(place, -1021) - 53);
    const auto off = static_cast<double>(std::abs(y[i] - want) / unit);
    ASSERT_LE(off, 1.0) << std::hexfloat << x[i] << ": " << y[i];
  }
}

TEST(VecMathTest, ErfIsAccurateEverywhere) {
  ExpectAccurate(ErfOfVec<float>(), 1.5, [](double x) { return std::erf(x); });
}

// Near its root two terms cancel, whose own errors show then. The density may be subnormal before x
// multiplies it, and its error with it.
TEST(VecMathTest, SlopeOfGeluIsAccurateToItsTerms) {
  const GeluGradOfVec<float> grad;
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
  const std::vector<float> gelu = Map(x, GeluOfVec<float>()), erf = Map(x, ErfOfVec<float>());
  EXPECT_TRUE(gelu[0] == 0 && std::signbit(gelu[0]));
  EXPECT_TRUE(std::isnan(gelu[1]));
  EXPECT_EQ(gelu[2], math::kInf);
  EXPECT_TRUE(gelu[3] == 0 && std::signbit(gelu[3]));
  EXPECT_EQ(gelu[4], 3e38f);
  const std::vector<double> special = {-0.0,  -math::kInf, math::kInf, -100.0,
                                       1e308, math::kNan,  0x1p-1074};
  const std::vector<double> of_doubles = Map(special, GeluOfVec<double>());
  for (size_t i = 0; i < special.size(); ++i) {
    if (std::isnan(gelu[i])) {
      EXPECT_TRUE(std::isnan(of_doubles[i])) << special[i];
    } else {
      const double want = i == 4 ? 1e308 : static_cast<double>(gelu[i]);
      EXPECT_EQ(of_doubles[i], want) << special[i];
      EXPECT_EQ(std::signbit(of_doubles[i]), std::signbit(gelu[i])) << special[i];
    }
  }
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
  EXPECT_EQ(Gelu(t).ToVector<float>(), Map(x, GeluOfVec<float>()));
  EXPECT_EQ(Erf(t).ToVector<float>(), Map(x, ErfOfVec<float>()));
  const Tensor doubles = t.To(DType::kF64);
  EXPECT_EQ(Gelu(doubles).ToVector<double>(), Map(doubles.ToVector<double>(), GeluOfVec<double>()));
  EXPECT_EQ(Gelu(columns).ToVector<float>(), Map(columns.ToVector<float>(), GeluOfVec<float>()));
}

}  // namespace
}  // namespace firn::cpu

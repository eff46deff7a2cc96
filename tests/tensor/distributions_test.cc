// Binomial, gamma and beta numbers: moments and shares against the distributions', within five
// standard deviations; parameters at the ends of their ranges; gradients of expectations; and that
// an element's number depends on nothing but its place and its own parameters.

#include "firn/tensor/ops/random/distributions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

constexpr int64_t kDraws = 200000;

// The mean of `v` lies within five deviations of one of `n` numbers with that variance.
void ExpectMean(const Tensor& v, double mean, double variance, const std::string& what) {
  EXPECT_NEAR(
      Mean(v.Detach()).Item<double>(), mean,
      5 * std::sqrt(std::max(variance, 0.0) / static_cast<double>(v.num_elements())) + 1e-12 * mean)
      << what;
}
// Mean and variance; `fourth` is the central moment.
void ExpectMoments(const Tensor& v, double mean, double variance, double fourth,
                   const std::string& what) {
  ExpectMean(v, mean, variance, what);
  ExpectMean(Square(Sub(v.Detach(), mean)), variance, fourth - variance * variance,
             "variance of " + what);
}

Tensor Doubles(double v, int64_t n = kDraws) { return Full({n}, v, DType::kF64); }

TEST(BinomialTest, HasMeanAndVariance) {
  RandomGenerator generator(3);
  for (const double n : {1.0, 7.0, 19.0, 40.0, 1000.0, 1e6, 1e15, 1e22}) {
    for (const double p : {1e-3, 0.2, 0.5, 0.77, 0.999}) {
      const double q = 1 - p, variance = n * p * q;
      const double fourth = variance * (1 + 3 * (n - 2) * p * q);
      // For large counts n p itself is rounded.
      ExpectMoments(Binomial(Doubles(n), p, &generator), n * p, variance, fourth,
                    std::to_string(n) + " " + std::to_string(p));
    }
  }
}

double Chance(double n, double p, double k) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                  k * std::log(p) + (n - k) * std::log1p(-p));
}

TEST(BinomialTest, HasEachNumberAsOftenAsItShould) {
  RandomGenerator generator(4);
  for (const auto& [n, p] : std::vector<std::pair<int, double>>{
           {1, 0.3}, {2, 0.5}, {5, 0.9}, {30, 0.1}, {25, 0.5}, {60, 0.3}, {200, 0.94}}) {
    std::vector<double> seen(static_cast<size_t>(n) + 1);
    for (double k : Binomial(Doubles(n), p, &generator).ToVector<double>()) {
      ASSERT_TRUE(k >= 0 && k <= n && k == std::floor(k)) << k;
      ++seen[static_cast<size_t>(k)];
    }
    for (int k = 0; k <= n; ++k) {
      const double c = Chance(n, p, k), mean = kDraws * c;
      EXPECT_NEAR(seen[static_cast<size_t>(k)], mean, 6 * std::sqrt(mean * (1 - c)) + 2)
          << n << " " << p << " " << k;
    }
  }
}

TEST(BinomialTest, IsCertainAtTheEnds) {
  const Tensor counts = FromVector(std::vector<float>{0, 5, 1e6f});
  EXPECT_EQ(Binomial(counts, 0.0).ToVector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(Binomial(counts, 1.0).ToVector<float>(), counts.ToVector<float>());
  EXPECT_EQ(Binomial(0, FromVector(std::vector<double>{0.2, 0.7})).ToVector<double>(),
            (std::vector<double>{0, 0}));
}

TEST(BinomialTest, TakesNumbersIntegersAndWhatBroadcasts) {
  const Tensor y = Binomial(Full({3, 1}, 10, DType::kI64), FromVector(std::vector<double>{0, 1}));
  EXPECT_EQ(y.shape(), Shape({3, 2}));
  EXPECT_EQ(y.dtype(), DType::kF64);
  EXPECT_EQ(y.ToVector<double>(), (std::vector<double>{0, 10, 0, 10, 0, 10}));
  EXPECT_EQ(Binomial(Full({2}, 3, DType::kI64), 1).dtype(), DType::kF32);
}

TEST(RandGammaTest, HasMeanAndVariance) {
  RandomGenerator generator(5);
  for (const double a : {0.05, 0.3, 0.99, 1.0, 1.7, 9.0, 300.0, 1e6}) {
    const std::string what = std::to_string(a);
    ExpectMoments(RandGamma(Doubles(a), {.generator = &generator}), a, a, 3 * a * a + 6 * a, what);
    // The second parameter is a scale, and the logarithm's mean and variance are digamma and
    // trigamma.
    ExpectMean(RandGamma(Doubles(a), 3, {.generator = &generator}), 3 * a, 9 * a, what);
    const Tensor log = RandGamma(Doubles(a), {.log = true, .generator = &generator});
    ExpectMean(log, Digamma(Doubles(a, 1)).Item<double>(),
               Polygamma(1, Doubles(a, 1)).Item<double>(), "logarithm " + what);
  }
}

TEST(RandGammaTest, OfShape1IsExponential) {
  RandomGenerator generator(6);
  std::vector<double> v = RandGamma(Doubles(1), {.generator = &generator}).ToVector<double>();
  std::sort(v.begin(), v.end());
  double worst = 0;  // distance of the shares from the distribution's (Kolmogorov)
  for (size_t i = 0; i < v.size(); ++i) {
    worst = std::max(worst, std::abs((static_cast<double>(i) + 0.5) / kDraws + std::expm1(-v[i])));
  }
  EXPECT_LT(worst, 2.2 / std::sqrt(kDraws));  // exceeded once in 16000 runs
}

TEST(RandGammaTest, TakesAnyShapeParameter) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    const double tiny = dtype == DType::kF16   ? 0x1p-14
                        : dtype == DType::kF64 ? 0x1p-1022
                                               : 0x1p-126;
    const Tensor small = RandGamma(Full({1000}, tiny, dtype));
    EXPECT_EQ(Amin(small).Item<double>(), tiny);
    EXPECT_TRUE(All(Isfinite(RandGamma(Full({1000}, tiny, dtype), {.log = true}))).Item<bool>());
  }
  const Tensor large = RandGamma(Full({1000}, 1e30, DType::kF32));
  EXPECT_NEAR(Mean(large).Item<float>() / 1e30f, 1, 1e-6);
  EXPECT_EQ(RandGamma(Full({2}, INFINITY, DType::kF64)).ToVector<double>(),
            (std::vector<double>{INFINITY, INFINITY}));
  EXPECT_EQ(RandGamma(Zeros({2})).ToVector<float>(), (std::vector<float>{0, 0}));
}

TEST(RandGammaTest, GivesTheGradientOfExpectations) {
  RandomGenerator generator(7);
  for (const double a : {0.1, 0.6, 1.0, 4.0, 60.0, 5000.0}) {
    Tensor shape = Doubles(a);
    shape.SetRequiresGrad();
    const Tensor y = RandGamma(shape, {.generator = &generator});
    // The mean is a, its second moment a (a + 1). 6 deviations, estimated.
    const auto near = [&](const Tensor& slope, double want) {
      const double error = std::sqrt(Var(slope).Item<double>() / kDraws);
      EXPECT_NEAR(Mean(slope).Item<double>(), want, 6 * error) << a;
    };
    near(Grad(Sum(y), shape), 1);
    near(Grad(Sum(Square(RandGamma(shape, {.generator = &generator}))), shape), 2 * a + 1);
    // The mean of the logarithm is digamma.
    const Tensor log = RandGamma(shape, {.log = true, .generator = &generator});
    near(Grad(Sum(log), shape), Polygamma(1, Doubles(a, 1)).Item<double>());
  }
}

TEST(RandGammaTest, GivesTheScaleItsGradient) {
  Tensor scale = Full({3}, 2, DType::kF64);
  scale.SetRequiresGrad();
  RandomGenerator generator(8);
  const Tensor y = RandGamma(2.5, scale, {.generator = &generator});
  ASSERT_EQ(y.shape(), Shape({3}));
  const std::vector<double> v = y.Detach().ToVector<double>();
  EXPECT_NE(v[0], v[1]);  // a draw for each element of the result
  const std::vector<double> slopes = Grad(Sum(y), scale).ToVector<double>();
  for (size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(slopes[i], v[i] / 2);
}

TEST(RandBetaTest, HasMeanAndVariance) {
  RandomGenerator generator(9);
  for (const double a : {0.02, 0.5, 1.0, 3.0, 500.0}) {
    for (const double b : {0.02, 1.0, 8.0}) {
      const double s = a + b, mean = a / s, variance = a * b / (s * s * (s + 1));
      const double excess =
          6 * ((a - b) * (a - b) * (s + 1) - a * b * (s + 2)) / (a * b * (s + 2) * (s + 3));
      ExpectMoments(RandBeta(Doubles(a), b, &generator), mean, variance,
                    (3 + excess) * variance * variance,
                    std::to_string(a) + " " + std::to_string(b));
    }
  }
}

TEST(RandBetaTest, ChoosesAnEndForSmallParameters) {
  RandomGenerator generator(10);
  for (const double a : {1e-5, 1e-20, 1e-44}) {
    const Tensor y = RandBeta(Full({20000}, 3 * a, DType::kF32), a, &generator);
    EXPECT_EQ(y.dtype(), DType::kF32);
    ExpectMean(Cast(y, DType::kF64), 0.75, 0.75 * 0.25, std::to_string(a));
  }
}

TEST(RandBetaTest, GivesTheGradientOfItsMean) {
  RandomGenerator generator(11);
  for (const double a : {0.3, 2.0, 40.0}) {
    Tensor x = Doubles(a), b = Doubles(1.5);
    x.SetRequiresGrad();
    b.SetRequiresGrad();
    const std::vector<Tensor> slopes = Grad({Sum(RandBeta(x, b, &generator))}, {x, b});
    const double s = a + 1.5;
    const double want[] = {1.5 / (s * s), -a / (s * s)};
    for (size_t i = 0; i < 2; ++i) {
      const double error = std::sqrt(Var(slopes[i]).Item<double>() / kDraws);
      EXPECT_NEAR(Mean(slopes[i]).Item<double>(), want[i], 6 * error) << a << " " << i;
    }
  }
}

TEST(DistributionsTest, GiveAnElementWhatItsNeighboursDoNotChange) {
  RandomGenerator generator(12);
  const PhiloxState start = generator.position();
  const auto drawn = [&](double others) {
    generator.SetPosition(start);
    std::vector<double> a(100, others), n(100, std::floor(100 * others));
    for (size_t i = 0; i < 100; i += 10) a[i] = 0.7, n[i] = 90;
    const Tensor gamma = RandGamma(FromVector(a), {.generator = &generator});
    const Tensor binomial = Binomial(FromVector(n), 0.4, &generator);
    return Concat({gamma, binomial}).ToVector<double>();
  };
  const std::vector<double> one = drawn(0.3), other = drawn(5);
  for (size_t i = 0; i < one.size(); i += 10) EXPECT_EQ(one[i], other[i]) << i;
  EXPECT_NE(one[1], other[1]);
}

TEST(DistributionsTest, SayWhatIsWrong) {
  const auto contains = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), text.npos) << text;
  };
  contains(ErrorOf([] { Binomial(Ones({3}), Ones({2})); }), "binomial");
  contains(ErrorOf([] { Binomial(-1, 0.5); }), "count -1 at index 0 is not 0 or more and finite");
  contains(ErrorOf([] { RandGamma(Ones({3}), Ones({2})); }), "rand_gamma");
  contains(ErrorOf([] { RandGamma(-1); }), "shape_parameter -1 at index 0 is not 0 or more");
  contains(ErrorOf([] { RandBeta(1, 0); }), "shape_parameter 0 at index 0 is not positive");
  contains(ErrorOf([] { RandBeta(Tensor(), 1); }), "rand_beta");
}

}  // namespace
}  // namespace firn

// Which ranges observers find, and which scales and zero points follow from them.

#include "firn/tensor/observers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using firn::testing::ErrorOf;

template <class F>
void ExpectError(F f, const char* part) {
  const std::string error = ErrorOf(f);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

Tensor Vector(std::vector<double> v) { return FromVector(std::move(v)); }

void Expect(const Quantization& q, double scale, int64_t zero_point) {
  EXPECT_DOUBLE_EQ(q.scale, scale);
  EXPECT_EQ(q.zero_point, zero_point);
}

TEST(QuantizationTest, ScalesAndZeroPoints) {
  Expect(QuantizationOf(-1, 4.1, {.dtype = DType::kU8}), 0.02, 50);
  Expect(QuantizationOf(-1, 4.1), 0.02, -78);
  Expect(QuantizationOf(-1, 12.7, {.symmetric = true}), 0.1, 0);
  Expect(QuantizationOf(-12.7, 1, {.dtype = DType::kU8, .symmetric = true}), 0.1, 128);
  // 0 is within.
  Expect(QuantizationOf(3, 5.1, {.dtype = DType::kU8}), 0.02, 0);
  Expect(QuantizationOf(-5.1, -3, {.dtype = DType::kU8}), 0.02, 255);
  Expect(QuantizationOf(0, 0, {.dtype = DType::kU8}), 1, 128);
}

TEST(QuantizationTest, Errors) {
  ExpectError([] { QuantizationOf(2, 1); }, "expected numbers low <= high, got 2 and 1");
  ExpectError([] { QuantizationOf(NAN, 1); }, "got nan and 1");
  ExpectError([] { QuantizationOf(0, INFINITY); }, "got 0 and inf");
  ExpectError([] { QuantizationOf(0, 1, {.dtype = DType::kI32}); },
              "dtype must be i8 or u8, got i32");
}

TEST(MinMaxObserverTest, KeepsExtremes) {
  MinMaxObserver o;
  ExpectError([&] { o.range(); }, "no number was observed");
  o.Observe(Vector({NAN, INFINITY}));
  ExpectError([&] { o.range(); }, "no number was observed");
  o.Observe(Vector({1, 2, NAN, INFINITY}));
  EXPECT_EQ(o.range().low, 1);
  o.Observe(Vector({-3, 1.5}));
  EXPECT_EQ(o.range().low, -3);
  EXPECT_EQ(o.range().high, 2);
  Expect(o.Choose({.dtype = DType::kU8}), 5.0 / 255, 153);
}

// 10000 numbers from 0 to 1, and one far away on either side, in a batch of its own.
template <class O>
void ObserveWithOutliers(O& o) {
  std::vector<double> even;
  for (int i = 0; i < 10000; ++i) even.push_back((i + 0.5) / 10000);
  o.Observe(Vector(even));
  o.Observe(Vector({8, -3}));
}

TEST(PercentileObserverTest, LeavesOutliersOut) {
  PercentileObserver o(99.9), all(100);
  ObserveWithOutliers(o);
  ObserveWithOutliers(all);
  // 0.05 % of either side are five numbers; an interval is 8 / 2048 at most long, or 16 / 4096.
  EXPECT_NEAR(o.range().low, 0.0004, 0.004);
  EXPECT_NEAR(o.range().high, 0.9996, 0.004);
  EXPECT_EQ(all.range().low, -3);
  EXPECT_EQ(all.range().high, 8);
  ExpectError([] { PercentileObserver(0); }, "percentile must lie in (0, 100], got 0");
  ExpectError([] { PercentileObserver(NAN); }, "got nan");
}

TEST(PercentileObserverTest, EqualNumbers) {
  PercentileObserver o;
  o.Observe(Vector({2, 2, 2}));
  EXPECT_EQ(o.range().low, 2);
  EXPECT_EQ(o.range().high, 2);
}

// Numbers of f64 so near to each other, or so far apart, that there is no length of an interval.
TEST(PercentileObserverTest, NumbersAtTheEndsOfTheirType) {
  PercentileObserver small(100), large(100);
  small.Observe(Vector({0, 1e-322}));
  small.Observe(Vector({-1e-322}));
  // Exact to one interval.
  EXPECT_LE(small.range().low, 0);
  EXPECT_GE(small.range().low, -1e-322);
  EXPECT_EQ(small.range().high, 1e-322);
  large.Observe(Vector({-1.7e308, 1.7e308, 1.7e308, 1.7e308}));
  EXPECT_EQ(large.range().low, -1.7e308);
  EXPECT_EQ(large.range().high, 1.7e308);
  // Half of the numbers, from below and from above, since the larger half has other numbers than
  // the smaller.
  PercentileObserver half(50);
  half.Observe(Vector({-1.7e308, 1.7e308, 1.7e308, 1.7e308, 1.7e308}));
  EXPECT_GT(half.range().low, 1.69e308);
  EXPECT_EQ(half.range().high, 1.7e308);
}

double ErrorOfRange(const std::vector<double>& x, double low, double high, double levels) {
  const double scale = (high - low) / (levels - 1);
  double sum = 0;
  for (const double v : x) {
    const double held = std::min(std::max(v, low), high);
    const double e = low + std::round((held - low) / scale) * scale - v;
    sum += e * e;
  }
  return sum;
}

// Numbers of a normal distribution in 16 levels: cutting off tails pays.
TEST(MseObserverTest, FindsTheLeastError) {
  RandomGenerator generator(3);
  const Tensor x = Randn({20000}, 0, 1, DType::kF64, {.generator = &generator});
  MseObserver o(4);
  o.Observe(x);
  const RangeObserver::Range r = o.range();
  const std::vector<double> v = x.ToVector<double>();
  const double low = Amin(x).Item<double>(), high = Amax(x).Item<double>();
  EXPECT_LT(ErrorOfRange(v, r.low, r.high, 16), 0.6 * ErrorOfRange(v, low, high, 16));
  for (const double part : {0.9, 1.1}) {
    EXPECT_LT(ErrorOfRange(v, r.low, r.high, 16), ErrorOfRange(v, part * r.low, part * r.high, 16));
  }
  ExpectError([] { MseObserver(1); }, "bits must be between 2 and 16, got 1");
}

}  // namespace
}  // namespace firn

// Dropouts of channels, rows and Selu's values, and random choice: which elements belong together,
// whether mean and variance are kept, and gradients. Counts lie within five standard deviations.

#include "firn/tensor/ops/random/dropouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/random/sampling.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

// How many rows of `size` elements are all 0; the others must hold `kept` everywhere.
int64_t ZeroRows(const Tensor& y, int64_t size, double kept) {
  const std::vector<double> v = y.ToVector<double>();
  int64_t zeros = 0;
  for (size_t at = 0; at < v.size(); at += static_cast<size_t>(size)) {
    for (size_t i = at; i < at + static_cast<size_t>(size); ++i) {
      EXPECT_EQ(v[i], v[at]);
      EXPECT_TRUE(v[i] == 0 || v[i] == kept) << v[i];
    }
    zeros += v[at] == 0 ? 1 : 0;
  }
  return zeros;
}

void ExpectNear(int64_t count, double n, double p) {
  EXPECT_NEAR(static_cast<double>(count), n * p, 5 * std::sqrt(n * p * (1 - p)));
}

TEST(FeatureDropoutTest, DropsWholeChannels) {
  RandomGenerator generator(3);
  const Tensor y = FeatureDropout(Ones({40, 50, 3, 2}, DType::kF64), 0.2, true, &generator);
  ExpectNear(ZeroRows(y, 6, 1 / 0.8), 2000, 0.2);
}

TEST(StochasticDepthTest, DropsSamplesOrAll) {
  RandomGenerator generator(4);
  const Tensor x = Ones({2000, 3}, DType::kF64);
  ExpectNear(ZeroRows(StochasticDepth(x, 0.25, true, true, &generator), 3, 1 / 0.75), 2000, 0.25);
  int64_t dropped = 0;
  for (int i = 0; i < 200; ++i) {
    dropped +=
        ZeroRows(StochasticDepth(Ones({2, 3}, DType::kF64), 0.5, false, true, &generator), 6, 2);
  }
  ExpectNear(dropped, 200, 0.5);
}

TEST(AlphaDropoutTest, KeepsMeanAndVariance) {
  RandomGenerator generator(5);
  const int64_t n = 200000;
  const Tensor x = Randn({n}, 0, 1, DType::kF64, {.generator = &generator});
  for (const double p : {0.1, 0.5, 0.9}) {
    const Tensor y = AlphaDropout(x, p, true, false, &generator);
    // The fourth moment of y stays below 30 for these p.
    EXPECT_NEAR(Mean(y).Item<double>(), 0, 5 / std::sqrt(n)) << p;
    EXPECT_NEAR(Var(y).Item<double>(), 1, 5 * std::sqrt(30.0 / n)) << p;
  }
  const Tensor zeros = AlphaDropout(x, 1);
  EXPECT_EQ(Norm(zeros).Item<double>(), 0);
}

TEST(AlphaDropoutTest, DropsWholeChannelsWhereAsked) {
  RandomGenerator generator(6);
  const Tensor y = AlphaDropout(Ones({20, 100, 4}, DType::kF64), 0.3, true, true, &generator);
  const std::vector<double> v = y.ToVector<double>();
  const double least = Amin(y).Item<double>();
  int64_t dropped = 0;
  for (size_t at = 0; at < v.size(); at += 4) {
    for (size_t i = at; i < at + 4; ++i) EXPECT_EQ(v[i], v[at]);
    dropped += v[at] == least ? 1 : 0;
  }
  ExpectNear(dropped, 2000, 0.3);
}

TEST(DropoutsTest, GiveTheGradientToWhatTheyKept) {
  RandomGenerator generator(7);
  Tensor x = Ones({6, 5, 2}, DType::kF64);
  x.SetRequiresGrad();
  for (const auto& f : std::vector<std::function<Tensor()>>{
           [&] { return FeatureDropout(x, 0.5, true, &generator); },
           [&] { return StochasticDepth(x, 0.5, true, true, &generator); }}) {
    const Tensor y = f();
    EXPECT_EQ(Grad(Sum(y), x).ToVector<double>(), y.ToVector<double>());  // x is 1
  }
  for (const bool per_channel : {false, true}) {
    const Tensor y = AlphaDropout(x, 0.5, true, per_channel, &generator);
    const std::vector<double> values = y.ToVector<double>(),
                              dx = Grad(Sum(y), x).ToVector<double>();
    const double least = Amin(y).Item<double>(), slope = *std::max_element(dx.begin(), dx.end());
    EXPECT_NEAR(slope, 0.8864053, 1e-6);  // 1 / sqrt((1 - p) (1 + p Selu(-inf)^2))
    for (size_t i = 0; i < dx.size(); ++i) EXPECT_EQ(dx[i], values[i] == least ? 0 : slope);
  }
}

TEST(DropoutsTest, LeaveXWhereTheyDoNothing) {
  const Tensor x = Ones({2, 3, 4});
  EXPECT_EQ(FeatureDropout(x, 0.5, false).impl(), x.impl());
  EXPECT_EQ(AlphaDropout(x, 0).impl(), x.impl());
  EXPECT_EQ(StochasticDepth(x, 0.5, true, false).impl(), x.impl());
}

TEST(DropoutsTest, SayWhatIsWrong) {
  const auto contains = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), text.npos) << text;
  };
  contains(ErrorOf([] { FeatureDropout(Ones({3})); }), "x must be [n, c, ...], got [3]");
  contains(ErrorOf([] { AlphaDropout(Ones({3}), 1.5); }), "p 1.5 is outside [0, 1]");
  contains(ErrorOf([] { StochasticDepth(Ones({3}, DType::kI64), 0.5); }), "x must be f32, f64");
}

TEST(RandomChoiceTest, DrawsByWeight) {
  RandomGenerator generator(8);
  Tensor x = FromVector(std::vector<double>{1, 2, 4, 8}, Shape({2, 2}));
  x.SetRequiresGrad();
  const Tensor weights = FromVector(std::vector<double>{1, 3, 0, 5}, Shape({2, 2}));
  const Tensor y = RandomChoice(x, weights, {10, 100}, {.generator = &generator});
  ASSERT_EQ(y.shape(), Shape({2, 10, 100}));
  const std::vector<double> v = y.Detach().ToVector<double>();
  int64_t ones = 0;
  for (size_t i = 0; i < 1000; ++i) ones += v[i] == 1 ? 1 : 0;
  ExpectNear(ones, 1000, 0.25);
  for (size_t i = 1000; i < 2000; ++i) EXPECT_EQ(v[i], 8);
  EXPECT_EQ(
      Grad(Sum(y), x).ToVector<double>(),
      (std::vector<double>{static_cast<double>(ones), static_cast<double>(1000 - ones), 0, 1000}));
  const Tensor all = RandomChoice(x, Ones({2, 2}), {2}, {.replacement = false});
  EXPECT_EQ(Sum(all.Detach(), 1).ToVector<double>(), (std::vector<double>{3, 12}));
}

TEST(RandomChoiceTest, SaysWhatIsWrong) {
  const std::string text = ErrorOf([] { RandomChoice(Ones({2, 3}), Ones({3}), {2}); });
  EXPECT_NE(text.find("of one shape, got [2, 3] and [3]"), text.npos) << text;
  RandomGenerator generator(9);
  const uint64_t before = generator.position().offset;
  const Tensor x = Ones({1, 1, 1, 1, 1, 1, 2});
  const std::string rank = ErrorOf([&] {
    RandomChoice(x, x, {1, 1, 1}, {.generator = &generator});
  });
  EXPECT_NE(rank.find("would have more than 8 dimensions"), rank.npos) << rank;
  EXPECT_EQ(generator.position().offset, before);
}

}  // namespace
}  // namespace firn

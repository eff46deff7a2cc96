#include "firn/tensor/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "firn/device/inner.h"
#include "firn/device/parallel.h"
#include "firn/device/philox.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/random_words.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/random/sampling.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn {
namespace {

struct Moments {
  double mean = 0, variance = 0;
  explicit Moments(const Tensor& t) {
    const std::vector<double> v = t.ToVector<double>();
    const double n = static_cast<double>(v.size());
    for (double x : v) mean += x / n;
    for (double x : v) variance += (x - mean) * (x - mean) / n;
  }
};
constexpr int64_t kMany = 200000;
const double kFewSigma = 5 / std::sqrt(static_cast<double>(kMany));

TEST(RandomGeneratorTest, ReservesPiecesOneBehindTheOther) {
  RandomGenerator generator(7);
  EXPECT_EQ(generator.Reserve(10), (PhiloxState{7, 0}));
  EXPECT_EQ(generator.Reserve(1), (PhiloxState{7, 10}));
  EXPECT_EQ(generator.position(), (PhiloxState{7, 11}));
  generator.SetSeed(8);
  EXPECT_EQ(generator.Reserve(1), (PhiloxState{8, 0}));
}

TEST(RandomGeneratorTest, ContinuesFromASavedPosition) {
  RandomGenerator generator(~uint64_t{0});
  generator.Reserve(123);
  const PhiloxState saved = generator.position();
  const Tensor next = Rand({5}, 0, 1, DType::kF32, {.generator = &generator});
  RandomGenerator restored;
  restored.SetPosition(saved);
  EXPECT_TRUE(Rand({5}, 0, 1, DType::kF32, {.generator = &restored}).Equals(next));
}

TEST(RandomGeneratorTest, ContinuesFromACopyOfItsState) {
  RandomGenerator generator(7);
  generator.Reserve(5);
  const Tensor saved = generator.state().Clone();
  const uint64_t next = generator.Reserve(1).offset;
  RandomGenerator other(8);
  other.SetState(saved);
  EXPECT_EQ(other.position().seed, 7u);
  EXPECT_EQ(other.Reserve(1).offset, next);
  EXPECT_EQ(saved.ToVector<int64_t>(), (std::vector<int64_t>{7, 5})) << "a copy";
  EXPECT_THROW(other.SetState(Tensor()), Error);
  EXPECT_THROW(other.SetState(saved.To(DType::kF64)), Error);
  EXPECT_THROW(other.SetState(Zeros({}, DType::kI64)), Error);
}

TEST(RandomGeneratorTest, GivesEveryOperationNewNumbers) {
  RandomGenerator g(7);
  const RandomOptions from{.generator = &g};
  const Tensor a = Rand({8}, DType::kF32, from), b = Rand({8}, DType::kF32, from);
  EXPECT_EQ(g.position().offset, 4u);
  EXPECT_FALSE(a.Equals(b));
}

TEST(RandomGeneratorTest, ThreadsNeverShareAPiece) {
  RandomGenerator generator;
  std::vector<std::vector<float>> drawn(4);
  std::vector<std::thread> threads;
  for (auto& mine : drawn) {
    threads.emplace_back([&generator, &mine] {
      for (int i = 0; i < 200; ++i) {
        const Tensor t = Rand({4}, DType::kF32, {.generator = &generator});
        const std::vector<float> v = t.ToVector<float>();
        mine.insert(mine.end(), v.begin(), v.end());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<float> all;
  for (const auto& mine : drawn) all.insert(all.end(), mine.begin(), mine.end());
  RandomGenerator alone;
  std::vector<float> want =
      Rand({static_cast<int64_t>(all.size())}, DType::kF32, {.generator = &alone})
          .ToVector<float>();
  std::sort(all.begin(), all.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(all, want);
}

TEST(RandomGeneratorTest, ManualSeedRestartsTheDefaultGenerator) {
  ManualSeed(99);
  const Tensor a = Normal({3, 2});
  const double u = Uniform();
  ManualSeed(99);
  EXPECT_TRUE(Normal({3, 2}).Equals(a));
  EXPECT_EQ(Uniform(), u);
  EXPECT_GE(u, 0);
  EXPECT_LT(u, 1);
}

TEST(RandomGeneratorTest, HasNoCudaHere) {
  EXPECT_THROW(DefaultGenerator(Device::Cuda()), Error);
  EXPECT_THROW(RandomGenerator(1, Device::Cuda()), Error);
}

TEST(RandomTest, DoesNotDependOnThreads) {
  const auto draw = [](int threads) {
    SetNumThreads(threads);
    RandomGenerator g(5);
    const RandomOptions from{.generator = &g};
    const Tensor weights = Rand({100, 50}, DType::kF64, from);
    Tensor x = Ones({99999}).SetRequiresGrad();
    Sum(Dropout(x, 0.4, true, &g)).Backward();
    return std::vector<Tensor>{weights,
                               Randn({100001}, DType::kF32, from),
                               Randint(-5, 17, {70001}, DType::kI32, from),
                               Bernoulli(Full({99999}, 0.3), &g),
                               Dropout(Ones({99999}), 0.4, true, &g),
                               x.grad(),
                               Multinomial(weights, 20, {.generator = &g}),
                               Multinomial(weights, 90, {.replacement = true, .generator = &g})};
  };
  const int before = NumThreads();
  const std::vector<Tensor> one = draw(1), three = draw(3);
  SetNumThreads(before);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].Equals(three[i])) << i;
}

TEST(RandomTest, HasTheMomentsOfItsDistributions) {
  RandomGenerator g(1);
  const RandomOptions from{.generator = &g};
  const Moments uniform(Uniform({kMany}, -1, 3, DType::kF32, from));
  EXPECT_NEAR(uniform.mean, 1, 4 * std::sqrt(1.0 / 12) * kFewSigma);
  EXPECT_NEAR(uniform.variance, 16.0 / 12, 16 * std::sqrt(1.0 / 180) * kFewSigma);
  for (DType d : {DType::kF32, DType::kF64}) {
    const Moments normal(Normal({kMany}, 2, 3, d, from));
    EXPECT_NEAR(normal.mean, 2, 3 * kFewSigma);
    EXPECT_NEAR(normal.variance, 9, 9 * std::sqrt(2.0) * kFewSigma);
  }
  const Moments integers(Randint(0, 10, {kMany}, DType::kI64, from));
  EXPECT_NEAR(integers.mean, 4.5, std::sqrt(8.25) * kFewSigma);
  const Moments coins(Bernoulli(Full({kMany}, 0.3), &g));
  EXPECT_NEAR(coins.mean, 0.3, std::sqrt(0.21) * kFewSigma);
}

TEST(RandomTest, DrawsUniformNumbersBelowTheUpperEndInEveryDType) {
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    RandomGenerator g(3);
    const std::vector<double> v = Rand({50000}, 1, 1.5, d, {.generator = &g}).ToVector<double>();
    EXPECT_GE(*std::min_element(v.begin(), v.end()), 1) << DTypeName(d);
    EXPECT_LT(*std::max_element(v.begin(), v.end()), 1.5) << DTypeName(d);
  }
}

// Step i of the shuffle swaps element i with one of i .. n - 1, by words 2 i and 2 i + 1.
TEST(RandomTest, PermutesByTheShuffleThatItsWordsTell) {
  for (int64_t n : {0, 1, 2, 31, 32, 33, 65, 1000}) {
    RandomGenerator generator(11);
    generator.Reserve(3);
    const PhiloxState at = generator.position();
    const Tensor got = Randperm(n, {.generator = &generator});
    std::vector<int64_t> want(static_cast<size_t>(n));
    for (size_t i = 0; i < want.size(); ++i) want[i] = static_cast<int64_t>(i);
    for (size_t i = 0; i < want.size(); ++i) {
      const PhiloxResult words = PhiloxAt(at, i / 2);
      const uint64_t left = want.size() - i;
      const size_t ahead = BelowFrom(left, words.v[i % 2 * 2], words.v[i % 2 * 2 + 1]);
      std::swap(want[i], want[i + ahead]);
    }
    EXPECT_EQ(got.ToVector<int64_t>(), want) << n;
  }
}

TEST(RandomTest, PermutesEveryNumberOnce) {
  std::vector<int64_t> p = Randperm(1000).ToVector<int64_t>();
  EXPECT_FALSE(std::is_sorted(p.begin(), p.end()));
  std::sort(p.begin(), p.end());
  for (size_t i = 0; i < p.size(); ++i) EXPECT_EQ(p[i], static_cast<int64_t>(i));
}

TEST(RandomTest, DrawsCategoriesInProportion) {
  RandomGenerator g(2);
  const Tensor weights = Tensor(Full({3}, 1));
  const std::vector<int64_t> v =
      Multinomial(weights, kMany, {.replacement = true, .generator = &g}).ToVector<int64_t>();
  for (int64_t c = 0; c < 3; ++c) {
    const auto n = static_cast<double>(std::count(v.begin(), v.end(), c));
    EXPECT_NEAR(n / kMany, 1.0 / 3, std::sqrt(2.0 / 9) * kFewSigma);
  }
}

TEST(DropoutTest, ScalesWhatItKeepsAndDropsTheSameInTheGradient) {
  RandomGenerator g(4);
  Tensor x = Ones({kMany}).SetRequiresGrad();
  const Tensor y = Dropout(x, 0.2, true, &g);
  const std::vector<float> values = y.ToVector<float>();
  const auto dropped = static_cast<double>(std::count(values.begin(), values.end(), 0.0f));
  EXPECT_NEAR(dropped / kMany, 0.2, std::sqrt(0.16) * kFewSigma);
  for (float v : values) EXPECT_TRUE(v == 0 || v == 1.25f);
  Sum(y).Backward();
  EXPECT_TRUE(x.grad().Equals(y));
}

TEST(DropoutTest, DropsWhatIsNotFinite) {
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    RandomGenerator g(4);
    Tensor x = Full({100}, std::numeric_limits<double>::infinity(), d).SetRequiresGrad();
    const Tensor y = Dropout(x, 0.5, true, &g);
    y.Backward(Full({100}, std::numeric_limits<double>::infinity(), d));
    const std::vector<double> values = y.ToVector<double>();
    EXPECT_GT(std::count(values.begin(), values.end(), 0.0), 20) << DTypeName(d);
    for (double v : values) EXPECT_TRUE(v == 0 || std::isinf(v)) << DTypeName(d);
    EXPECT_TRUE(x.grad().Equals(y)) << DTypeName(d);
  }
}

TEST(DropoutTest, IsTheIdentityOutsideTrainingAndWithoutProbability) {
  const Tensor x = Ones({3});
  EXPECT_TRUE(Dropout(x, 0.5, false).Is(x));
  EXPECT_TRUE(Dropout(x, 0).Is(x));
  EXPECT_TRUE(Dropout(x, 1).Equals(Zeros({3})));
}

TEST(RandomTest, TakesShapeAndDTypeOfAnother) {
  const Tensor x = Zeros({2, 3}, DType::kF64);
  EXPECT_EQ(RandLike(x).spec().ToString(), x.spec().ToString());
  EXPECT_EQ(RandnLike(x).spec().ToString(), x.spec().ToString());
}

}  // namespace
}  // namespace firn

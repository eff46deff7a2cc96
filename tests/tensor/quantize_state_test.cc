// Quantizers that keep numbers between their calls, and the gradients of elements that are replaced
// one by one. Expected numbers are worked out by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/quantize/min_max.h"
#include "firn/tensor/ops/quantize/prune.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using Numbers = std::vector<double>;

Tensor Vector(Numbers v) { return FromVector(std::move(v)); }
Tensor Leaf(Numbers v) { return Vector(std::move(v)).SetRequiresGrad(); }

template <class F>
void ExpectError(F f, const char* part) {
  const std::string error = ErrorOf(f);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

// dy = 1, 2, 3, ...
Tensor Weighted(const Tensor& y) {
  const Tensor dy = Arange(1.0, static_cast<double>(y.size(0)) + 1, 1, {.dtype = DType::kF64});
  return Sum(Mul(y, dy));
}

// The range -1 to 2 in four levels.
TEST(MinMaxQuantizeTest, LearntRange) {
  Tensor x = Leaf({-2, -1, -0.4, 0.5, 1.4, 2, 3});
  Tensor low = Leaf({-1}), high = Leaf({2});
  const Tensor y = MinMaxQuantize(x, low, high, 0, 3);
  EXPECT_EQ(y.ToVector<double>(), (Numbers{-1, -1, 0, 1, 1, 2, 2}));
  const std::vector<Tensor> g = Grad({Weighted(y)}, {x, low, high});
  EXPECT_EQ(g[0].ToVector<double>(), (Numbers{0, 2, 3, 4, 5, 6, 0}));
  EXPECT_EQ(g[1].ToVector<double>(), (Numbers{1}));
  EXPECT_EQ(g[2].ToVector<double>(), (Numbers{7}));

  const Tensor coarse = MinMaxQuantize(x, low, high, 0, 3, {.ste_fine_grained = false});
  EXPECT_TRUE(coarse.Equals(y));
  const std::vector<Tensor> c = Grad({Weighted(coarse)}, {x, low, high});
  EXPECT_EQ(c[0].ToVector<double>(), (Numbers{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(c[1].ToVector<double>(), (Numbers{1}));
  EXPECT_EQ(c[2].ToVector<double>(), (Numbers{7}));
}

TEST(MinMaxQuantizeTest, ZeroIsALevel) {
  // Levels of 1 from -0.75 on: the range moves to -1 and 2.
  const Tensor y =
      MinMaxQuantize(Vector({0, 0.4, 0.6, -5, 5}), Vector({-0.75}), Vector({2.25}), 0, 3);
  EXPECT_EQ(y.ToVector<double>(), (Numbers{0, 0, 1, -1, 2}));
}

TEST(MinMaxQuantizeTest, FollowsExtremes) {
  Tensor x = Leaf({-1, 0.2, 2}), low = Vector({7}), high = Vector({9});
  const MinMaxQuantizeOptions extremes{.x_min_max = true};
  const Tensor y = MinMaxQuantize(x, low, high, 0, 3, extremes);
  EXPECT_EQ(y.ToVector<double>(), (Numbers{-1, 0, 2}));
  EXPECT_EQ(low.Item<double>(), -1);
  EXPECT_EQ(high.Item<double>(), 2);
  EXPECT_EQ(Grad(Weighted(y), x).ToVector<double>(), (Numbers{1, 2, 3}));

  MinMaxQuantize(Vector({-3, 4}), low, high, 0, 3, {.decay = 0.75, .x_min_max = true, .ema = true});
  EXPECT_EQ(low.Item<double>(), -1.5);
  EXPECT_EQ(high.Item<double>(), 2.5);
  // The range is held.
  MinMaxQuantize(Vector({-30, 40}), low, high, 0, 3, {.ema = true});
  EXPECT_EQ(low.Item<double>(), -1.5);
  EXPECT_EQ(high.Item<double>(), 2.5);
  // The least length of the range.
  MinMaxQuantize(Vector({1, 1}), low, high, 0, 3, {.x_min_max = true, .eps = 0.5});
  EXPECT_EQ(low.Item<double>(), 1);
  EXPECT_EQ(high.Item<double>(), 1.5);
}

TEST(MinMaxQuantizeTest, ARangeForEachChannel) {
  const Tensor x = FromVector(Numbers{0, 3, 0, 6, 1.4, 2.6}, Shape({3, 2}));
  const Tensor low = Zeros({3, 1}, DType::kF64), high = Zeros({3, 1}, DType::kF64);
  const Tensor y = MinMaxQuantize(x, low, high, 0, 3, {.x_min_max = true});
  EXPECT_EQ(low.ToVector<double>(), (Numbers{0, 0, 1.4}));
  EXPECT_EQ(high.ToVector<double>(), (Numbers{3, 6, 2.6}));
  EXPECT_EQ(Slice(y, 0, 0, 2).ToVector<double>(), (Numbers{0, 3, 0, 6}));
  const Tensor half = x.To(DType::kF16);
  const Tensor single = Zeros({}), other = Zeros({});
  EXPECT_EQ(MinMaxQuantize(half, single, other, 0, 6, {.x_min_max = true}).ToVector<double>(),
            (Numbers{0, 3, 0, 6, 1, 3}));
}

TEST(MinMaxQuantizeTest, Errors) {
  const Tensor x = Ones({2, 3}), one = Ones({1});
  ExpectError([&] { MinMaxQuantize(x, one, Ones({2}), 0, 1); }, "must be f32 of one shape");
  ExpectError([&] { MinMaxQuantize(x, Ones({3}), Ones({3}), 0, 1); }, "must be f32 of one shape");
  ExpectError([&] { MinMaxQuantize(x, one, one, 0, 1, {.decay = 2}); }, "decay must lie in [0, 1]");
  ExpectError([&] { MinMaxQuantize(x, one, one, 0, 1, {.eps = NAN}); }, "eps above 0");
  ExpectError([&] { MinMaxQuantize(Cast(x, DType::kI32), one, one, 0, 1); }, "x must be f32");
}

TEST(MagnitudePruneTest, PrunedWeightsGoOnLearning) {
  Tensor x = Leaf({3, -0.1, 0.2, -4, 1});
  const Tensor y = MagnitudePrune(x, 0.5);
  EXPECT_EQ(y.ToVector<double>(), (Numbers{3, 0, 0, -4, 1}));
  EXPECT_EQ(Grad(Weighted(y), x).ToVector<double>(), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(MagnitudePrune(Vector({NAN, 1, 2}), 0.9).ToVector<double>()[2], 2);
}

std::vector<int64_t> Held(const Tensor& fixed) {
  return Cast(fixed, DType::kI64).ToVector<int64_t>();
}

// Powers from 2^-2 to 2^1: the largest, 2.9, is nearer to 2 than to 4.
TEST(InqTest, FixesTheLargestHalf) {
  Tensor w = Leaf({2.9, -1.6, 0.7, -0.3, 0.1, 0.13});
  const Tensor fixed = Zeros({6}, DType::kBool), step = Zeros({}, DType::kI64);
  const InqOptions options{.iterations = {1, 3}};
  EXPECT_TRUE(InqQuantize(w, fixed, step, options).Equals(w));  // step 0
  const Tensor half = InqQuantize(w, fixed, step, options);
  EXPECT_EQ(half.ToVector<double>(), (Numbers{2, -2, 0.5, -0.3, 0.1, 0.13}));
  EXPECT_EQ(Held(fixed), (std::vector<int64_t>{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(Grad(Weighted(half), w).ToVector<double>(), (Numbers{0, 0, 0, 4, 5, 6}));
  InqQuantize(w, fixed, step, options);  // step 2
  EXPECT_EQ(Held(fixed), (std::vector<int64_t>{1, 1, 1, 0, 0, 0}));
  const Tensor all = InqQuantize(w, fixed, step, options);
  EXPECT_EQ(all.ToVector<double>(), (Numbers{2, -2, 0.5, -0.25, 0, 0.25}));
  EXPECT_EQ(step.Item<int64_t>(), 4);
  // Evaluation counts no steps and fixes nothing.
  InqQuantize(w, fixed, step, {.iterations = {4}, .training = false});
  EXPECT_EQ(step.Item<int64_t>(), 4);
}

TEST(InqTest, AHalfOfWhatIsFree) {
  Tensor w = Vector({5, 4, 3, 2, 1});
  const Tensor fixed = Zeros({5}, DType::kBool), step = Zeros({1}, DType::kI64);
  const InqOptions options{.iterations = {0, 1, 9}};
  InqQuantize(w, fixed, step, options);
  EXPECT_EQ(Held(fixed), (std::vector<int64_t>{1, 1, 0, 0, 0}));
  InqQuantize(w, fixed, step, options);
  EXPECT_EQ(Held(fixed), (std::vector<int64_t>{1, 1, 1, 0, 0}));
}

TEST(InqTest, FixesAtRandom) {
  RandomGenerator generator(5);
  const Tensor fixed = Zeros({40, 50}, DType::kBool), step = Zeros({}, DType::kI64);
  const InqOptions options{
      .iterations = {0, 9}, .selection = InqSelection::kRandom, .generator = &generator};
  InqQuantize(Ones({40, 50}), fixed, step, options);
  const double n = Sum(Cast(fixed, DType::kF64)).Item<double>();
  EXPECT_NEAR(n, 1000, 5 * std::sqrt(2000 * 0.25));
}

TEST(InqTest, ZerosAndHalfTypes) {
  const Tensor fixed = Ones({3}, DType::kBool), step = Zeros({}, DType::kI64);
  EXPECT_EQ(InqQuantize(Zeros({3}), fixed, step).ToVector<double>(), (Numbers{0, 0, 0}));
  const Tensor half = Vector({1, -0.75, 0.001}).To(DType::kF16);
  EXPECT_EQ(InqQuantize(half, fixed, step, {.num_bits = 8}).ToVector<double>(),
            (Numbers{1, -1, 0.0009765625}));
}

TEST(InqTest, Errors) {
  const Tensor w = Ones({3}), fixed = Zeros({3}, DType::kBool), step = Zeros({}, DType::kI64);
  ExpectError([&] { InqQuantize(w, Zeros({2}, DType::kBool), step); }, "fixed must be bool");
  ExpectError([&] { InqQuantize(w, fixed, Zeros({})); }, "step must be one i64");
  ExpectError([&] { InqQuantize(w, fixed, step, {.num_bits = 1}); }, "num_bits must be between");
  ExpectError([&] { InqQuantize(w, fixed, step, {.iterations = {3, 3}}); }, "must ascend");
}

}  // namespace
}  // namespace firn

// Each method calls the function of its name, with the same defaults, and passes its arguments in
// the same places. Other tests check the results of functions.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"

namespace firn {
namespace {

// A call as a method and as a function.
struct Pair {
  std::string call;
  Tensor method, function;
};

void ExpectAlike(const std::vector<Pair>& pairs) {
  for (const Pair& p : pairs) EXPECT_TRUE(p.method.Equals(p.function)) << p.call;
  // Such as an element-by-element method that is bound to another function.
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(pairs[i].function.Equals(pairs[j].function))
          << pairs[i].call << " and " << pairs[j].call << " cannot be told apart";
    }
  }
}

// The two calls, and their text.
#define FIRN_PAIR(method, function) \
  { #method, method, function }

// Distinct, between -2.5 and 2.5, no integer and nothing halfway between two; 0 is not among them.
Tensor Mixed() { return Arange(24).To(DType::kF64).Reshape({2, 3, 4}) * 0.21 - 2.45; }
Tensor Positive() { return Exp(Mixed()); }

TEST(MethodsTest, ElementByElement) {
  const Tensor x = Mixed(), y = Positive(), z = x.T().Contiguous().Reshape({2, 3, 4});
  const Tensor positive = x > 0, opposite = Flip(x, {0});  // each of the other sign
  ExpectAlike({
      FIRN_PAIR(x.Abs(), Abs(x)),
      FIRN_PAIR(x.Neg(), Neg(x)),
      FIRN_PAIR(x.Sign(), Sign(x)),
      FIRN_PAIR(x.Exp(), Exp(x)),
      FIRN_PAIR(x.Expm1(), Expm1(x)),
      FIRN_PAIR((y * 2).Log(), Log(y * 2)),
      FIRN_PAIR(y.Log1p(), Log1p(y)),
      FIRN_PAIR(y.Log2(), Log2(y)),
      FIRN_PAIR(y.Log10(), Log10(y)),
      FIRN_PAIR(x.Logaddexp(z), Logaddexp(x, z)),
      FIRN_PAIR(y.Sqrt(), Sqrt(y)),
      FIRN_PAIR(y.Rsqrt(), Rsqrt(y)),
      FIRN_PAIR(x.Square(), Square(x)),
      FIRN_PAIR(x.Reciprocal(), Reciprocal(x)),
      FIRN_PAIR(y.Pow(x), Pow(y, x)),
      FIRN_PAIR(x.Sin(), Sin(x)),
      FIRN_PAIR(x.Cos(), Cos(x)),
      FIRN_PAIR(x.Tanh(), Tanh(x)),
      FIRN_PAIR(x.Sigmoid(), Sigmoid(x)),
      FIRN_PAIR(x.Relu(), Relu(x)),
      FIRN_PAIR(x.Hardshrink(), Hardshrink(x)),
      FIRN_PAIR(x.Hardshrink(2), Hardshrink(x, 2)),
      FIRN_PAIR(x.Floor(), Floor(x)),
      FIRN_PAIR(x.Ceil(), Ceil(x)),
      FIRN_PAIR(x.Round(), Round(x)),
      FIRN_PAIR(x.Round({.decimals = 1}), Round(x, {.decimals = 1})),
      FIRN_PAIR(x.Trunc(), Trunc(x)),
      FIRN_PAIR(x.Clamp(-1), Clamp(x, -1)),
      FIRN_PAIR(x.Clamp(-1, 2), Clamp(x, -1, 2)),
      FIRN_PAIR(x.Maximum(z), Maximum(x, z)),
      FIRN_PAIR(x.Minimum(z), Minimum(x, z)),
      FIRN_PAIR(x.Fmod(opposite), Fmod(x, opposite)),
      FIRN_PAIR(x.Remainder(opposite), Remainder(x, opposite)),
      FIRN_PAIR(x.Lerp(z, y), Lerp(x, z, y)),
      FIRN_PAIR(x.MaskedFill(positive, 7), MaskedFill(x, positive, 7)),
      FIRN_PAIR(x.Where(positive, y), Where(positive, x, y)),
  });
}

TEST(MethodsTest, Trigonometry) {
  const Tensor x = Mixed(), z = Flip(x, {0, 1, 2}) * 2;
  const Tensor sine = x * 0.4, above_one = Positive() + 1;
  ExpectAlike({
      FIRN_PAIR(x.Tan(), Tan(x)),
      FIRN_PAIR(sine.Asin(), Asin(sine)),
      FIRN_PAIR(sine.Acos(), Acos(sine)),
      FIRN_PAIR(x.Atan(), Atan(x)),
      FIRN_PAIR(x.Atan2(z), Atan2(x, z)),
      FIRN_PAIR(x.Sinh(), Sinh(x)),
      FIRN_PAIR(x.Cosh(), Cosh(x)),
      FIRN_PAIR(x.Asinh(), Asinh(x)),
      FIRN_PAIR(above_one.Acosh(), Acosh(above_one)),
      FIRN_PAIR(sine.Atanh(), Atanh(sine)),
      FIRN_PAIR(x.Erf(), Erf(x)),
      FIRN_PAIR(x.Sinc(), Sinc(x)),
      FIRN_PAIR(x.Lgamma(), Lgamma(x)),
      FIRN_PAIR(x.Digamma(), Digamma(x)),
      FIRN_PAIR(x.Polygamma(2), Polygamma(2, x)),
  });
}

TEST(MethodsTest, KindsOfNumbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor x = FromVector<double>({0.5, kInfinity, -kInfinity, kInfinity - kInfinity});
  ExpectAlike({
      FIRN_PAIR(x.Isnan(), Isnan(x)),
      FIRN_PAIR(x.Isinf(), Isinf(x)),
      FIRN_PAIR(x.Isinf({.negative = false}), Isinf(x, {.negative = false})),
      FIRN_PAIR(x.Isfinite(), Isfinite(x)),
      FIRN_PAIR(x.NanToNum(), NanToNum(x)),
      FIRN_PAIR(x.NanToNum({.nan = 2, .neginf = -1}), NanToNum(x, {.nan = 2, .neginf = -1})),
  });
}

TEST(MethodsTest, LogicAndBits) {
  const Tensor x = Arange(24), y = Flip(x, {0}) % 7;
  const Tensor some = x % 3 == 0, others = x % 4 == 0;
  ExpectAlike({
      FIRN_PAIR(some.LogicalAnd(others), LogicalAnd(some, others)),
      FIRN_PAIR(some.LogicalOr(others), LogicalOr(some, others)),
      FIRN_PAIR(some.LogicalXor(others), LogicalXor(some, others)),
      FIRN_PAIR(some.LogicalNot(), LogicalNot(some)),
      FIRN_PAIR(x.BitwiseAnd(y), BitwiseAnd(x, y)),
      FIRN_PAIR(x.BitwiseOr(y), BitwiseOr(x, y)),
      FIRN_PAIR(x.BitwiseXor(y), BitwiseXor(x, y)),
      FIRN_PAIR(x.BitwiseNot(), BitwiseNot(x)),
      FIRN_PAIR(x.BitwiseLeftShift(y), BitwiseLeftShift(x, y)),
      FIRN_PAIR(x.BitwiseRightShift(y), BitwiseRightShift(x, y)),
  });
}

TEST(MethodsTest, Draws) {
  const Tensor p = Positive() / 13;
  EXPECT_EQ(p.Bernoulli().shape(), p.shape());
  EXPECT_EQ(p.Multinomial(2).shape(), Shape({2, 3, 2}));
  RandomGenerator one(5), same(5);
  EXPECT_TRUE(p.Bernoulli(&one).Equals(Bernoulli(p, &same)));
  EXPECT_TRUE(p.Multinomial(9, {.replacement = true, .generator = &one})
                  .Equals(Multinomial(p, 9, {.replacement = true, .generator = &same})));
}

TEST(MethodsTest, Shape) {
  const Tensor x = Mixed(), thin = x.Reshape({1, 8, 1, 3});
  ExpectAlike({
      FIRN_PAIR(x.View({4, 6}), View(x, {4, 6})),
      FIRN_PAIR(x.Reshape({-1, 8}), Reshape(x, {-1, 8})),
      FIRN_PAIR(x.Flatten(), Flatten(x)),
      FIRN_PAIR(x.Flatten(1), Flatten(x, 1)),
      FIRN_PAIR(x.Flatten(0, 1), Flatten(x, 0, 1)),
      FIRN_PAIR(thin.Squeeze(), Squeeze(thin)),
      FIRN_PAIR(thin.Squeeze(2), Squeeze(thin, 2)),
      FIRN_PAIR(x.Unsqueeze(-1), Unsqueeze(x, -1)),
      FIRN_PAIR(x.Transpose(0, 2), Transpose(x, 0, 2)),
      FIRN_PAIR(x.T(), Transpose(x, -2, -1)),
      FIRN_PAIR(x.Permute({1, 2, 0}), Permute(x, {1, 2, 0})),
      FIRN_PAIR(x.Movedim(2, 0), Movedim(x, 2, 0)),
      FIRN_PAIR(x.Flip({0, 2}), Flip(x, {0, 2})),
      FIRN_PAIR(x.Expand(Shape({5, 2, 3, 4})), Expand(x, Shape({5, 2, 3, 4}))),
      FIRN_PAIR(x.Expand({3, -1, -1, -1}), Expand(x, {3, -1, -1, -1})),
      FIRN_PAIR(x.Tile({2, 1, 3}), Tile(x, {2, 1, 3})),
      FIRN_PAIR(x.Split(1)[1], Split(x, 1)[1]),
      FIRN_PAIR(x.Split(2, 1)[1], Split(x, 2, 1)[1]),
      FIRN_PAIR(x.Split({1, 2}, 1)[1], Split(x, {1, 2}, 1)[1]),
      FIRN_PAIR(x.Chunk(2)[0], Chunk(x, 2)[0]),
      FIRN_PAIR(x.Chunk(2, -1)[1], Chunk(x, 2, -1)[1]),
      FIRN_PAIR(x.Unbind()[1], Unbind(x)[1]),
      FIRN_PAIR(x.Unbind(2)[3], Unbind(x, 2)[3]),
  });
  EXPECT_EQ(x.Split({1, 1}).size(), 2u);
}

TEST(MethodsTest, ChoiceOfElements) {
  const Tensor x = Mixed(), two = FromVector(std::vector<int64_t>{2, 0});
  const Tensor first = FromVector(std::vector<int64_t>{0});
  const Tensor at = Zeros({2, 2, 4}, DType::kI64) + 1, source = Positive();
  const Tensor positive = x > 0;
  ExpectAlike({
      FIRN_PAIR(x.Select(2, 1), Select(x, 2, 1)),
      FIRN_PAIR(x.IndexSelect(1, two), IndexSelect(x, 1, two)),
      FIRN_PAIR(x.IndexAdd(1, two, source.Split({2, 1}, 1)[0]),
                IndexAdd(x, 1, two, Split(source, {2, 1}, 1)[0])),
      FIRN_PAIR(x.IndexAdd(1, two, source.Split({2, 1}, 1)[0], 3),
                IndexAdd(x, 1, two, Split(source, {2, 1}, 1)[0], 3)),
      FIRN_PAIR(x.IndexPut({first}, 7), IndexPut(x, {first}, 7)),
      FIRN_PAIR(x.IndexPut({{}, two}, 7, true), IndexPut(x, {{}, two}, 7, true)),
      FIRN_PAIR(x.Gather(1, at), Gather(x, 1, at)),
      FIRN_PAIR(x.ScatterAdd(1, at, source), ScatterAdd(x, 1, at, source)),
      FIRN_PAIR(x.SliceScatter(source, 2), SliceScatter(x, source, 2)),
      FIRN_PAIR(x.SliceScatter(source.Chunk(2, 2)[0], 2, 1, 4, 2),
                SliceScatter(x, Chunk(source, 2, 2)[0], 2, 1, 4, 2)),
      FIRN_PAIR(x.MaskedSelect(positive), MaskedSelect(x, positive)),
      FIRN_PAIR(positive.Nonzero(), Nonzero(positive)),
  });
}

TEST(MethodsTest, OverDimensions) {
  const Tensor x = Mixed();
  const Tensor some = x > Mixed().Flip({0, 1, 2}) * 1.5, nearly = x > -2;
  ExpectAlike({
      FIRN_PAIR(x.Sum(), Sum(x)),
      FIRN_PAIR(x.Sum(1), Sum(x, 1)),
      FIRN_PAIR(x.Sum({0, 2}, true), Sum(x, {0, 2}, true)),
      FIRN_PAIR(x.Mean(), Mean(x)),
      FIRN_PAIR(x.Mean(1, true), Mean(x, 1, true)),
      FIRN_PAIR(x.Prod(), Prod(x)),
      FIRN_PAIR(x.Prod({0, 1}, true), Prod(x, {0, 1}, true)),
      FIRN_PAIR(x.Var(), Var(x)),
      FIRN_PAIR(x.Var(0, 0, true), Var(x, 0, 0, true)),
      FIRN_PAIR(x.Std(), Std(x)),
      FIRN_PAIR(x.Std(0, 0, true), Std(x, 0, 0, true)),
      FIRN_PAIR(x.Norm(), Norm(x)),
      FIRN_PAIR(x.Norm(3, {1}, true), Norm(x, 3, {1}, true)),
      FIRN_PAIR(x.Logsumexp(), Logsumexp(x)),
      FIRN_PAIR(x.Logsumexp(-1, true), Logsumexp(x, -1, true)),
      FIRN_PAIR(x.Amax(), Amax(x)),
      FIRN_PAIR(x.Amax(2, true), Amax(x, 2, true)),
      FIRN_PAIR(x.Amin(), Amin(x)),
      FIRN_PAIR(x.Amin(2, true), Amin(x, 2, true)),
  });
  ExpectAlike({
      FIRN_PAIR(nearly.All(), All(nearly)),
      FIRN_PAIR(nearly.All({0, 2}, true), All(nearly, {0, 2}, true)),
      FIRN_PAIR(nearly.Any(), Any(nearly)),
      FIRN_PAIR(some.Any({1, 2}, true), Any(some, {1, 2}, true)),
  });
}

TEST(MethodsTest, Extremes) {
  const Tensor x = (Mixed() * 3).Sin();
  ExpectAlike({
      FIRN_PAIR(x.Max(), Max(x)),
      FIRN_PAIR(x.Min(), Min(x)),
      FIRN_PAIR(x.Max(1).values, Max(x, 1).values),
      FIRN_PAIR(x.Max(1).indices, Max(x, 1).indices),
      FIRN_PAIR(x.Max(0, true).values, Max(x, 0, true).values),
      FIRN_PAIR(x.Min(1).values, Min(x, 1).values),
      FIRN_PAIR(x.Min(1).indices, Min(x, 1).indices),
      FIRN_PAIR(x.Min(0, true).values, Min(x, 0, true).values),
      FIRN_PAIR(x.Argmax(), Argmax(x)),
      FIRN_PAIR(x.Argmax(2), Argmax(x, 2)),
      FIRN_PAIR(x.Argmax(0, true), Argmax(x, 0, true)),
      FIRN_PAIR(x.Argmin(), Argmin(x)),
      FIRN_PAIR(x.Argmin(2), Argmin(x, 2)),
      FIRN_PAIR(x.Argmin(0, true), Argmin(x, 0, true)),
  });
}

TEST(MethodsTest, AlongADimension) {
  const Tensor x = (Mixed() * 3).Sin();
  ExpectAlike({
      FIRN_PAIR(x.Softmax(1), Softmax(x, 1)),
      FIRN_PAIR(x.Softmax(-1), Softmax(x, -1)),
      FIRN_PAIR(x.LogSoftmax(1), LogSoftmax(x, 1)),
      FIRN_PAIR(x.Cumsum(0), Cumsum(x, 0)),
      FIRN_PAIR(x.Cumsum(0, {.reverse = true}), Cumsum(x, 0, {.reverse = true})),
      FIRN_PAIR(x.Cumprod(1), Cumprod(x, 1)),
      FIRN_PAIR(x.Cumprod(1, {.exclusive = true}), Cumprod(x, 1, {.exclusive = true})),
      FIRN_PAIR(x.Sort().values, Sort(x).values),
      FIRN_PAIR(x.Sort().indices, Sort(x).indices),
      FIRN_PAIR(x.Sort(1, {.descending = true}).values, Sort(x, 1, {.descending = true}).values),
      FIRN_PAIR(x.Argsort(1), Argsort(x, 1)),
      FIRN_PAIR(x.Argsort(1, {.descending = true}), Argsort(x, 1, {.descending = true})),
      FIRN_PAIR(x.Topk(2).values, Topk(x, 2).values),
      FIRN_PAIR(x.Topk(2, 1).indices, Topk(x, 2, 1).indices),
      FIRN_PAIR(x.Topk(2, 1, {.largest = false}).values, Topk(x, 2, 1, {.largest = false}).values),
      FIRN_PAIR(x.Matmul(x.T()), Matmul(x, x.T())),
  });
  EXPECT_TRUE(x.Argsort().Equals(Argsort(x)));
}

#undef FIRN_PAIR

TEST(MethodsTest, ErrorsNameTheOperation) {
  EXPECT_EQ(testing::ErrorOf([] { Mixed().Softmax(3); }),
            testing::ErrorOf([] { Softmax(Mixed(), 3); }));
  EXPECT_THROW(Tensor().Softmax(0), Error);
  EXPECT_THROW(Tensor().Max(), Error);
  EXPECT_THROW(Tensor().Max(0), Error);
  EXPECT_THROW(Tensor().Split(1), Error);
}

}  // namespace
}  // namespace firn

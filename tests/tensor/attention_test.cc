// What the conformance suite cannot test of attention: ranks and broadcasting of the function, the
// layout of the result, the draws of dropout, the memory that is needed, and evaluation of graphs.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "firn/autograd/backward.h"
#include "firn/device/memory.h"
#include "firn/tensor/autocast.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/testing/samples.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::Normal;

Tensor Seeded(const Shape& shape, uint64_t seed) { return Normal(shape, seed); }

// softmax(scores) v, written out; without a mask.
Tensor Written(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scores =
      Matmul(q, k, false, true) * (1 / std::sqrt(static_cast<double>(q.shape().dim(-1))));
  return Matmul(Softmax(scores, -1), v);
}

void ExpectNear(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  if (got.num_elements() == 0) return;
  EXPECT_LT(Amax(Abs(got - want)).Item<double>(), 1e-12);
}

TEST(AttentionTest, TakesEveryRankAndBroadcastsBatches) {
  const std::pair<Shape, Shape> shapes[] = {
      {{3, 4}, {5, 4}},
      {{2, 3, 4}, {2, 5, 4}},
      {{2, 3, 4}, {1, 5, 4}},
      {{3, 4}, {2, 5, 4}},
      {{1, 2, 3, 4}, {3, 2, 5, 4}},
      {{2, 1, 2, 3, 4}, {1, 3, 1, 5, 4}},
      {{2, 3, 1, 1, 2, 4}, {2, 3, 1, 2, 5, 4}},
      {{0, 2, 3, 4}, {0, 2, 5, 4}},
  };
  for (const auto& [left, right] : shapes) {
    SCOPED_TRACE(left.ToString() + " " + right.ToString());
    const Tensor q = Seeded(left, 1), k = Seeded(right, 2), v = Seeded(right, 3);
    ExpectNear(ScaledDotProductAttention(q, k, v), Written(q, k, v));
  }
}

TEST(AttentionTest, BroadcastsMasksOverFlattenedBatches) {
  const Tensor q = Seeded({2, 3, 2, 4, 2}, 1), k = Seeded({2, 3, 2, 5, 2}, 2);
  const Tensor scores = Matmul(q, k, false, true) * std::sqrt(0.5);
  for (const Shape& shape : {Shape{5}, Shape{4, 5}, Shape{2, 1, 5}, Shape{1, 2, 4, 5},
                             Shape{3, 1, 4, 1}, Shape{2, 1, 1, 4, 5}, Shape{1, 1, 2, 4, 5}}) {
    SCOPED_TRACE(shape.ToString());
    const Tensor mask = Seeded(shape, 4);
    ExpectNear(ScaledDotProductAttention(q, k, k, {.mask = mask}),
               Matmul(Softmax(scores + mask, -1), k));
  }
}

TEST(AttentionTest, JoiningHeadsIsAView) {
  const Tensor y = ScaledDotProductAttention(Seeded({2, 3, 4, 5}, 1), Seeded({2, 3, 4, 5}, 2),
                                             Seeded({2, 3, 4, 5}, 3));
  const Tensor joined = Reshape(Permute(y, {0, 2, 1, 3}), {2, 4, 15});
  EXPECT_EQ(joined.impl()->storage.get(), y.impl()->storage.get());
}

TEST(AttentionTest, SharedHeadsMustBeAskedFor) {
  const Tensor q = Seeded({1, 4, 3, 2}, 1), k = Seeded({1, 2, 3, 2}, 2);
  EXPECT_EQ(
      ErrorOf([&] { ScaledDotProductAttention(q, k, k); }),
      "scaled_dot_product_attention: q, k and v have 4, 2 and 2 heads (enable_gqa lets k and v "
      "have fewer)");
  const Tensor y = ScaledDotProductAttention(q, k, k, {.enable_gqa = true});
  for (int64_t h = 0; h < 4; ++h) {
    ExpectNear(y[{0, h}], Written(q[{0, h}], k[{0, h / 2}], k[{0, h / 2}]));
  }
}

TEST(AttentionTest, DropsWhatDropoutOfTheWeightsDrops) {
  const Tensor q = Seeded({2, 2, 3, 4}, 1), k = Seeded({2, 2, 7, 4}, 2),
               v = Seeded({2, 2, 7, 4}, 3);
  RandomGenerator one(5), other(5);
  const Tensor weights = Softmax(Matmul(q, k, false, true) * 0.5, -1);
  for (int call = 0; call < 2; ++call) {  // the second draws from where the first ended
    const Tensor got = ScaledDotProductAttention(q, k, v, {.dropout = 0.3, .generator = &one});
    ExpectNear(got, Matmul(Dropout(weights, 0.3, true, &other), v));
    EXPECT_EQ(one.position(), other.position());
  }
}

TEST(AttentionTest, DrawsNothingOnAnError) {
  RandomGenerator generator(5);
  const PhiloxState before = generator.position();
  const Tensor q = Seeded({2, 3, 4}, 1), short_k = Seeded({2, 3, 3}, 2);
  AttentionOptions o{.dropout = 0.5, .generator = &generator};
  EXPECT_NE(ErrorOf([&] { ScaledDotProductAttention(q, short_k, q, o); }), "");
  EXPECT_NE(ErrorOf([&] { ScaledDotProductAttention(q, Cast(q, DType::kF32), q, o); }), "");
  o.mask = Ones({7});
  EXPECT_NE(ErrorOf([&] { ScaledDotProductAttention(q, q, q, o); }), "");
  o = {.dropout = 1.5, .generator = &generator};
  EXPECT_EQ(ErrorOf([&] { ScaledDotProductAttention(q, q, q, o); }),
            "scaled_dot_product_attention: dropout 1.5 is outside [0, 1]");
  EXPECT_EQ(generator.position(), before);
}

TEST(AttentionTest, DropsUnderAutocastWhateverDtypesItConverts) {
  RandomGenerator generator(5);
  const PhiloxState before = generator.position();
  const Tensor q = Cast(Seeded({2, 3, 4}, 1), DType::kF32), low = Cast(q, DType::kBF16);
  const Tensor mask = Cast(Seeded({3, 3}, 2), DType::kF32);
  const AutocastScope autocast(DType::kBF16);
  AttentionOptions o{.mask = mask, .dropout = 0.5, .generator = &generator};
  EXPECT_EQ(ScaledDotProductAttention(low, low, low, o).dtype(), DType::kBF16);
  o.mask = Cast(mask, DType::kBF16);
  EXPECT_EQ(ScaledDotProductAttention(q, low, q, o).dtype(), DType::kBF16);
  EXPECT_NE(generator.position(), before);
  const PhiloxState after = generator.position();
  o.mask = Cast(mask, DType::kF64);  // which autocast leaves alone
  EXPECT_NE(ErrorOf([&] { ScaledDotProductAttention(q, q, q, o); }), "");
  EXPECT_NE(ErrorOf([&] {
              ScaledDotProductAttention(q, Cast(q, DType::kF64), q,
                                        {.dropout = 0.5, .generator = &generator});
            }),
            "");
  EXPECT_EQ(generator.position(), after);
}

TEST(AttentionTest, AQueryThatSeesNothingGivesZeroAndNoGradient) {
  Tensor q = Seeded({2, 3}, 1).SetRequiresGrad(), k = Seeded({4, 3}, 2).SetRequiresGrad();
  const Tensor mask = Stack({Zeros({4}), Ones({4})}) > 0.5;
  const Tensor y = ScaledDotProductAttention(q, k, k, {.mask = mask});
  EXPECT_TRUE(y[0].Equals(ZerosLike(y[0])));
  const std::vector<Tensor> d = Grad({Sum(Square(y))}, {q, k});
  EXPECT_TRUE(d[0][0].Equals(ZerosLike(d[0][0])));
  EXPECT_TRUE(All(Isfinite(d[1])).Item<bool>());
}

// Scores of 1e10 are off by a thousand in f32: weights that are computed again would be infinite.
TEST(AttentionTest, LargeScoresHaveFiniteGradients) {
  for (const double size : {1e3, 1e5, 1e7}) {
    const auto large = [&](uint64_t seed) {
      return Mul(Seeded({2, 3, 40, 5}, seed).To(DType::kF32), size).Detach().SetRequiresGrad();
    };
    Tensor q = large(1), k = large(2), v = Seeded({2, 3, 40, 5}, 3).To(DType::kF32);
    v.SetRequiresGrad();
    const Tensor y = ScaledDotProductAttention(q, k, v);
    const std::vector<Tensor> d = Grad({Sum(y)}, {q, k, v});
    for (const Tensor& one : d) EXPECT_TRUE(All(Isfinite(one)).Item<bool>()) << size;
    EXPECT_LE(Amax(d[2]).Item<float>(), 40) << size;
  }
}

// A step reads only the keys and values that a cache holds, whatever lies behind them.
TEST(AttentionTest, AFewQueriesDoNotReadTheKeysAtTheEndThatAMaskHides) {
  const int64_t lengths[] = {0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 100};
  for (const int64_t seen : lengths) {
    SCOPED_TRACE(seen);
    Tensor q = Seeded({2, 3, 2, 40}, 1), k = Seeded({2, 3, 100, 40}, 2);
    Tensor v = Seeded({2, 3, 100, 40}, 3);
    for (Tensor* const t : {&k, &v}) {
      Slice(*t, 2, seen, 100).Fill(std::numeric_limits<double>::quiet_NaN());
    }
    Tensor mask = Zeros({2, 100}, DType::kBool);
    Slice(mask, 1, 0, seen).Fill(true);
    const Tensor y = ScaledDotProductAttention(q, k, v, {.mask = mask});
    if (seen == 0) {
      EXPECT_TRUE(y.Equals(Zeros(y.shape(), y.dtype())));
      continue;
    }
    ExpectNear(y, Written(q, Slice(k, 2, 0, seen), Slice(v, 2, 0, seen)));
  }
}

// Scores in f64 would take 32 MB.
TEST(AttentionTest, NeverHoldsTheWeights) {
  const Shape shape{1, 1, 2048, 8};
  Tensor q = Seeded(shape, 1).SetRequiresGrad();
  const auto peak_of = [](auto f) {
    EXPECT_TRUE(memory::ResetPeak({}).ok());
    const int64_t before = *memory::Peak({});
    f();
    return *memory::Peak({}) - before;
  };
  const int64_t bytes = peak_of([&] {
    const Tensor y = ScaledDotProductAttention(q, q, q, {.dropout = 0.1, .is_causal = true});
    Grad({Sum(y)}, {q});
  });
  EXPECT_LT(bytes, 8 << 20);
}

TEST(AttentionTest, GraphsForEvaluationDropNothing) {
  const OpDef& op = Op("scaled_dot_product_attention");
  const Tensor q = Seeded({1, 1, 3, 4}, 1);
  const absl::StatusOr<TensorList> y =
      TraitsOf(op).evaluate(std::vector<Tensor>{q, q, q, Tensor(), testing::Indices({1, 2})},
                            AttentionAttrs{.scale = 0.5, .dropout = 0.9});
  ASSERT_TRUE(y.ok()) << y.status();
  ExpectNear(Permute((*y)[0], {0, 2, 1, 3}), ScaledDotProductAttention(q, q, q));
}

}  // namespace
}  // namespace firn

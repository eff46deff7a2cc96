// Attention of so many queries and keys that the processor's tiles of bfloat16, if it has some, are
// used: compares results in f32, bf16 and f16 with those of the same numbers in f64, whose products
// are of doubles.

#include <gtest/gtest.h>

#include <limits>

#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/testing/samples.h"

namespace firn {
namespace {

using testing::Normal;

constexpr DType kDTypes[] = {DType::kF32, DType::kBF16, DType::kF16};

// A result is rounded to its dtype, and its weights, which sum to 1, are off by some units of f32
// or, for half types, of 16 bits: relative to 1 or the result, whichever is larger.
double Allowed(DType dtype) {
  return dtype == DType::kF32 ? 0x1p-19 : dtype == DType::kBF16 ? 0x1p-8 : 0x1p-11;
}

void Compare(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
             double times = 1) {
  const auto wide = [](const Tensor& x) { return x.To(DType::kF64); };
  AttentionOptions of_wide = options;
  const bool added = options.mask.defined() && options.mask.dtype() != DType::kBool;
  if (added) of_wide.mask = wide(options.mask);
  const Tensor want = ScaledDotProductAttention(wide(q), wide(k), wide(v), of_wide);
  const Tensor got = ScaledDotProductAttention(q, k, v, options);
  ASSERT_EQ(got.shape(), want.shape());
  const Tensor off = Abs(wide(got) - want) / (Abs(want) + 1);
  EXPECT_LT(Amax(off).Item<double>(), times * Allowed(q.dtype())) << q.dtype();
}

Tensor Of(DType dtype, const Shape& shape, uint64_t seed) { return Normal(shape, seed).To(dtype); }

struct Sizes {
  int64_t queries, keys, width, value_width;
};
constexpr Sizes kSizes[] = {{32, 32, 16, 16},  {64, 256, 64, 64},  {70, 300, 33, 20},
                            {100, 40, 50, 72}, {257, 513, 17, 40}, {129, 129, 64, 130}};

TEST(AttentionPartsTest, IsThatOfDoubles) {
  for (const DType dtype : kDTypes) {
    for (const Sizes& s : kSizes) {
      SCOPED_TRACE(s.keys);
      const Tensor q = Of(dtype, {2, 3, s.queries, s.width}, 1);
      const Tensor k = Of(dtype, {2, 3, s.keys, s.width}, 2);
      const Tensor v = Of(dtype, {2, 3, s.keys, s.value_width}, 3);
      for (const bool causal : {false, true}) Compare(q, k, v, {.is_causal = causal});
      const Tensor mask = Normal({2, 1, s.queries, s.keys}, 4);
      Compare(q, k, v, {.mask = mask > -1.0});
      Compare(q, k, v, {.mask = mask.To(dtype), .is_causal = true, .scale = 0.3});
    }
  }
}

TEST(AttentionPartsTest, TakesOperandsHoweverTheyLie) {
  for (const DType dtype : kDTypes) {
    const Tensor q = Transpose(Of(dtype, {2, 70, 4, 40}, 1), 1, 2);
    const Tensor k = Transpose(Of(dtype, {2, 2, 40, 300}, 2), 2, 3);
    const Tensor v = Transpose(Of(dtype, {2, 2, 24, 300}, 3), 2, 3);
    Compare(q, k, v, {.enable_gqa = true});
  }
}

// Scores of 100 are off by as many units, and so are the weights; if q or k had two parts, it would
// be 256 times as many.
TEST(AttentionPartsTest, KeepsTheDigitsOfScores) {
  const Tensor q = Of(DType::kF32, {1, 1, 64, 32}, 1), k = Of(DType::kF32, {1, 1, 64, 32}, 2);
  Compare(q * 4.0, k, Of(DType::kF32, {1, 1, 64, 32}, 3), {.scale = 1}, 100);
}

TEST(AttentionPartsTest, DropsTheSameWeights) {
  for (const DType dtype : kDTypes) {
    const Tensor q = Of(dtype, {1, 2, 70, 32}, 1), v = Of(dtype, {1, 2, 300, 32}, 2);
    RandomGenerator one(5), two(5);
    const Tensor narrow = ScaledDotProductAttention(q, v, v, {.dropout = 0.4, .generator = &one});
    const Tensor wide =
        ScaledDotProductAttention(q.To(DType::kF64), v.To(DType::kF64), v.To(DType::kF64),
                                  {.dropout = 0.4, .generator = &two});
    const Tensor off = Abs(narrow.To(DType::kF64) - wide) / (Abs(wide) + 1);
    EXPECT_LT(Amax(off).Item<double>(), 2 * Allowed(dtype)) << dtype;
  }
}

// One infinite query, key or value leaves the results of others as they are with doubles. Queries
// before that one do not see it, but 0 times infinity is NaN in those that are computed beside it.
// Number 35 lies where these are the same for floats and doubles in registers of 16, 32 and 64
// bytes.
TEST(AttentionPartsTest, KeepsWhatIsNotFiniteWhereItBelongs) {
  for (const DType dtype : kDTypes) {
    for (int of = 0; of < 3; ++of) {
      Tensor all[] = {Of(dtype, {1, 2, 70, 32}, 1), Of(dtype, {1, 2, 300, 32}, 2),
                      Of(dtype, {1, 2, 300, 32}, 3)};
      all[of][0][1][35][3].Fill(std::numeric_limits<double>::infinity());
      const auto attend = [&](DType in) {
        return ScaledDotProductAttention(all[0].To(in), all[1].To(in), all[2].To(in),
                                         {.is_causal = true})
            .To(DType::kF64);
      };
      const Tensor got = attend(dtype), want = attend(DType::kF64);
      EXPECT_TRUE(Isnan(got).Equals(Isnan(want))) << dtype << " " << of;
      EXPECT_TRUE(Isinf(got).Equals(Isinf(want))) << dtype << " " << of;
      const Tensor finite = Isfinite(want);
      const Tensor off = Where(finite, Abs(got - want), ZerosLike(want));
      EXPECT_LT(Amax(off).Item<double>(), 8 * Allowed(dtype)) << dtype << " " << of;
    }
  }
}

}  // namespace
}  // namespace firn

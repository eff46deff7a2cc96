#include "firn/nn/embedding.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/nn/hooks.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

std::string ErrorWith(int64_t padding_idx) {
  return testing::ErrorOf([&] { Embedding({.count = 3, .size = 2, .padding_idx = padding_idx}); });
}

TEST(EmbeddingTest, ThePaddingRowIsOneOfTheTable) {
  EXPECT_EQ(ErrorWith(-3), "");
  EXPECT_EQ(ErrorWith(2), "");
  EXPECT_EQ(ErrorWith(3), "nn::Embedding: padding_idx 3 is outside [-3, 3)");
  EXPECT_EQ(ErrorWith(-4), "nn::Embedding: padding_idx -4 is outside [-3, 3)");
}

TEST(EmbeddingTest, BothSizesMustBeGiven) {
  using testing::ErrorOf;
  EXPECT_EQ(ErrorOf([] { Embedding({.size = 2}); }),
            "nn::Embedding: count is 0 (want a positive number)");
  EXPECT_EQ(ErrorOf([] { Embedding({.count = 2}); }),
            "nn::Embedding: size is 0 (want a positive number)");
}

TEST(EmbeddingTest, ThePaddingRowStartsAsZeros) {
  const Embedding table({.count = 3, .size = 2, .padding_idx = -2});
  const std::vector<float> rows = table.weight().ToVector<float>();
  EXPECT_EQ(std::vector<float>(rows.begin() + 2, rows.begin() + 4), (std::vector<float>{0, 0}));
  EXPECT_NE(rows[0], 0);
  EXPECT_NE(rows[4], 0);
}

TEST(EmbeddingBagTest, IsATableToo) {
  EXPECT_EQ(testing::ErrorOf([] { EmbeddingBag({.count = 3, .size = 2, .padding_idx = 3}); }),
            "nn::EmbeddingBag: padding_idx 3 is outside [-3, 3)");
  EXPECT_EQ(testing::ErrorOf([] { EmbeddingBag({.size = 2}); }),
            "nn::EmbeddingBag: count is 0 (want a positive number)");
  const EmbeddingBag bag({.count = 3, .size = 1, .padding_idx = 1});
  EXPECT_EQ(bag.weight().ToVector<float>()[1], 0);
  EXPECT_EQ(bag.ToString(), "EmbeddingBag(count=3, size=1, padding_idx=1)");
}

TEST(EmbeddingBagTest, OffsetsCutBagsOfAnyLengthAndRunHooksToo) {
  EmbeddingBag bag({.count = 4, .size = 2, .mode = EmbeddingBagMode::kSum});
  const Tensor lists = FromVector<int64_t>({0, 3, 2, 1}).Reshape({2, 2});
  const Tensor flat = lists.Reshape({-1}), offsets = FromVector<int64_t>({0, 2});
  const Tensor want = bag(lists);
  EXPECT_TRUE(bag(flat, offsets).Equals(want));
  const Tensor factors = Full({2, 2}, 2.0);
  EXPECT_TRUE(bag(lists, {}, factors).Equals(want * 2));
  EXPECT_TRUE(bag(flat, offsets, factors.Reshape({-1})).Equals(want * 2));
  int calls = 0;
  const HookHandle hook =
      bag.RegisterForwardHook([&](Module&, absl::Span<const Tensor>, Tensor&) { ++calls; });
  bag(flat, offsets);
  EXPECT_EQ(calls, 1);
  EXPECT_NE(testing::ErrorOf([&] { bag(flat); }), "");
}

}  // namespace
}  // namespace firn::nn

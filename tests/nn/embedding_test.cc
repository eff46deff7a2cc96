#include "firn/nn/embedding.h"

#include <gtest/gtest.h>

#include <vector>

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

}  // namespace
}  // namespace firn::nn

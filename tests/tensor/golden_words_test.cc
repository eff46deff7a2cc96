// The words of golden cases stand for the enumerators that operations have.

#include "firn/tensor/golden_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "firn/tensor/dtype.h"

namespace firn::testing {
namespace {

TEST(GoldenWordsTest, EveryDtypeHasItsName) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                            DType::kI32, DType::kI64, DType::kU8, DType::kBool}) {
    const auto number = static_cast<int64_t>(dtype);
    const std::string name = DTypeName(dtype);
    EXPECT_EQ(EnumeratorOf("dtype", name), number);
    EXPECT_EQ(WordFor("dtype", number), name);
  }
}

TEST(GoldenWordsTest, WordsOfOneAttributeAreNoneOfAnother) {
  EXPECT_EQ(WordFor("reduction", EnumeratorOf("reduction", "mean")), "mean");
  EXPECT_EQ(EnumeratorOf("mode", "mean"), -1);
  EXPECT_EQ(EnumeratorOf("alpha", "mean"), -1);
}

TEST(GoldenWordsTest, NumbersBeyondTheEnumHaveNoWord) {
  EXPECT_EQ(WordFor("reduction", -1), "");
  EXPECT_EQ(WordFor("reduction", 4), "");
  EXPECT_EQ(WordFor("alpha", 0), "");
}

}  // namespace
}  // namespace firn::testing

#include "firn/io/internal/crc32.h"

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

TEST(Crc32Test, IsZlibsForAllLengthsAndStarts) {
  RandomGenerator random(3);
  const auto numbers =
      Randint(0, 256, {700}, DType::kI64, {.generator = &random}).ToVector<int64_t>();
  const std::vector<unsigned char> bytes(numbers.begin(), numbers.end());
  for (size_t begin = 0; begin < 20; ++begin) {
    for (size_t n = 0; n + begin <= bytes.size(); n += n < 300 ? 1 : 37) {
      for (const uint32_t crc : {0u, 1u, 0xdeadbeefu}) {
        ASSERT_EQ(Crc32(crc, bytes.data() + begin, n), crc32_z(crc, bytes.data() + begin, n))
            << n << " bytes from " << begin;
      }
    }
  }
}

TEST(Crc32Test, CombinesThoseOfTwoPieces) {
  const std::string text = "the first piece and the second";
  for (size_t n = 0; n <= text.size(); ++n) {
    EXPECT_EQ(Crc32Combine(Crc32(0, text.data(), n), Crc32(0, text.data() + n, text.size() - n),
                           text.size() - n),
              Crc32(0, text.data(), text.size()));
  }
}

// The check value of the CRC's definition; no bytes give 0.
TEST(Crc32Test, KnownValues) {
  const std::string digits = "123456789";
  EXPECT_EQ(Crc32(0, digits.data(), digits.size()), 0xcbf43926u);
  EXPECT_EQ(Crc32(0, digits.data(), 0), 0u);
}

}  // namespace
}  // namespace firn::io::internal

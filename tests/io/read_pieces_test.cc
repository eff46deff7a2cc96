#include "firn/io/internal/read_pieces.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "firn/device/parallel.h"
#include "firn/io/internal/crc32.h"
#include "firn/io/random_access.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

using ::testing::HasSubstr;

std::string Bytes(size_t n) {
  std::string bytes(n, '\0');
  uint32_t state = 1;
  for (char& c : bytes) c = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  return bytes;
}

// A file that has only the first `size` of its bytes when they are read.
class Shrunk final : public RandomAccess {
 public:
  Shrunk(const std::string& bytes, int64_t left)
      : RandomAccess("shrunk", static_cast<int64_t>(bytes.size())), bytes_(bytes), left_(left) {}

 protected:
  absl::StatusOr<int64_t> Read(int64_t offset, void* out, int64_t n) const override {
    const int64_t got = std::clamp<int64_t>(left_ - offset, 0, n);
    std::copy_n(bytes_.data() + offset, got, static_cast<char*>(out));
    return got;
  }

 private:
  const std::string& bytes_;
  const int64_t left_;
};

class ReadPiecesTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetNumThreads(GetParam()); }
  void TearDown() override { SetNumThreads(threads_); }
  const int threads_ = NumThreads();
};

INSTANTIATE_TEST_SUITE_P(Threads, ReadPiecesTest, ::testing::Values(1, 2, 3));

TEST_P(ReadPiecesTest, GivesAllBytesAndTheirChecksum) {
  const std::string bytes = Bytes(25'000'003);
  const Shrunk file(bytes, static_cast<int64_t>(bytes.size()));
  for (const int64_t n : {0, 1, 262143, 262144, 262145, 4 << 20, (4 << 20) + 1, 25'000'000}) {
    for (const int64_t offset : {0, 3}) {
      std::string out(static_cast<size_t>(n) + 1, 'x');
      uint32_t crc = 7;
      ASSERT_TRUE(ReadPieces(file, offset, out.data(), n, "it", &crc).ok());
      const auto at = static_cast<size_t>(offset), count = static_cast<size_t>(n);
      EXPECT_TRUE(out == bytes.substr(at, count) + "x") << n << " from " << offset;
      EXPECT_EQ(crc, Crc32(0, bytes.data() + at, count)) << n << " from " << offset;
      ASSERT_TRUE(ReadPieces(file, offset, out.data(), n, "it").ok());
    }
  }
}

TEST_P(ReadPiecesTest, SaysWhatIsMissing) {
  const std::string bytes = Bytes(20'000'000);
  std::string out(bytes.size(), '\0');
  const Shrunk whole(bytes, 20'000'000);
  EXPECT_EQ(ReadPieces(whole, 10, out.data(), 20'000'000, "it").message(),
            "shrunk: offset 10, it: expected 20000000 bytes, got 19999990: the file ends early");
  EXPECT_THAT(std::string(ReadPieces(whole, -1, out.data(), 5, "it").message()),
              HasSubstr("lies outside the file"));
  // If several threads miss bytes, the message gives the first place.
  const Shrunk shrunk(bytes, 262144 + 5);
  const absl::Status status = ReadPieces(shrunk, 0, out.data(), 20'000'000, "it");
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_EQ(status.message(),
            "shrunk: offset 262144, it: expected 262144 bytes, got 5: the file ends early");
}

}  // namespace
}  // namespace firn::io::internal

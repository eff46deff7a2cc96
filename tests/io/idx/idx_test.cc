// Every element type, plain and compressed, and the errors for damaged files.
#include <sys/resource.h>

#include <string>
#include <vector>

#include "firn/device/memory.h"
#include "firn/io/idx/idx_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Writes the bytes and reads them back as IDX.
absl::StatusOr<Tensor> Read(const std::string& bytes, const LoadLimits& limits = {}) {
  const std::string path = TempPath("file.idx");
  WriteFile(path, bytes);
  return TryReadIdx(path, limits);
}

std::string Error(const std::string& bytes, const LoadLimits& limits = {}) {
  const absl::StatusOr<Tensor> result = Read(bytes, limits);
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : std::string(result.status().message());
}

TEST(IdxTest, ReadsBytesOfAnyRank) {
  const absl::StatusOr<Tensor> t = Read(Idx(8, {2, 3}, "abcdef"));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->spec().ToString(), "u8 [2, 3] on cpu");
  EXPECT_THAT(t->ToVector<int64_t>(), ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
  EXPECT_EQ(Read(Idx(8, {}, "x"))->shape(), Shape());
  EXPECT_EQ(Read(Idx(8, {1, 1, 1, 1, 1, 1, 1, 1}, "x"))->rank(), 8);
}

TEST(IdxTest, ReadsBigEndianNumbers) {
  using namespace std::string_literals;
  EXPECT_THAT(Read(Idx(9, {2}, "\x7f\xff"s))->ToVector<int64_t>(), ElementsAre(127, -1));
  const Tensor i16 = *Read(Idx(11, {3}, "\x01\x02\xff\xfe\x80\x00"s));
  EXPECT_EQ(i16.dtype(), DType::kI32);
  EXPECT_THAT(i16.ToVector<int64_t>(), ElementsAre(258, -2, -32768));
  EXPECT_THAT(Read(Idx(12, {1}, "\x00\x01\x00\x02"s))->ToVector<int64_t>(), ElementsAre(65538));
  EXPECT_THAT(Read(Idx(13, {1}, "\x3f\xc0\x00\x00"s))->ToVector<float>(), ElementsAre(1.5f));
  EXPECT_THAT(Read(Idx(14, {1}, "\xc0\x04\x00\x00\x00\x00\x00\x00"s))->ToVector<double>(),
              ElementsAre(-2.5));
}

TEST(IdxTest, ReadsGzipWhateverTheName) {
  const std::string idx = Idx(8, {300, 1000}, std::string(300000, 'z'));
  const absl::StatusOr<Tensor> t = Read(Gzip(idx));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->host_view<uint8_t>()[299999], 'z');
  // Two members, as `cat a.gz b.gz` makes.
  EXPECT_TRUE(Read(Gzip(idx.substr(0, 1000)) + Gzip(idx.substr(1000))).ok());
}

TEST(IdxTest, ReadsTensorsWithoutElements) {
  EXPECT_EQ(Read(Idx(8, {0, 28, 28}, ""))->shape(), (Shape{0, 28, 28}));
}

TEST(IdxTest, NamesFileOffsetFieldExpectedAndGot) {
  const std::string path = TempPath("file.idx");
  EXPECT_EQ(Error("ab"), path + ": offset 0, magic: expected 0 0, got 97 98: not an IDX file");
  EXPECT_EQ(Error(std::string(3, '\0')),
            path +
                ": offset 2, element type and dimensions: expected 2 bytes, got 1: the file ends "
                "early");
  EXPECT_THAT(Error("PK\x03\x04"), HasSubstr("offset 0, magic: expected 0 0, got 80 75"));
  EXPECT_THAT(Error(Idx(10, {1}, "x")), HasSubstr("offset 2, element type: expected 8, 9"));
  EXPECT_THAT(Error(Idx(8, {1, 1, 1, 1, 1, 1, 1, 1, 1}, "x")),
              HasSubstr("offset 3, number of dimensions: expected at most 8, got 9"));
  EXPECT_THAT(Error(Idx(8, {2, 3}, "abcde")),
              HasSubstr("elements of shape [2, 3] end at byte 18, the file has at most 17"));
  EXPECT_THAT(Error(Idx(8, {2, 3}, "abcdefg")),
              HasSubstr("offset 18, end: expected the end of the file, got more bytes"));
}

TEST(IdxTest, TellsDamageFromWhatIsNotRead) {
  EXPECT_EQ(Read(Idx(8, {1, 1, 1, 1, 1, 1, 1, 1, 1}, "x")).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Read(Idx(10, {1}, "x")).status().code(), absl::StatusCode::kDataLoss);
  for (const char* elements : {"", "xx"}) {
    EXPECT_EQ(Read(Idx(8, {1, 1, 1, 1, 1, 1, 1, 1, 1}, elements)).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(IdxTest, SaysDataLossForEveryTruncation) {
  const std::string plain = Idx(12, {2, 2}, std::string(16, 'q'));
  for (const std::string& whole : {plain, Gzip(plain)}) {
    ASSERT_TRUE(Read(whole).ok());
    for (size_t n = 0; n < whole.size(); ++n) {
      EXPECT_EQ(Read(whole.substr(0, n)).status().code(), absl::StatusCode::kDataLoss) << n;
    }
  }
}

TEST(IdxTest, NeverBelievesAFlippedBitInGzip) {
  const std::string idx = Idx(8, {40}, std::string(40, 'q'));
  const std::string whole = Gzip(idx);
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const absl::StatusOr<Tensor> t = Read(flipped);
    if (t.ok()) {  // a field of the gzip header that means nothing, such as the time
      EXPECT_EQ(t->ToVector<int64_t>(), std::vector<int64_t>(40, 'q')) << bit;
    } else {
      EXPECT_EQ(t.status().code(), absl::StatusCode::kDataLoss) << bit;
    }
  }
}

TEST(IdxTest, RefusesRubbishAfterGzip) {
  EXPECT_THAT(Error(Gzip(Idx(8, {1}, "x")) + "rubbish"), HasSubstr("damaged gzip data"));
}

TEST(IdxTest, TakesNoMemoryForSizesThatTheFileCannotHold) {
  const int64_t before = memory::Stats(Device::Cpu())->allocations;
  EXPECT_THAT(Error(Idx(8, {1u << 20, 1u << 20}, "x")), HasSubstr("bytes allowed"));
  EXPECT_THAT(Error(Idx(8, {4000000000u, 4000000000u}, "x")), HasSubstr("overflows"));
  EXPECT_THAT(Error(Idx(8, {4000000000u, 4000000000u, 4000000000u}, "x")), HasSubstr("sizes"));
  EXPECT_THAT(Error(Idx(14, {1u << 30}, "x")), HasSubstr("the file has at most 9"));
  EXPECT_THAT(Error(Gzip(Idx(8, {1u << 30}, std::string(10000, 'x')))),
              HasSubstr("the file has at most"));
  EXPECT_EQ(memory::Stats(Device::Cpu())->allocations, before);
}

int64_t MostBytesSoFar() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

// The reader looks at elements only to tell damage from a kind that it does not read.
TEST(IdxTest, TakesNoMemoryForElementsOfTooManyDimensions) {
  constexpr uint32_t kMiB = 1 << 20, kMembers = 128;
  const std::string member = Gzip(std::string(kMiB, 'x'));
  std::string file = Gzip(Idx(8, {kMembers, kMiB, 1, 1, 1, 1, 1, 1, 1}, ""));
  for (uint32_t i = 0; i < kMembers; ++i) file += member;
  const int64_t before = MostBytesSoFar();
  EXPECT_EQ(Read(file).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_LT(MostBytesSoFar() - before, kMembers / 4 * int64_t{kMiB});
  EXPECT_EQ(Read(file + member).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Read(file, {.max_total_bytes = kMembers * int64_t{kMiB} - 1}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(IdxTest, ObeysTheLimitOnElements) {
  const std::string idx = Idx(11, {100}, std::string(200, 'x'));
  EXPECT_TRUE(Read(idx, {.max_total_bytes = 400}).ok());
  EXPECT_EQ(Read(idx, {.max_total_bytes = 399}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(IdxTest, SaysWhyAPathCannotBeRead) {
  EXPECT_EQ(TryReadIdx(TempPath("nowhere")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(TryReadIdx(TempPath("nowhere")).status().message()),
              HasSubstr("nowhere"));
  EXPECT_THAT(std::string(TryReadIdx(testing::TempDir()).status().message()),
              HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace firn::io

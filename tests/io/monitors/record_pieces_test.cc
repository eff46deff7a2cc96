#include "firn/io/monitors/record_pieces.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/monitors/line_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Outcome {
  std::vector<std::string> records;
  absl::Status status;
  int64_t offset = 0;
};

// The lines of a text, from `offset` on; "bad\n" is refused.
Outcome Lines(const std::string& text, int64_t most, int64_t offset = 0) {
  const auto file = RandomAccess::FromMemory(
      "f", {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  Outcome o{.records = {}, .status = {}, .offset = offset};
  const auto take = [&](std::string_view record) {
    if (record == "bad\n") return absl::DataLossError("a bad line");
    o.records.emplace_back(record);
    return absl::OkStatus();
  };
  o.status = ForEachRecord(*file, most, SplitLine, take, &o.offset);
  return o;
}

TEST(ForEachRecordTest, TakesWholeRecordsAndStandsBehindThem) {
  const Outcome o = Lines("ab\nc\npart", 1 << 20);
  EXPECT_TRUE(o.status.ok());
  EXPECT_THAT(o.records, ElementsAre("ab\n", "c\n"));
  EXPECT_EQ(o.offset, 5);
  EXPECT_THAT(Lines("ab\nc\npart", 1 << 20, 3).records, ElementsAre("c\n"));
  EXPECT_EQ(Lines("", 1 << 20).offset, 0);
}

TEST(ForEachRecordTest, TakesRecordsThatPiecesCut) {
  const std::string text = "abc\ndefg\nh\nijklmno\n";
  const Outcome o = Lines(text, 8);
  EXPECT_TRUE(o.status.ok());
  EXPECT_THAT(o.records, ElementsAre("abc\n", "defg\n", "h\n", "ijklmno\n"));
  // Pieces of 1 MiB grow to what a record needs.
  const std::string lengthy = "a\n" + std::string(5 << 20, 'x') + "\nb\n";
  EXPECT_EQ(Lines(lengthy, 8 << 20).records.size(), 3u);
}

TEST(ForEachRecordTest, RefusesLongRecordsAndTellsWhereItStopped) {
  const Outcome o = Lines("ab\n123456789\nc\n", 8);
  EXPECT_TRUE(absl::IsResourceExhausted(o.status));
  EXPECT_THAT(std::string(o.status.message()), HasSubstr("f: offset 3: a record of more than 8"));
  EXPECT_EQ(o.offset, 3);
  const Outcome bad = Lines("ab\nbad\nc\n", 1 << 20);
  EXPECT_EQ(bad.status.message(), "f: offset 3: a bad line");
  EXPECT_EQ(bad.offset, 3);
  EXPECT_THAT(bad.records, ElementsAre("ab\n"));
}

}  // namespace
}  // namespace firn::io::internal

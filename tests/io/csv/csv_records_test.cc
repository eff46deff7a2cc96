// Where records end, however the text is cut into pieces.
#include "firn/io/csv/internal/csv_records.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

// "<line>:<record>" for each record of a text in pieces of `size` bytes.
std::vector<std::string> Records(std::string_view text, size_t size, int64_t raw_lines = 0) {
  std::vector<std::string> records;
  std::string piece;
  size_t at = 0;
  const absl::Status status = ForEachRecord(
      [&]() -> absl::StatusOr<std::string_view> {
        // Each piece has its own buffer, which ends with the piece.
        piece = std::string(text.substr(at, size));
        piece.shrink_to_fit();
        at += piece.size();
        return std::string_view(piece);
      },
      "t.csv", ',', raw_lines, kAny,
      [&](std::string_view record, int64_t line, bool) {
        records.push_back(absl::StrCat(line, ":", std::string(record)));
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return records;
}
std::vector<std::string> Records(std::string_view text) { return Records(text, text.size()); }

TEST(CsvRecordsTest, LinesEndInAnyWay) {
  EXPECT_THAT(Records("a,b\n1,2\n"), ElementsAre("1:a,b", "2:1,2"));
  EXPECT_THAT(Records("a,b\r\n1,2"), ElementsAre("1:a,b", "2:1,2"));
  EXPECT_THAT(Records("a,b\r1,2\r3,4\r"), ElementsAre("1:a,b", "2:1,2", "3:3,4"));
  EXPECT_THAT(Records("a\rb\nc\r\nd\n\re"), ElementsAre("1:a", "2:b", "3:c", "4:d", "5:", "6:e"));
}

TEST(CsvRecordsTest, LinesDoNotEndInQuotesThatBeganAField) {
  EXPECT_THAT(Records("\"a\nb\",\"c\r\nd\"\ne\n"), ElementsAre("1:\"a\nb\",\"c\r\nd\"", "4:e"));
  EXPECT_THAT(Records("\"a\"\"\nb\"\nc"), ElementsAre("1:\"a\"\"\nb\"", "3:c"));
  EXPECT_THAT(Records("1, \"a\rb\"\rc"), ElementsAre("1:1, \"a\rb\"", "3:c"));
  // Others are text like any other.
  EXPECT_THAT(Records("5\" disk\n6\" disk\n"), ElementsAre("1:5\" disk", "2:6\" disk"));
  EXPECT_THAT(Records("\"a\"b\"\nc\"\n"), ElementsAre("1:\"a\"b\"", "2:c\""));
  EXPECT_THAT(Records("\xEF\xBB\xBF\"a\nb\"\nc"), ElementsAre("1:\"a\nb\"", "3:c"));
}

TEST(CsvRecordsTest, RawLinesHaveNoQuotes) {
  EXPECT_THAT(Records("\"not closed\n\"a\nb\"\n", 100, 1),
              ElementsAre("1:\"not closed", "2:\"a\nb\""));
}

// The same, byte by byte.
std::vector<std::string> RecordsByBytes(std::string_view text, char separator) {
  std::vector<std::string> records;
  bool quoted = false, field_begins = true;
  int64_t line = 1, inner = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (quoted) {
      if (c == '"' && next == '"') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else if (c == '\n' || (c == '\r' && next != '\n')) {
        ++inner;
      }
    } else if (c == '\n' || c == '\r') {
      records.push_back(absl::StrCat(line, ":", std::string(text.substr(begin, i - begin))));
      i += c == '\r' && next == '\n' ? 1 : 0;
      begin = i + 1;
      line += 1 + inner;
      inner = 0;
      field_begins = true;
    } else if (c == '"' && field_begins) {
      quoted = true;
      field_begins = false;
    } else {
      field_begins = c == separator || (field_begins && (c == ' ' || c == '\t'));
    }
  }
  if (begin == text.size()) return records;
  const std::string_view last = WithoutLineEnd(text.substr(begin));
  records.push_back(absl::StrCat(line, ":", std::string(last)));
  return records;
}

// Texts longer than the bytes that are looked at together, so that any byte may stand at their
// ends.
TEST(CsvRecordsTest, LongTextsAreAsByBytes) {
  std::mt19937 random(1);
  constexpr std::string_view kBytes[] = {"a\",\n\r \t", "aaa\",,\"\n\"", "aaaaaaaaaaaa,\"\n",
                                         "a,\"\"\"\"\n", "\r\n\""};
  for (int round = 0; round < 2000; ++round) {
    const std::string_view bytes = kBytes[random() % std::size(kBytes)];
    std::string text(random() % (round % 10 == 0 ? 20000 : 300), ' ');
    for (char& c : text) c = bytes[random() % bytes.size()];
    if (round % 20 == 0) {  // blocks without quotes, in quotes or not, lie between others
      for (char& c : text) c = c == '"' && random() % 2000 != 0 ? 'a' : c;
    }
    const size_t size = round % 3 == 0 ? 1 + random() % 200 : 1 + random() % 20000;
    ASSERT_EQ(Records(text, size), RecordsByBytes(text, ',')) << size << ": " << text;
  }
}

TEST(CsvRecordsTest, HowTheTextComesDoesNotMatter) {
  // Every eleventh of all texts of seven of these bytes, since many are alike.
  constexpr std::string_view kBytes = "a\",\n\r ";
  for (int code = 0; code < 279936; code += 11) {
    std::string text;
    for (int rest = code, i = 0; i < 7; ++i, rest /= 6) {
      text += kBytes[static_cast<size_t>(rest % 6)];
    }
    const std::vector<std::string> whole = Records(text, 7);
    for (const size_t size : {1u, 2u, 3u}) ASSERT_EQ(Records(text, size), whole) << text;
  }
}

}  // namespace
}  // namespace firn::io::internal

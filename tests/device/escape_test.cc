#include "firn/device/escape.h"

#include <gtest/gtest.h>

#include <string>

namespace firn::inner::internal {
namespace {

using std::string_literals::operator""s;

TEST(EscapeTest, JsonQuotesWhatEndsOrBreaksAString) {
  EXPECT_EQ(JsonString("conv1"), R"("conv1")");
  EXPECT_EQ(JsonString(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(JsonString("a\n\t\x01\x7f"s + '\0'), R"("a\u000a\u0009\u0001\u007f\u0000")");
}

TEST(EscapeTest, WellFormedUtf8Stays) {
  const std::string text = "\xC3\xA4 \xE2\x82\xAC \xED\x9F\xBF \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF";
  EXPECT_EQ(JsonString(text), '"' + text + '"');
  EXPECT_EQ(DotString(text), '"' + text + '"');
  EXPECT_EQ(CsvField(text), text);
}

TEST(EscapeTest, OtherBytesAreReplacedOneByOne) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(CsvField("a\xFFz"), "a" + r + "z");
  EXPECT_EQ(CsvField("\xC3"), r);                          // cut off
  EXPECT_EQ(CsvField("\xC3z"), r + "z");                   // not continued
  EXPECT_EQ(CsvField("\xC0\xAF"), r + r);                  // overlong
  EXPECT_EQ(CsvField("\xE0\x80\x80"), r + r + r);          // overlong
  EXPECT_EQ(CsvField("\xED\xA0\x80"), r + r + r);          // a surrogate
  EXPECT_EQ(CsvField("\xF4\x90\x80\x80"), r + r + r + r);  // beyond U+10FFFF
  EXPECT_EQ(CsvField("\xF0\x80\x80\x80"), r + r + r + r);  // overlong
}

TEST(EscapeTest, DotShowsEscapesAndEntitiesAsTheyAre) {
  EXPECT_EQ(DotString(R"(a"b)"), R"("a\"b")");
  EXPECT_EQ(DotString(R"(\N)"), R"("\\N")");
  EXPECT_EQ(DotString("&lt;"), R"("&amp;lt;")");
  EXPECT_EQ(DotString("two\nlines\x01"), R"("two\nlines ")");
}

TEST(EscapeTest, CsvQuotesOnlyWhereItMust) {
  EXPECT_EQ(CsvField("net.conv 1"), "net.conv 1");
  EXPECT_EQ(CsvField("a,b"), R"("a,b")");
  EXPECT_EQ(CsvField(R"(say "x")"), R"("say ""x""")");
  EXPECT_EQ(CsvField("a\nb"), "\"a\nb\"");
  // Readers cut blanks off that are not in quotes.
  EXPECT_EQ(CsvField(" a"), "\" a\"");
  EXPECT_EQ(CsvField("a\t"), "\"a\t\"");
  EXPECT_EQ(CsvField(""), "");
}

TEST(EscapeTest, PortablePathsHaveNoBytesThatReadersTakeForOthers) {
  EXPECT_EQ(PortablePath("a b/c\xC3\xA4,\".png"), "a b/c\xC3\xA4,\".png");
  EXPECT_EQ(PortablePath("a\nb\x7f\\c\xE9.png"), "a_b__c_.png");
}

}  // namespace
}  // namespace firn::inner::internal

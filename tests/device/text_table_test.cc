#include "firn/device/text_table.h"

#include <gtest/gtest.h>

namespace firn::inner::internal {
namespace {

TEST(TextTableTest, GroupsDigitsByThrees) {
  EXPECT_EQ(GroupedDigits(0), "0");
  EXPECT_EQ(GroupedDigits(999), "999");
  EXPECT_EQ(GroupedDigits(1000), "1,000");
  EXPECT_EQ(GroupedDigits(14450688), "14,450,688");
  EXPECT_EQ(GroupedDigits(-123), "-123");
  EXPECT_EQ(GroupedDigits(-1234), "-1,234");
}

TEST(TextTableTest, WritesBytesInTheUnitThatFits) {
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(int64_t{3} << 20), "3.0 MiB");
  EXPECT_EQ(BytesText(int64_t{5000} << 40), "5000.0 TiB");
}

TEST(TextTableTest, AlignsNamesLeftAndNumbersRight) {
  EXPECT_EQ(AlignedText({{"name", "n"}, {"  inner", "1,000"}, {"x", ""}}, 1),
            "name         n\n"
            "  inner  1,000\n"
            "x\n");
}

TEST(TextTableTest, CountsCharactersAndNotBytes) {
  EXPECT_EQ(AlignedText({{"\xC3\xA4", "1"}, {"ab", "2"}}, 1), "\xC3\xA4   1\nab  2\n");
}

TEST(TextTableTest, NothingGivesNothing) { EXPECT_EQ(AlignedText({}, 1), ""); }

}  // namespace
}  // namespace firn::inner::internal

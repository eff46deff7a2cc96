// Checks end the process, and say where and why.
#include "firn/device/check.h"

#include <string_view>

#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(CheckTest, TrueConditionsCostNothingButTheirEvaluation) {
  int evaluated = 0;
  FIRN_CHECK(++evaluated == 1);
  FIRN_CHECK(++evaluated == 2, "not made: ", evaluated);
  EXPECT_EQ(evaluated, 2);
}

TEST(CheckDeathTest, PrintsFileConditionAndMessage) {
  EXPECT_DEATH(FIRN_CHECK(1 + 1 == 3), "check_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3");
  EXPECT_DEATH(FIRN_CHECK(false, "n is ", 7, std::string_view(" today")),
               "check failed: false: n is 7 today");
}

TEST(CheckTest, DcheckCompilesItsConditionWithoutWarnings) {
  const int only_used_here = 1;
  FIRN_DCHECK(only_used_here == 1);
  FIRN_DCHECK(only_used_here == 1, "message ", 2);
}

}  // namespace
}  // namespace firn

// The detector at a small size: how well it finds shapes in drawings that it has not seen.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

using ::testing::HasSubstr;

TEST(DetectorTest, FindsShapesInNewDrawings) {
  const ProgramResult run = RunProgram("examples/detector", {"1000", "8"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_GT(NumberAfter(run.output, "mean average precision on new drawings: "), 0.95);
  EXPECT_THAT(run.output, HasSubstr(") at "));
}

}  // namespace
}  // namespace firn::testing

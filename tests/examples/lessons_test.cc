// What each lesson claims, checked in what it prints.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

using ::testing::HasSubstr;

std::string OutputOf(const std::string& program) {
  const ProgramResult run = RunProgram(program);
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  return run.output;
}

TEST(LessonsTest, CustomModuleLearnsWithUnitsLeftOut) {
  EXPECT_GT(NumberAfter(OutputOf("examples/custom_module"), "test accuracy "), 0.8);
}

TEST(LessonsTest, CustomOpGradientsHold) {
  const std::string output = OutputOf("examples/custom_op");
  EXPECT_THAT(output, HasSubstr("its gradient: [1. 1. 1.]"));
  EXPECT_THAT(output, HasSubstr("gradient of gauss: OK\nits gradient: OK"));
}

TEST(LessonsTest, RnnLearnsWithAndWithoutCutting) {
  const std::string output = OutputOf("examples/rnn");
  const double all = NumberAfter(output, "gradient of all rows: test accuracy ");
  const double cut = NumberAfter(output, "gradient of the last four rows: test accuracy ");
  EXPECT_GT(all, 0.8);
  EXPECT_GT(cut, 0.3);
}

TEST(LessonsTest, SiameseBringsEqualDigitsTogether) {
  const std::string output = OutputOf("examples/siamese");
  EXPECT_LT(2 * NumberAfter(output, "equal digits "), NumberAfter(output, "different ones "));
}

TEST(LessonsTest, TensorsSharesViewsAndBlobs) {
  const std::string output = OutputOf("examples/tensors");
  EXPECT_THAT(output, HasSubstr("last row: [ 0  9  0 11]"));
  EXPECT_THAT(output, HasSubstr("elements above 5: [ 7  9 11]"));
  EXPECT_THAT(output, HasSubstr("first 7"));
}

}  // namespace
}  // namespace firn::testing

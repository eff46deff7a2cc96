// The LSTM at a small size: how well it reads numerals that it has not learned.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

TEST(LstmTextTest, ReadsNumeralsThatItHasNotSeen) {
  const ProgramResult run = RunProgram("examples/lstm_text", {"300"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_LT(NumberAfter(run.output, "step 300: loss "), 0.2);
  EXPECT_GT(NumberAfter(run.output, "read without a mistake: "), 0.95);
}

}  // namespace
}  // namespace firn::testing

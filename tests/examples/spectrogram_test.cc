// The network that hears at a small size: new tones, and the picture of them.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

using ::testing::HasSubstr;

TEST(SpectrogramTest, HearsWhatTonesDo) {
  const ProgramResult run = RunProgram("examples/spectrogram", {"150"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_GT(NumberAfter(run.output, "new tones heard rightly: "), 0.95);
  EXPECT_THAT(run.output, HasSubstr("#"));
}

}  // namespace
}  // namespace firn::testing

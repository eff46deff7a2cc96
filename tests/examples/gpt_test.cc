// The GPT at a small size: it learns a text that comes round again, and writes on rightly, with the
// caches and without.
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

using ::testing::HasSubstr;

std::string FileWith(const std::string& text) {
  std::string path = ::testing::TempDir() + "/gpt.txt";
  std::ofstream(path) << text;
  return path;
}

TEST(GptTest, LearnsAPeriodAndWritesItOn) {
  const std::string period = "to be, or not to be? ";
  std::string text;
  while (text.size() < 600) text += period;
  const ProgramResult run = RunProgram("examples/gpt", {FileWith(text), "100", "to be, or"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  // Before it has learned anything a character costs log(256) = 5.5. The rest is the loss at the
  // beginning of each piece of 128, whose place in the text cannot be known.
  EXPECT_LT(NumberAfter(run.output, "step 100: loss "), 0.1);
  EXPECT_THAT(run.output, HasSubstr("the same text:\n" + text.substr(0, 128) + "\n"));
  EXPECT_GT(NumberAfter(run.output, "with caches: "), 0);
  EXPECT_GT(NumberAfter(run.output, "without caches: "), 0);
}

TEST(GptTest, SaysWhatItWants) {
  const ProgramResult no_file = RunProgram("examples/gpt", {"/nowhere.txt", "1"});
  EXPECT_EQ(no_file.exit_code, 2);
  EXPECT_THAT(no_file.errors, HasSubstr("gpt: wants more than 128 characters"));
  const std::string file = FileWith(std::string(200, 'a'));
  for (const std::string& beginning : {std::string(), std::string(128, 'a')}) {
    EXPECT_EQ(RunProgram("examples/gpt", {file, "1", beginning}).exit_code, 2);
  }
}

}  // namespace
}  // namespace firn::testing

// What each lesson claims, checked in what it prints.
#include <fstream>
#include <iterator>

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

TEST(LessonsTest, FinetuneLearnsFromFewImages) {
  const std::string path = ::testing::TempDir() + "/finetune.h5";
  const ProgramResult run = RunProgram("examples/finetune", {path});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_GT(NumberAfter(run.output, "digits 0 to 4: test accuracy "), 0.9);
  EXPECT_GT(NumberAfter(run.output, "images: test accuracy "), 0.75);
  EXPECT_THAT(run.output, HasSubstr("the frozen layer is as it was"));
}

TEST(LessonsTest, MixedPrecisionLearnsAsWell) {
  const std::string output = OutputOf("examples/mixed_precision");
  const double whole = NumberAfter(output, "f32: test accuracy ");
  EXPECT_GT(whole, 0.85);
  EXPECT_GT(NumberAfter(output, "bf16: test accuracy "), whole - 0.03);
  EXPECT_GT(NumberAfter(output, "\nf16: test accuracy "), whole - 0.03);
}

TEST(LessonsTest, VaeCodesImagesInFewerNats) {
  const std::string output = OutputOf("examples/vae");
  const double first = NumberAfter(output, "epoch 1: pixels ");
  const double last = NumberAfter(output, "epoch 30: pixels ");
  EXPECT_LT(last, first - 5);
  EXPECT_GT(NumberAfter(output.substr(output.find("epoch 30")), "distance "), 2);
}

TEST(LessonsTest, GanDrawsWhatLooksWritten) {
  const std::string output = OutputOf("examples/gan");
  // Six seeds gave 0.076 to 0.119.
  EXPECT_LT(NumberAfter(output, "mean difference of mean pixels "), 0.15);
}

TEST(LessonsTest, VectorLengthLearnsAndDraws) {
  const std::string path = ::testing::TempDir() + "/length.svg";
  const ProgramResult run = RunProgram("examples/vector_length", {path});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_LT(NumberAfter(run.output, "mean error "), 0.05);
  std::ifstream file(path);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(svg, HasSubstr("<rect"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
}

TEST(LessonsTest, TensorsSharesViewsAndBlobs) {
  const std::string output = OutputOf("examples/tensors");
  EXPECT_THAT(output, HasSubstr("last row: [ 0  9  0 11]"));
  EXPECT_THAT(output, HasSubstr("elements above 5: [ 7  9 11]"));
  EXPECT_THAT(output, HasSubstr("first 7"));
}

}  // namespace
}  // namespace firn::testing

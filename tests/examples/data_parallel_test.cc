// The program alone and, where Open MPI's launcher is, as several processes.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kProgram = "examples/data_parallel";
constexpr const char* kLauncher = "/usr/bin/mpirun";

ProgramResult OnRanks(int count, const std::string& epochs) {
  if (count == 1) return RunProgram(kProgram, {epochs});
  // Sockets want short names.
  setenv("TMPDIR", "/tmp", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  const char* const asan = std::getenv("ASAN_OPTIONS");
  const std::string given = asan == nullptr ? "" : std::string(asan) + ":";
  setenv("ASAN_OPTIONS", (given + "detect_leaks=0").c_str(), 1);  // Open MPI leaks memory
  const std::string program = std::filesystem::exists(kProgram)
                                  ? std::string("./") + kProgram
                                  : std::string("bazel-bin/") + kProgram;
  return RunProgram(kLauncher, {"--oversubscribe", "-n", std::to_string(count), program, epochs});
}

TEST(DataParallelExampleTest, LearnsAlone) {
  const ProgramResult run = OnRanks(1, "10");
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("rank 0 of 1: sum of all parameters "));
  EXPECT_GT(NumberAfter(run.output, "test accuracy "), 0.87);
}

// Ranks agree to the bit. Gradients are added up in another order than by one rank, and Adam's 50
// steps of up to 3e-3 enlarge the difference: the sums of all parameters differed by a relative
// 1e-6.
TEST(DataParallelExampleTest, LearnsTheSameOnSeveralRanks) {
  if (!std::filesystem::exists(kLauncher)) {
    GTEST_SKIP() << "no " << kLauncher << " here (Debian's openmpi-bin)";
  }
  const ProgramResult alone = OnRanks(1, "2");
  const double sum = NumberAfter(alone.output, "sum of all parameters ");
  for (const int count : {2, 3}) {
    const ProgramResult run = OnRanks(count, "2");
    ASSERT_EQ(run.exit_code, 0) << run.errors;
    const double first =
        NumberAfter(run.output, "rank 0 of " + std::to_string(count) + ": sum of all parameters ");
    for (int rank = 1; rank < count; ++rank) {
      EXPECT_EQ(NumberAfter(run.output, "rank " + std::to_string(rank) + " of " +
                                            std::to_string(count) + ": sum of all parameters "),
                first);
    }
    EXPECT_NEAR(first, sum, 1e-3 * sum) << count;
    EXPECT_NEAR(NumberAfter(run.output, "test accuracy "),
                NumberAfter(alone.output, "test accuracy "), 0.02)
        << count;
  }
}

}  // namespace
}  // namespace firn::testing

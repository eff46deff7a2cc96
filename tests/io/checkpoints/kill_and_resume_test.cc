// A training process that is killed at any moment and started again ends as one that was left
// alone, to the bit: parameters, statistics, the optimizer's state, the place in the data and all
// random numbers.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "firn/io/checkpoints/checkpoint_manager.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kForEver = int64_t{1} << 60;

pid_t Start(const std::string& folder, int64_t steps, const std::string& mode,
            const std::string& final_path) {
  const std::string program = "tests/io/checkpoints/train_and_checkpoint";
  std::vector<std::string> arguments = {fs::exists(program) ? program : "bazel-bin/" + program,
                                        folder, std::to_string(steps), mode, final_path};
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ), 0) << argv[0];
  return child;
}

// How the process ended.
int Wait(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

void RunToTheEnd(const std::string& folder, int64_t steps, const std::string& mode,
                 const std::string& final_path) {
  const int status = Wait(Start(folder, steps, mode, final_path));
  ASSERT_TRUE(WIFEXITED(status)) << status;
  ASSERT_EQ(WEXITSTATUS(status), 0);
}

int64_t LastStep(const std::string& folder) {
  int64_t last = 0;
  for (const std::string& name : List(folder)) {
    if (name.find(".tmp.") == std::string::npos) {
      last = std::max<int64_t>(last, std::stoll(name.substr(name.find('_') + 1)));
    }
  }
  return last;
}

bool HasLeftovers(const std::string& folder) {
  const std::vector<std::string> names = List(folder);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find(".tmp.") != std::string::npos;
  });
}

void Kill(pid_t child) {
  ASSERT_EQ(kill(child, SIGKILL), 0);
  const int status = Wait(child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "ended by itself: " << status;
}

// Starts the first process, and kills it once it has a checkpoint. Returns how long that took.
double MillisecondsToFirstCheckpoint(const std::string& folder, const std::string& mode) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = Start(folder, kForEver, mode, folder + ".h5");
  while (LastStep(folder) == 0 && waitpid(child, nullptr, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  Kill(child);
  return elapsed.count();
}

// Kills `kills` processes, of which about three in four get as far as a new checkpoint: however
// slow this machine is, the time that they have follows from that.
void KillAndCompare(int kills, const std::string& mode) {
  const std::string killed = TempPath("killed_" + mode), alone = TempPath("alone_" + mode);
  for (const std::string& folder : {killed, alone}) {
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
  RandomGenerator random(11);
  double longest_ms = 2 * MillisecondsToFirstCheckpoint(killed, mode);
  int advanced = 0, in_the_middle = 0;
  for (int i = 1; i < kills; ++i) {
    const int64_t before = LastStep(killed);
    const pid_t child = Start(killed, kForEver, mode, killed + ".h5");
    const double ms = longest_ms * Rand({}, kDefaultFloat, {.generator = &random}).Item();
    std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int64_t>(1000 * ms)));
    Kill(child);
    const bool new_one = LastStep(killed) > before;
    advanced += new_one ? 1 : 0;
    in_the_middle += HasLeftovers(killed) ? 1 : 0;
    longest_ms = std::clamp(longest_ms * (new_one ? 0.97 : 1.1), 1.0, 5000.0);
  }
  EXPECT_GT(advanced, kills / 4);
  ::testing::Test::RecordProperty("kills_with_progress", advanced);
  ::testing::Test::RecordProperty("kills_within_a_write", in_the_middle);

  const int64_t steps = LastStep(killed) + 7;
  RunToTheEnd(killed, steps, mode, killed + ".h5");
  EXPECT_FALSE(HasLeftovers(killed));
  RunToTheEnd(alone, steps, mode, alone + ".h5");
  EXPECT_EQ(ReadCheckpointInfo(alone + ".h5").step, steps);
  EXPECT_TRUE(ReadFile(killed + ".h5") == ReadFile(alone + ".h5"));
}

TEST(KillAndResumeTest, OneHundredKills) { KillAndCompare(100, "ordinary"); }

TEST(KillAndResumeTest, AFrozenStep) { KillAndCompare(20, "frozen"); }

}  // namespace
}  // namespace firn::io

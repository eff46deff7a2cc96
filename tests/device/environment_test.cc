// Environment variables: absent, understood, and not understood.
#include "firn/device/environment.h"

#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace firn::env {
namespace {

// Sets a variable for as long as it lives; null removes it.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    Set(value);
  }
  ~ScopedVariable() { Set(old_ ? old_->c_str() : nullptr); }

 private:
  void Set(const char* value) {
    if (value != nullptr) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> old_;
};

std::optional<int> NumThreadsFor(const char* value) {
  const ScopedVariable variable("FIRN_NUM_THREADS", value);
  return NumThreads();
}

std::optional<size_t> LimitFor(const char* value) {
  const ScopedVariable variable("FIRN_CPU_MEMORY_LIMIT", value);
  return CpuMemoryLimit();
}

TEST(EnvironmentTest, UnsetMeansTheDefault) {
  EXPECT_EQ(NumThreadsFor(nullptr), std::nullopt);
  EXPECT_EQ(NumThreadsFor(""), std::nullopt);
  EXPECT_EQ(LimitFor(nullptr), std::nullopt);
  const ScopedVariable seed("FIRN_SEED", nullptr), huge("FIRN_HUGE_PAGES", nullptr);
  EXPECT_EQ(Seed(), 0u);
  EXPECT_TRUE(HugePages());
}

TEST(EnvironmentTest, ReadsNumbers) {
  EXPECT_EQ(NumThreadsFor("3"), 3);
  const ScopedVariable seed("FIRN_SEED", "18446744073709551615"), huge("FIRN_HUGE_PAGES", "0");
  EXPECT_EQ(Seed(), std::numeric_limits<uint64_t>::max());
  EXPECT_FALSE(HugePages());
}

TEST(EnvironmentTest, SharedRanks) {
  {
    const ScopedVariable unset("FIRN_SHARED_RANKS", nullptr);
    EXPECT_TRUE(SharedRanks());
  }
  const ScopedVariable off("FIRN_SHARED_RANKS", "0");
  EXPECT_FALSE(SharedRanks());
}

TEST(EnvironmentTest, ReadsWhatIsSwitchedOffOnCuda) {
  EXPECT_TRUE(CudaNhwc());
  EXPECT_TRUE(CudaReplay());
  EXPECT_TRUE(CudnnAttention());
  EXPECT_FALSE(SyncAfterLaunch());
  const ScopedVariable nhwc("FIRN_CUDA_NHWC", "0"), replay("FIRN_CUDA_REPLAY", "0");
  const ScopedVariable sync("FIRN_SYNC_AFTER_LAUNCH", "1"), cudnn("FIRN_CUDNN_ATTENTION", "0");
  EXPECT_FALSE(CudaNhwc());
  EXPECT_FALSE(CudaReplay());
  EXPECT_FALSE(CudnnAttention());
  EXPECT_TRUE(SyncAfterLaunch());
}

TEST(EnvironmentTest, ReadsWhetherRanksCompareTheirCalls) {
  EXPECT_FALSE(CheckCollectives());
  const ScopedVariable check("FIRN_CHECK_COLLECTIVES", "1");
  EXPECT_TRUE(CheckCollectives());
}

TEST(EnvironmentTest, ReadsWhetherRanksRecordTheirCalls) {
  EXPECT_FALSE(RecordCollectives());
  const ScopedVariable record("FIRN_RECORD_COLLECTIVES", "1");
  EXPECT_TRUE(RecordCollectives());
}

TEST(EnvironmentTest, ReadsSizesWithASuffix) {
  EXPECT_EQ(LimitFor("1000"), size_t{1000});
  EXPECT_EQ(LimitFor("3K"), size_t{3} << 10);
  EXPECT_EQ(LimitFor("5M"), size_t{5} << 20);
  EXPECT_EQ(LimitFor("6G"), size_t{6} << 30);
  EXPECT_EQ(LimitFor("2T"), size_t{2} << 40);
}

TEST(EnvironmentTest, ReportsAndIgnoresWhatItCannotRead) {
  for (const char* value :
       {"0", "-1", "abc", "3x", " 3", "3 ", "1e2", "99999", "2K", "99999999999999999999999"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(NumThreadsFor(value), std::nullopt) << value;
    EXPECT_NE(testing::internal::GetCapturedStderr().find("ignoring FIRN_NUM_THREADS="),
              std::string::npos)
        << value;
  }
  testing::internal::CaptureStderr();
  for (const char* value : {"K", "6GB", "9999999T", "6g"}) {
    EXPECT_EQ(LimitFor(value), std::nullopt) << value;
  }
  testing::internal::GetCapturedStderr();
}

int LevelFor(const char* value) {
  const ScopedVariable variable("FIRN_CPU_LEVEL", value);
  return CpuLevel(2, 3);
}

TEST(EnvironmentTest, TakesALevelBetweenTheProgramsAndTheProcessors) {
  EXPECT_EQ(LevelFor(nullptr), 3);
  EXPECT_EQ(LevelFor("v2"), 2);
  EXPECT_EQ(LevelFor("v3"), 3);
  for (const auto& [value, want] :
       {std::pair{"v4", "want at most v3, the processor's"}, std::pair{"v1", "want v2, v3 or v4"},
        std::pair{"avx2", "want v2, v3 or v4"}}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(LevelFor(value), 3);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              std::string("firn: ignoring FIRN_CPU_LEVEL=") + value + ": " + want + "\n");
  }
  const ScopedVariable low("FIRN_CPU_LEVEL", "v2");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(CpuLevel(4, 4), 4);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "firn: ignoring FIRN_CPU_LEVEL=v2: want at least v4, the program's own\n");
}

TEST(EnvironmentTest, CacheFolderIsTheFirstThatIsSaid) {
  const ScopedVariable home("HOME", "/home/me"), xdg("XDG_CACHE_HOME", "/cache");
  {
    const ScopedVariable own("FIRN_CACHE_DIR", "here");
    EXPECT_EQ(CacheFolder(), "here");
  }
  {
    const ScopedVariable own("FIRN_CACHE_DIR", "");
    EXPECT_EQ(CacheFolder(), "") << "none is wanted";
  }
  const ScopedVariable own("FIRN_CACHE_DIR", nullptr);
  EXPECT_EQ(CacheFolder(), "/cache/firn");
  for (const char* ignored : {"", "relative", static_cast<const char*>(nullptr)}) {
    const ScopedVariable no_xdg("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(CacheFolder(), "/home/me/.cache/firn");
    const ScopedVariable no_home("HOME", ignored);
    EXPECT_EQ(CacheFolder(), "");
  }
}

TEST(EnvironmentTest, TellsWhichProcessALauncherStarted) {
  const ScopedVariable ours("OMPI_COMM_WORLD_RANK", nullptr), theirs("PMI_RANK", nullptr),
      slurm("PMIX_RANK", nullptr), task("SLURM_PROCID", nullptr),
      mpi_size("OMPI_COMM_WORLD_SIZE", "3"), size("PMI_SIZE", "2");
  EXPECT_EQ(LaunchedAs().size, 0) << "a size without a rank";
  {
    const ScopedVariable rank("OMPI_COMM_WORLD_RANK", "2");
    const Launched found = LaunchedAs();
    EXPECT_EQ(found.rank, 2);
    EXPECT_EQ(found.size, 3);
    EXPECT_FALSE(found.by_mpich);
  }
  for (const char* no_rank : {"3", "-1", "one", ""}) {
    const ScopedVariable rank("OMPI_COMM_WORLD_RANK", no_rank);
    EXPECT_EQ(LaunchedAs().size, 0) << no_rank;
  }
  const ScopedVariable rank("PMI_RANK", "1");
  EXPECT_EQ(LaunchedAs().rank, 1);
  EXPECT_TRUE(LaunchedAs().by_mpich);
}

TEST(EnvironmentTest, TellsWhetherSrunStartedTasksWithoutMpi) {
  const ScopedVariable ours("OMPI_COMM_WORLD_RANK", nullptr), theirs("PMI_RANK", nullptr),
      slurm("PMIX_RANK", nullptr), task("SLURM_PROCID", "1"), tasks("SLURM_NTASKS", "2");
  {
    const ScopedVariable no_step("SLURM_STEP_NUM_TASKS", nullptr);
    EXPECT_EQ(LaunchedAs().size, 0) << "a batch script, which is alone";
  }
  const ScopedVariable step("SLURM_STEP_NUM_TASKS", "2");
  EXPECT_EQ(LaunchedAs().rank, 1);
  EXPECT_EQ(LaunchedAs().size, 2);
  EXPECT_TRUE(LaunchedAs().without_mpi);
  const ScopedVariable rank("PMIX_RANK", "1");
  EXPECT_EQ(LaunchedAs().size, 2);
  EXPECT_FALSE(LaunchedAs().without_mpi);
}

}  // namespace
}  // namespace firn::env

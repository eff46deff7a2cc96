// While other processes keep all cores busy, threads that wait for work soon sleep.
#include "firn/device/internal/crowd.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "firn/device/internal/openmp.h"
#include "firn/device/parallel.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

int64_t ThreadsOfThisProcess() {
  int64_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    static_cast<void>(task);
    ++count;
  }
  return count;
}

// Starts processes that only compute, and ends them in its destructor.
class Crowd {
 public:
  explicit Crowd(int processes) {
    for (int i = 0; i < processes; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(60);
        for (std::atomic<int64_t> n = 0;; ++n) {
        }
      }
      children_.push_back(child);
    }
  }
  ~Crowd() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

TEST(CrowdTest, AThreadSleepsForLibgompToCountMoreThreadsThanCores) {
  const int cores = omp_get_num_procs();
  if (cores < 2) GTEST_SKIP() << "no two threads ever compute side by side here";
  SetNumThreads(cores);
  std::vector<double> numbers(1 << 16, 1);
  const auto compute = [&numbers] {
    ParallelFor(static_cast<int64_t>(numbers.size()), 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double& x = numbers[static_cast<size_t>(i)];
        x = x * 1.0000001 + 1e-9;
      }
    });
  };
  compute();
  const int64_t quiet = ThreadsOfThisProcess();  // the team, and a sanitizer's own
  const Crowd crowd(2 * cores);
  int64_t most = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (most < quiet + 2 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)) {
    for (int i = 0; i < 200; ++i) compute();
    most = std::max(most, ThreadsOfThisProcess());
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  if (usage.ru_nivcsw == 0) GTEST_SKIP() << "this system does not count how often cores are lost";
  EXPECT_GE(most, quiet + 2);  // the thread that sleeps, and at least one more in its team
}

}  // namespace
}  // namespace firn

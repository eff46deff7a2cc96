// A child made by fork() computes as its parent does, whatever the parent's threads were doing.
#include "firn/device/fork.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/io/data/data_loader.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

constexpr unsigned kPatience = 60;  // seconds until a child that hangs is ended

// What f returns in a child; -1 if a signal ended the child.
int InChild(const std::function<int()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatience);
    _exit(f());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Runs loops of Firn, and products and convolutions of the libraries that it uses.
Tensor Computed() {
  const Tensor all = Arange(256.0 * 256) * 1e-5, a = Reshape(all, {256, 256});
  const Tensor images = Reshape(Exp(all), {4, 16, 32, 32});
  const Tensor filters = Reshape(Slice(all, 0, 0, 16 * 16 * 9), {16, 16, 3, 3});
  return Sum(Conv2d(images, filters, {}, {.padding = 1})) + Sum(Matmul(a, a)) +
         Sum(Exp(Ones({1 << 20})));
}

// Samples that take a while to make.
struct Squares final : io::Dataset {
  int64_t size() const override { return 1000; }
  io::Sample Get(int64_t i) const override {
    const Tensor x = Full({100, 100}, static_cast<double>(i));
    return {Square(x), Exp(x)};
  }
};

class ForkTest : public testing::Test {
 protected:
  ForkTest() {
    SetNumThreads(1);
    expected_ = Computed();
    SetNumThreads(4);
    Computed();  // from here on there are threads that wait
  }
  ~ForkTest() override { SetNumThreads(threads_); }

  const int threads_ = NumThreads();
  Tensor expected_;
};

TEST_F(ForkTest, AChildComputesOnOneThread) {
  const int result = InChild([&] { return NumThreads() == 1 && Computed().Equals(expected_); });
  EXPECT_EQ(result, 1);
}

TEST_F(ForkTest, SoDoesAChildOfAChild) {
  const int result = InChild([&] {
    if (!Computed().Equals(expected_)) return 2;
    return InChild([&] { return NumThreads() == 1 && Computed().Equals(expected_); });
  });
  EXPECT_EQ(result, 1);
}

TEST_F(ForkTest, AChildMayHaveThreadsAgain) {
  const int result = InChild([&] {
    SetNumThreads(3);
    std::atomic<int> beside = 0;
    ParallelForChunks(3, 1, [&](int, int64_t, int64_t) { beside += InParallelRegion() ? 1 : 0; });
    Computed();
    const int inner = InChild([&] { return Computed().Equals(expected_); });
    return beside == 3 && inner == 1;
  });
  EXPECT_EQ(result, 1);
}

TEST_F(ForkTest, TheParentGoesOnWithItsThreads) {
  const Tensor before = Computed();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(InChild([] { return 7; }), 7);
    EXPECT_EQ(NumThreads(), 4);
    EXPECT_TRUE(Computed().Equals(before));
  }
}

// One of them has the heap's lock most of the time.
TEST_F(ForkTest, LocksThatOtherThreadsHaveAreFreeInTheChild) {
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&over] {
      const SerialScope serial;
      std::vector<Tensor> held;
      while (!over) {
        for (int64_t n = 0; n < 200; ++n) held.push_back(Empty({n * 997}));
        held.clear();
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(InChild([&] { return Computed().Equals(expected_); }), 1);
  }
  over = true;
  for (std::thread& t : threads) t.join();
}

TEST_F(ForkTest, AChildComputesBesideALoaderOfItsParent) {
  io::DataLoader loader(std::make_shared<Squares>(), {.batch = 4, .prefetch = 3});
  int batches = 0;
  for (const io::Sample& batch : loader) {
    static_cast<void>(batch);
    if (++batches % 50 != 0) continue;
    EXPECT_EQ(InChild([&] { return Computed().Equals(expected_); }), 1);
  }
  EXPECT_EQ(batches, 250);
}

}  // namespace
}  // namespace firn

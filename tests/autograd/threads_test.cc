// Graphs and threads: independent graphs side by side, a graph handed from thread to thread, and
// tensors that outlive their thread or main().

#include <thread>

#include "firn/autograd/backward.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::Floats;
using testing::Leaf;
using testing::LiveBytes;

// Made before main(), given a history in a test, and alive until after main(): the process must
// still end cleanly.
Tensor global_leaf = Leaf({1, 2});
Tensor global_result;

Tensor Chain(const Tensor& x, int length) {
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = Add(Mul(y, 1), x);
  return Sum(y);
}

TEST(ThreadsTest, RunsIndependentGraphsSideBySide) {
  std::vector<Tensor> leaves = {Leaf({1}), Leaf({1}), Leaf({1}), Leaf({1})};
  std::vector<std::thread> threads;
  for (Tensor& x : leaves) {
    threads.emplace_back([&x] {
      for (int i = 0; i < 20; ++i) Chain(x, 200).Backward();
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Tensor& x : leaves) EXPECT_EQ(x.grad().ToVector<float>(), (Floats{20 * 201}));
}

TEST(ThreadsTest, KeepsRecordingStatePerThread) {
  NoGradScope no_grad;
  bool recorded = false;
  std::thread([&] { recorded = Mul(Leaf({1}), 2).requires_grad(); }).join();
  EXPECT_TRUE(recorded);
  EXPECT_FALSE(Mul(Leaf({1}), 2).requires_grad());
}

// Node numbers are per thread; a young thread's operations on an old thread's values still come
// after them.
TEST(ThreadsTest, GoesBackThroughOperationsOfSeveralThreads) {
  Tensor x = Leaf({2});
  Tensor y = x;
  for (int i = 0; i < 1000; ++i) y = Add(y, x);  // 1001 x
  Tensor z;
  std::thread([&] {
    const Tensor square = Mul(y, y);
    z = Sum(Add(square, y));
  }).join();
  z.Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{1001.f * (2 * 2002.f + 1)}));
}

TEST(ThreadsTest, RunsBackwardOnAnotherThread) {
  Tensor x = Leaf({3});
  const Tensor y = Chain(x, 100);
  std::thread([&] { y.Backward(); }).join();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{101}));
}

TEST(ThreadsTest, LetsTensorsOutliveTheirThread) {
  const int64_t before = LiveBytes();
  {
    Tensor y;
    std::thread([&] { y = Chain(Leaf({1}), 1000); }).join();
    EXPECT_EQ(y.ToVector<float>(), (Floats{1001}));
    y.Backward();
  }
  EXPECT_EQ(LiveBytes(), before);
}

TEST(ThreadsTest, FreesAThreadsOwnTensorsWhenItEnds) {
  const int64_t before = LiveBytes();
  std::thread([] {
    static thread_local Tensor kept;
    kept = Chain(Leaf({1}), 1000);
  }).join();
  EXPECT_EQ(LiveBytes(), before);
}

TEST(ThreadsTest, LetsGlobalTensorsOutliveMain) {
  global_result = Chain(global_leaf, 1000);
  EXPECT_EQ(global_leaf.ToVector<float>(), (Floats{1, 2}));
  Sum(global_result).Backward({}, true);
  EXPECT_TRUE(global_leaf.grad().defined());
}

}  // namespace
}  // namespace firn

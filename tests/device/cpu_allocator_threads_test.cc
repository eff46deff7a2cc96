// The host allocator among threads, and at the end of threads and of the process.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "firn/device/cpu_allocator.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

Block Allocate(size_t bytes, AllocTag tag = AllocTag::kOther) {
  const auto block = CpuAllocator().Allocate(bytes, tag);
  EXPECT_TRUE(block.ok()) << block.status();
  return block.ok() ? *block : Block{};
}

void Free(const Block& block) { CpuAllocator().Free(block); }

AllocatorStats Stats() { return CpuAllocator().stats(); }

// Frees its block when destroyed.
struct Owner {
  ~Owner() { Free(block); }
  Block block;
};

TEST(CpuAllocatorThreadsTest, BlocksMayBeFreedByAnotherThread) {
  const AllocatorStats before = Stats();
  std::vector<Block> blocks;
  std::thread([&blocks] {
    for (size_t i = 0; i < 1000; ++i) {
      blocks.push_back(Allocate(i * 97, AllocTag::kActivation));
      std::memset(blocks.back().data, 1, i * 97);
    }
  }).join();
  EXPECT_GT(Stats().live(AllocTag::kActivation), before.live(AllocTag::kActivation));
  for (const Block& block : blocks) Free(block);
  EXPECT_EQ(Stats().live_by_tag, before.live_by_tag);
}

TEST(CpuAllocatorThreadsTest, AThreadThatOnlyFreesKeepsTheBooks) {
  const AllocatorStats before = Stats();
  std::vector<Block> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(Allocate(1000, AllocTag::kGradient));
  std::mutex mutex;
  std::condition_variable wake;
  bool freed = false, counted = false;
  std::thread freer([&] {
    for (const Block& block : blocks) Free(block);
    std::unique_lock<std::mutex> lock(mutex);
    freed = true;
    wake.notify_all();
    wake.wait(lock,
              [&] { return counted; });  // its cache is still there while the main thread asks
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    wake.wait(lock, [&] { return freed; });
    EXPECT_EQ(Stats().live_by_tag, before.live_by_tag);
    counted = true;
    wake.notify_all();
  }
  freer.join();
  EXPECT_EQ(Stats().live_by_tag, before.live_by_tag);
  EXPECT_EQ(Stats().allocations - before.allocations, 1000);
}

TEST(CpuAllocatorThreadsTest, AnEndingThreadReturnsItsCache) {
  CpuAllocator().EmptyCache();
  const auto use_much = [] {
    std::vector<Block> blocks;
    for (int i = 0; i < 4000; ++i) blocks.push_back(Allocate(4096));  // 16 MiB
    for (const Block& block : blocks) Free(block);
  };
  std::thread(use_much).join();
  const int64_t held = Stats().live_bytes + Stats().cached_bytes;
  for (int i = 0; i < 20; ++i) std::thread(use_much).join();
  EXPECT_LE(Stats().live_bytes + Stats().cached_bytes, held);
  CpuAllocator().EmptyCache();
  EXPECT_LE(Stats().live_bytes + Stats().cached_bytes, held - (8 << 20));
}

TEST(CpuAllocatorThreadsTest, ManyThreadsShareBlocks) {
  constexpr int kThreads = 8, kSteps = 4000, kShelf = 64;
  const AllocatorStats before = Stats();
  struct Slot {
    std::mutex mutex;
    Block block;
    unsigned char fill = 0;
  };
  std::vector<Slot> shelf(kShelf);
  std::atomic<int> mistakes = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&shelf, &mistakes, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int step = 0; step < kSteps; ++step) {
        const size_t bytes = 1 + random() % (random() % 64 == 0 ? 200000 : 2000);
        const auto tag = static_cast<AllocTag>(random() % kNumAllocTags);
        Block block = Allocate(bytes, tag);
        auto fill = static_cast<unsigned char>(random());
        std::memset(block.data, fill, bytes);
        *static_cast<unsigned char*>(block.data) = fill;
        Slot& slot = shelf[random() % kShelf];
        {
          const std::lock_guard<std::mutex> lock(slot.mutex);
          std::swap(slot.block, block);
          std::swap(slot.fill, fill);
        }
        if (!block) continue;
        if (*static_cast<unsigned char*>(block.data) != fill) ++mistakes;
        Free(block);  // another thread's, as a rule
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const Slot& slot : shelf) Free(slot.block);
  EXPECT_EQ(mistakes, 0);
  EXPECT_EQ(Stats().live_by_tag, before.live_by_tag);
  EXPECT_EQ(Stats().allocations - before.allocations, kThreads * kSteps);
}

TEST(CpuAllocatorThreadsTest, StatisticsMayBeReadWhileOthersAllocate) {
  std::atomic<bool> stop = false;
  std::thread worker([&stop] {
    while (!stop) Free(Allocate(100));
  });
  for (int i = 0; i < 200; ++i) {
    const AllocatorStats stats = Stats();
    EXPECT_GE(stats.live_bytes, 0);
    EXPECT_GE(stats.peak_bytes, stats.live_bytes);
  }
  stop = true;
  worker.join();
}

TEST(CpuAllocatorThreadsTest, ThreadLocalOwnersMayOutliveTheCache) {
  const AllocatorStats before = Stats();
  std::thread([] {
    thread_local Owner owner;  // made before the thread's cache, so destroyed after it
    static_cast<void>(owner.block);
    owner.block = Allocate(1000, AllocTag::kParameter);
    Free(Allocate(2000));
  }).join();
  EXPECT_EQ(Stats().live_by_tag, before.live_by_tag);
}

// A global is constructed before the first allocation and destroyed after main's thread-local
// cache.
Owner global_owner;

TEST(CpuAllocatorThreadsDeathTest, GlobalsMayFreeAtExit) {
  global_owner.block = Allocate(1000);
  EXPECT_EXIT(
      {
        static Owner late;
        late.block = Allocate(100000);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace firn

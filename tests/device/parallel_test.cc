// Loops: every index once, the same chunks every time, and the caller's floating-point setting.
#include "firn/device/parallel.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "firn/device/internal/openmp.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

class ParallelTest : public testing::Test {
 protected:
  ~ParallelTest() override { SetNumThreads(threads_); }
  const int threads_ = NumThreads();
};

struct Chunk {
  int64_t begin = -1, end = -1;
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

std::vector<Chunk> ChunksOf(int64_t n, int64_t grain) {
  std::vector<Chunk> chunks(static_cast<size_t>(NumChunks(n, grain)));
  ParallelForChunks(n, grain, [&](int i, int64_t begin, int64_t end) {
    chunks[static_cast<size_t>(i)] = {begin, end};
  });
  return chunks;
}

TEST_F(ParallelTest, CoversEachIndexOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    SetNumThreads(threads);
    for (const int64_t n : {0, 1, 2, 5, 16, 1000, 1001}) {
      for (const int64_t grain : {1, 3, 100, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
        ParallelFor(n, grain, [&](int64_t begin, int64_t end) {
          EXPECT_LT(begin, end);
          for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
        });
        for (const auto& count : visits) ASSERT_EQ(count, 1);
      }
    }
  }
}

TEST_F(ParallelTest, IgnoresEmptyAndNegativeRanges) {
  ParallelFor(0, 1, [](int64_t, int64_t) { FAIL(); });
  ParallelFor(-5, 1, [](int64_t, int64_t) { FAIL(); });
  EXPECT_EQ(NumChunks(0, 1), 0);
  EXPECT_EQ(NumChunks(-5, 1), 0);
}

TEST_F(ParallelTest, ChunksAreContiguousEvenAndAlwaysTheSame) {
  SetNumThreads(4);
  const std::vector<Chunk> chunks = ChunksOf(10, 1);
  EXPECT_EQ(chunks, (std::vector<Chunk>{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ChunksOf(10, 1), chunks);
}

TEST_F(ParallelTest, MakesNoMoreChunksThanTheGrainAllows) {
  SetNumThreads(8);
  EXPECT_EQ(NumChunks(100, 100), 1);
  EXPECT_EQ(NumChunks(101, 100), 2);
  EXPECT_EQ(NumChunks(250, 100), 3);
  EXPECT_EQ(NumChunks(100000, 100), 8);
  EXPECT_EQ(NumChunks(100, 0), 8);
}

TEST_F(ParallelTest, HandlesRangesNearTheLargest) {
  SetNumThreads(3);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::vector<Chunk> chunks = ChunksOf(kMax, 1);
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].begin, 0);
  EXPECT_EQ(chunks[0].end, chunks[1].begin);
  EXPECT_EQ(chunks[1].end, chunks[2].begin);
  EXPECT_EQ(chunks[2].end, kMax);
}

TEST_F(ParallelTest, SmallLoopsStayOnTheCallingThread) {
  SetNumThreads(4);
  const auto caller = std::this_thread::get_id();
  ParallelFor(100, 100, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(end - begin, 100);
    EXPECT_FALSE(InParallelRegion());
  });
}

TEST_F(ParallelTest, LargeLoopsUseOtherThreads) {
  SetNumThreads(4);
  std::vector<std::thread::id> ids(4);
  ParallelForChunks(4, 1, [&](int i, int64_t, int64_t) {
    ids[static_cast<size_t>(i)] = std::this_thread::get_id();
    EXPECT_TRUE(InParallelRegion());
  });
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 4u);
  EXPECT_EQ(ids[0], std::this_thread::get_id());
}

TEST_F(ParallelTest, NestedLoopsRunWhereTheyAre) {
  SetNumThreads(4);
  std::vector<std::atomic<int>> visits(400);
  ParallelFor(4, 1, [&](int64_t begin, int64_t end) {
    const auto outer = std::this_thread::get_id();
    EXPECT_EQ(NumChunks(100, 1), 1);
    for (int64_t i = begin; i < end; ++i) {
      ParallelFor(100, 1, [&](int64_t from, int64_t to) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        for (int64_t j = from; j < to; ++j) ++visits[static_cast<size_t>(100 * i + j)];
      });
    }
  });
  for (const auto& count : visits) ASSERT_EQ(count, 1);
}

TEST_F(ParallelTest, NumberOfThreadsIsObeyedFromAnyThread) {
  SetNumThreads(3);
  int chunks = 0, openmp = 0;
  std::thread([&] {
    chunks = NumChunks(100, 1);
    SyncOpenMpThreads();
    openmp = omp_get_max_threads();
  }).join();
  EXPECT_EQ(chunks, 3);
  EXPECT_EQ(openmp, 3);
  EXPECT_EQ(omp_get_max_threads(), 3);
}

TEST_F(ParallelTest, ASerialScopeKeepsItsThreadsLoopsOnIt) {
  SetNumThreads(3);
  {
    const SerialScope scope;
    const SerialScope nested;
    EXPECT_EQ(NumChunks(1000, 1), 1);
    SyncOpenMpThreads();
    EXPECT_EQ(omp_get_max_threads(), 1);
    std::thread([] { EXPECT_EQ(NumChunks(1000, 1), 3); }).join();
  }
  EXPECT_EQ(NumChunks(1000, 1), 3);
  EXPECT_EQ(omp_get_max_threads(), 3);
}

TEST_F(ParallelTest, NumberOfThreadsIsAtLeastOne) {
  SetNumThreads(0);
  EXPECT_EQ(NumThreads(), 1);
  SetNumThreads(-4);
  EXPECT_EQ(NumThreads(), 1);
}

TEST_F(ParallelTest, IndependentThreadsMayLoopAtOnce) {
  SetNumThreads(2);
  std::vector<int64_t> sums(4);
  std::vector<std::thread> callers;
  for (auto& sum : sums) {
    callers.emplace_back([&sum] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::atomic<int64_t> total = 0;
        ParallelFor(1000, 10, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) total += i;
        });
        sum = total;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  for (const int64_t sum : sums) EXPECT_EQ(sum, 499500);
}

TEST_F(ParallelTest, BodyMayBeConstMovedOrLarge) {
  SetNumThreads(2);
  const std::vector<int64_t> weights(1000, 2);
  std::atomic<int64_t> total = 0;
  const auto body = [weights, &total](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) total += weights[static_cast<size_t>(i)];
  };
  ParallelFor(1000, 1, body);
  ParallelFor(1000, 1, std::move(body));
  EXPECT_EQ(total, 4000);
}

// How many of `threads` chunks see denormals flushed.
int CountFlushing(int threads) {
  std::atomic<int> flushing = 0;
  ParallelFor(threads, 1, [&](int64_t, int64_t) {
    volatile float tiny = 1e-38f;
    tiny = tiny * 1e-3f;
    if (tiny == 0.0f && FlushDenormals()) ++flushing;
  });
  return flushing;
}

TEST_F(ParallelTest, AllThreadsFlushDenormalsAsTheCallerDoes) {
  SetNumThreads(4);
  EXPECT_EQ(CountFlushing(4), 0);
  SetFlushDenormals(true);
  if (!FlushDenormals()) GTEST_SKIP() << "this processor has no such setting";
  EXPECT_EQ(CountFlushing(4), 4);
  std::thread([] {  // sets it for itself and its own pool only
    SetFlushDenormals(false);
    EXPECT_EQ(CountFlushing(4), 0);
  })
      .join();
  EXPECT_EQ(CountFlushing(4), 4);
  SetFlushDenormals(false);
  EXPECT_EQ(CountFlushing(4), 0);
}

}  // namespace
}  // namespace firn

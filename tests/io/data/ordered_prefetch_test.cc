// Order, bounds and ends of the pipeline under many timings.
#include "firn/io/data/internal/ordered_prefetch.h"

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "firn/io/data/permutation.h"
#include "firn/tensor/from.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

Sample Number(int64_t i) { return {Tensor(i), {}}; }

TEST(OrderedPrefetchTest, GivesResultsInOrderOnceEach) {
  for (const int threads : {1, 2, 5}) {
    for (const int64_t ahead : {1, 2, 7}) {
      OrderedPrefetch pipeline(3, 40, threads, ahead, [](int64_t i) {
        if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        return Number(i);
      });
      for (int64_t i = 3; i < 40; ++i) {
        EXPECT_EQ(pipeline.next(), i);
        EXPECT_EQ(pipeline.Next().input.Item<int64_t>(), i);
      }
    }
  }
}

TEST(OrderedPrefetchTest, MakesNoMoreThanAllowedAhead) {
  std::atomic<int64_t> most = 0, taken = 0;
  OrderedPrefetch pipeline(0, 50, 4, 3, [&](int64_t i) {
    int64_t seen = most.load();
    while (i - taken > seen && !most.compare_exchange_weak(seen, i - taken)) {
    }
    return Number(i);
  });
  for (int64_t i = 0; i < 50; ++i) {
    ++taken;  // before Next: the worker may start on the freed slot at once
    pipeline.Next();
  }
  EXPECT_LE(most, 2);
}

TEST(OrderedPrefetchTest, StopsEarlyWhateverTheWorkersDo) {
  for (int taken = 0; taken < 6; ++taken) {
    std::atomic<int> made = 0;
    {
      OrderedPrefetch pipeline(0, 1000, 3, 4, [&](int64_t i) {
        ++made;
        return Number(i);
      });
      for (int i = 0; i < taken; ++i) pipeline.Next();
    }
    EXPECT_LE(made, taken + 4);
  }
}

TEST(OrderedPrefetchTest, HandsExceptionsOverAndGoesOn) {
  OrderedPrefetch pipeline(0, 6, 2, 2, [](int64_t i) {
    if (i % 2 == 1) throw std::out_of_range(std::to_string(i));
    return Number(i);
  });
  for (int64_t i = 0; i < 6; ++i) {
    if (i % 2 == 1) {
      EXPECT_THROW(pipeline.Next(), std::out_of_range);
    } else {
      EXPECT_EQ(pipeline.Next().input.Item<int64_t>(), i);
    }
  }
}

TEST(OrderedPrefetchTest, AllowsNothingToDo) { OrderedPrefetch pipeline(4, 4, 2, 2, Number); }

TEST(PermutationTest, HoldsEachNumberOnce) {
  for (const int64_t n : {0, 1, 2, 100}) {
    const std::vector<int64_t> p = Permutation(n, 5, 6);
    EXPECT_EQ(static_cast<int64_t>(p.size()), n);
    EXPECT_EQ(std::set<int64_t>(p.begin(), p.end()).size(), p.size());
  }
  EXPECT_EQ(InOrder(3), (std::vector<int64_t>{0, 1, 2}));
}

TEST(PermutationTest, DependsOnSeedAndEpoch) {
  EXPECT_EQ(Permutation(100, 1, 2), Permutation(100, 1, 2));
  EXPECT_NE(Permutation(100, 1, 2), Permutation(100, 1, 3));
  EXPECT_NE(Permutation(100, 1, 2), Permutation(100, 2, 2));
}

// 24 orders of 4 numbers, 24000 draws: chi-square with 23 degrees of freedom is above 49.7 once in
// a thousand, and the seeds are fixed.
TEST(PermutationTest, TakesEveryOrderEquallyOften) {
  std::map<std::vector<int64_t>, int> count;
  for (uint64_t epoch = 0; epoch < 24000; ++epoch) ++count[Permutation(4, 99, epoch)];
  EXPECT_EQ(count.size(), 24u);
  double chi2 = 0;
  for (const auto& [order, n] : count) chi2 += (n - 1000.0) * (n - 1000.0) / 1000.0;
  EXPECT_LT(chi2, 49.7);
}

}  // namespace
}  // namespace firn::io::internal

// Plans: nothing that lives together overlaps, and little is wasted.

#include "firn/autograd/graph/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "firn/device/inner.h"

namespace firn {
namespace {

void ExpectNoOverlap(const std::vector<Lifetime>& pieces, const MemoryPlan& plan) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % 64, 0) << "a cache line, and the longest vector";
    EXPECT_LE(plan.offsets[i] + pieces[i].bytes, plan.arena_bytes);
    for (size_t j = 0; j < i; ++j) {
      if (pieces[i].last < pieces[j].first || pieces[j].last < pieces[i].first) continue;
      EXPECT_TRUE(plan.offsets[i] + pieces[i].bytes <= plan.offsets[j] ||
                  plan.offsets[j] + pieces[j].bytes <= plan.offsets[i])
          << i << " and " << j;
    }
  }
}

TEST(PlanTest, NothingNeedsNothing) {
  const MemoryPlan plan = PlanMemory({});
  EXPECT_EQ(plan.arena_bytes, 0);
  EXPECT_EQ(plan.lower_bound_bytes, 0);
}

TEST(PlanTest, PiecesOneAfterTheOtherShare) {
  const std::vector<Lifetime> pieces = {{640, 0, 1}, {640, 2, 3}, {64, 1, 2}};
  const MemoryPlan plan = PlanMemory(pieces);
  ExpectNoOverlap(pieces, plan);
  EXPECT_EQ(plan.arena_bytes, 704);
  EXPECT_EQ(plan.lower_bound_bytes, 704);
  EXPECT_EQ(plan.peak_step, 1);
}

TEST(PlanTest, RandomLifetimesStayNearTheBound) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> pieces;
    for (int i = 0; i < 100; ++i) {
      const auto first = static_cast<int64_t>(random() % 100);
      pieces.push_back({static_cast<int64_t>(random() % 100000), first,
                        first + static_cast<int64_t>(random() % 20)});
    }
    const MemoryPlan plan = PlanMemory(pieces);
    ExpectNoOverlap(pieces, plan);
    EXPECT_GE(plan.arena_bytes, plan.lower_bound_bytes);
    EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes * 13 / 10);
  }
}

TEST(PlanTest, ManyPiecesOfWhichFewLiveTogetherStayNearTheBound) {
  std::mt19937 random(3);
  std::vector<Lifetime> pieces;
  for (int i = 0; i < 1200; ++i) {
    const auto first = static_cast<int64_t>(random() % 1200);
    pieces.push_back({static_cast<int64_t>(random() % 100000), first,
                      first + static_cast<int64_t>(random() % 20)});
  }
  const MemoryPlan plan = PlanMemory(pieces);
  ExpectNoOverlap(pieces, plan);
  EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes * 13 / 10);
}

// Some live long among many that do not, where the order of time alone leaves gaps.
TEST(PlanTest, ManyPiecesOfWhichSomeLiveLongStayNearTheBound) {
  std::mt19937 random(7);
  std::vector<Lifetime> pieces;
  for (int64_t i = 0; i < 3000; ++i) {
    const auto bytes = static_cast<int64_t>(random() % 100'000);
    const auto steps = static_cast<int64_t>(random() % 10 == 0 ? random() % 3000 : random() % 8);
    pieces.push_back({bytes, i, i + steps});
  }
  const MemoryPlan plan = PlanMemory(pieces);
  ExpectNoOverlap(pieces, plan);
  EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes * 21 / 20);
}

TEST(PlanTest, VeryManyPiecesArePlacedQuickly) {
  std::mt19937 random(2);
  std::vector<Lifetime> pieces;
  for (int i = 0; i < 200000; ++i) {
    const auto first = static_cast<int64_t>(random() % 200000);
    pieces.push_back({static_cast<int64_t>(random() % 1000), first,
                      first + static_cast<int64_t>(random() % 20)});
  }
  const MemoryPlan plan = PlanMemory(pieces);
  EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes * 2);
  // Sorts the values that live at each step by place: neighbours must not overlap.
  std::vector<std::vector<size_t>> live(200020);
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (int64_t s = pieces[i].first; s <= pieces[i].last; ++s) {
      live[static_cast<size_t>(s)].push_back(i);
    }
  }
  for (auto& at_once : live) {
    std::sort(at_once.begin(), at_once.end(),
              [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
    for (size_t i = 1; i < at_once.size(); ++i) {
      const size_t before = at_once[i - 1];
      ASSERT_LE(plan.offsets[before] + pieces[before].bytes, plan.offsets[at_once[i]]);
    }
  }
}

}  // namespace
}  // namespace firn

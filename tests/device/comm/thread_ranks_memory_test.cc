// Memory that runs out on one rank, wherever in a call, ends the others' calls. This file replaces
// operator new to have it run out.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "firn/device/comm/thread_ranks.h"

namespace {

// How many more times this thread gets memory; -1: always.
thread_local int allocations_left = -1;

}  // namespace

void* operator new(std::size_t size) {
  if (allocations_left == 0) {
    allocations_left = -1;  // what tells of it gets memory again
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace firn::comm {
namespace {

TEST(ThreadRanksMemoryTest, OthersAreToldWhenTheLastToComeHasNone) {
  int told = 0;
  for (int n = 0;; ++n) {
    ASSERT_LT(n, 100);
    const auto ranks = ThreadRanks(2, {.timeout = absl::Milliseconds(20)});
    float x[2] = {1, 2};
    const auto call = [&](int r) {
      return Collective{.kind = CollectiveKind::kAllReduce, .count = 1, .in = &x[r], .out = &x[r]};
    };
    const auto first = ranks[0]->Start(call(0));
    ASSERT_TRUE(first.ok());
    bool had_enough = true;
    try {
      allocations_left = n;
      EXPECT_TRUE(ranks[1]->Run(call(1)).ok());
    } catch (const std::bad_alloc&) {
      had_enough = false;
    }
    allocations_left = -1;
    const absl::Status status = (*first)->Wait();
    if (had_enough) {
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(x[0], 3);
      break;
    }
    const std::string said(status.message());
    if (said == "rank 1 gave up: all_reduce of 1 f32 (sum): std::bad_alloc") ++told;
    // Before it came, in its work, or after that.
    EXPECT_TRUE(status.ok() || said.ends_with("bad_alloc") || said.ends_with(" for rank 1"))
        << said;
    EXPECT_EQ(status.ok(), x[0] == 3.0f && x[1] == 3.0f);
  }
  EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace firn::comm

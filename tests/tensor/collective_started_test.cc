// Collectives that are started, and waited for later, by several ranks.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/device/comm/started.h"
#include "firn/device/inner.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/collective/started.h"
#include "firn/tensor/state_dict.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::OnRanks;

constexpr DType kNumbers[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16,
                              DType::kI8,  DType::kI32, DType::kI64, DType::kU8};

TEST(CollectiveStartedTest, ReducesEveryTypeOfNumber) {
  for (int size = 1; size <= 4; ++size) {
    OnRanks(size, [size](comm::Communicator& ranks) {
      for (DType dtype : kNumbers) {
        const Tensor x = Full({3, 2}, ranks.rank() + 1, dtype);
        StartAllReduce(x, comm::Reduction::kSum);
        WaitCollective(x);
        EXPECT_TRUE(x.Equals(Full({3, 2}, size * (size + 1) / 2, dtype))) << x;
      }
    });
  }
}

TEST(CollectiveStartedTest, TellsAllWhatOneHas) {
  OnRanks(3, [](comm::Communicator& ranks) {
    const Tensor x = Full({2, 2}, ranks.rank()), yes = Full({4}, ranks.rank() == 2, DType::kBool);
    StartBroadcast(x, 1);
    StartBroadcast(yes, 2);
    WaitCollective(yes);
    WaitCollective(x);
    EXPECT_TRUE(x.Equals(Ones({2, 2})));
    EXPECT_TRUE(yes.Equals(Full({4}, true, DType::kBool)));
  });
}

TEST(CollectiveStartedTest, GathersTheRowsOfAll) {
  OnRanks(3, [](comm::Communicator& ranks) {
    const Tensor x = Zeros({6, 2});
    Narrow(x, 0, 2 * ranks.rank(), 2).Fill(ranks.rank() + 1);
    StartAllGather(x);
    WaitCollective(x);
    for (int r = 0; r < 3; ++r) {
      EXPECT_TRUE(Narrow(x, 0, 2 * r, 2).Contiguous().Equals(Full({2, 2}, r + 1)));
    }
  });
}

TEST(CollectiveStartedTest, GroupsByNumber) {
  OnRanks(4, [](comm::Communicator& ranks) {
    const auto pair = *ranks.Split(ranks.rank() / 2, ranks.rank());
    const comm::Group group(*pair);
    const Tensor x = Full({3}, ranks.rank());
    StartAllReduce(x, comm::Reduction::kSum, group.number());
    WaitCollective(x, group.number());
    EXPECT_TRUE(x.Equals(Full({3}, ranks.rank() < 2 ? 1 : 5)));
  });
}

TEST(CollectiveStartedTest, SaysWhatIsWrong) {
  OnRanks(2, [](comm::Communicator&) {
    const Tensor x = Ones({4});
    EXPECT_EQ(ErrorOf([&] { WaitCollective(x); }),
              "wait_collective: this thread has started no collective call into this memory that "
              "nobody has waited for");
    StartAllReduce(x, comm::Reduction::kSum);
    EXPECT_EQ(ErrorOf([&] { StartAllReduce(x, comm::Reduction::kSum); }),
              "start_collective: all_reduce of 4 f32 (sum): a collective call into the same memory "
              "is on its way; wait for it");
    WaitCollective(x);
    EXPECT_EQ(ErrorOf([] {
                StartAllGather(Ones({3, 2}));
              }),
              "start_collective: x must have as many rows for each of the 2 ranks, got [3, 2]");
    EXPECT_EQ(ErrorOf([] {
                StartAllReduce(Ones({3, 2}).Transpose(0, 1), comm::Reduction::kSum);
              }).find("start_collective: x is written in place and must be contiguous"),
              0u);
    const Tensor w = Ones({2}).SetRequiresGrad();
    EXPECT_NE(ErrorOf([&] { StartAllReduce(w, comm::Reduction::kSum); }), "");
    const NoGradScope no_grad;
    StartAllReduce(w, comm::Reduction::kSum);
    WaitCollective(w);
    EXPECT_TRUE(w.Detach().Equals(Full({2}, 2)));
  });
}

// An exception between start and wait frees the tensor; the call on its way still writes into its
// memory.
TEST(CollectiveStartedTest, KeepsTheMemoryUntilItIsDone) {
  OnRanks(2, [](comm::Communicator& ranks) {
    const uint64_t before = comm::StartedSoFar();
    {
      const Tensor x = Ones({1 << 16});
      if (ranks.rank() == 0) StartAllReduce(x, comm::Reduction::kSum);
    }
    ASSERT_TRUE(ranks.rank() == 0 || ranks.rank() == 1);
    const Tensor other = Full({1 << 16}, 7);
    if (ranks.rank() == 1) {
      const Tensor x = Ones({1 << 16});
      StartAllReduce(x, comm::Reduction::kSum);
      WaitCollective(x);
    }
    EXPECT_TRUE(comm::WaitForAllSince(before).ok());
    EXPECT_TRUE(other.Equals(Full({1 << 16}, 7)));
  });
}

}  // namespace
}  // namespace firn

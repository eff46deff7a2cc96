#include "firn/device/comm/thread_ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <latch>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/device/comm/collectives.h"
#include "tests/device/comm/on_ranks.h"

namespace firn::comm {
namespace {

using Ranks = std::vector<std::unique_ptr<Communicator>>;

// Calls `body` with each rank on a thread of its own.
void OnAll(Ranks& ranks, const std::function<void(Communicator&)>& body) {
  std::vector<std::thread> threads;
  for (const auto& rank : ranks) threads.emplace_back([&body, &rank] { body(*rank); });
  for (std::thread& t : threads) t.join();
}
using firn::testing::OnRanks;

template <class T>
class ThreadRanksTypesTest : public ::testing::Test {};
using Types = ::testing::Types<Type<float, Element::kF32>, Type<double, Element::kF64>,
                               Type<uint16_t, Element::kF16>, Type<uint16_t, Element::kBF16>,
                               Type<int8_t, Element::kI8>, Type<int32_t, Element::kI32>,
                               Type<int64_t, Element::kI64>, Type<uint8_t, Element::kU8>>;
TYPED_TEST_SUITE(ThreadRanksTypesTest, Types);

TYPED_TEST(ThreadRanksTypesTest, GiveWhatTheirDefinitionSays) {
  for (int size = 1; size <= 8; ++size) {
    OnRanks(size, [](Communicator& c) { CheckCollectives<TypeParam>(c); });
  }
}

TEST(ThreadRanksTest, SumMoreThanABucket) {
  for (int size = 1; size <= 8; ++size) OnRanks(size, CheckSumBeyondABucket);
}

TEST(ThreadRanksTest, SumHalfTypesInF32) {
  // 2048 + 1 + 1 is 2050 in f16 only if it is rounded once.
  OnRanks(3, [](Communicator& c) {
    uint16_t x = Type<uint16_t, Element::kF16>::Of(c.rank() == 0 ? 2048 : 1);
    ASSERT_TRUE(c.AllReduce(&x, 1, Element::kF16, Reduction::kSum).ok());
    EXPECT_EQ(x, (Type<uint16_t, Element::kF16>::Of(2050)));
  });
}

TEST(ThreadRanksTest, KeepNotANumber) {
  for (const int rank : {0, 1, 2}) {
    OnRanks(3, [&](Communicator& c) {
      float x[2];
      x[0] = x[1] = c.rank() == rank ? std::nanf("") : static_cast<float>(c.rank());
      ASSERT_TRUE(c.AllReduce(x, 1, Element::kF32, Reduction::kMax).ok());
      ASSERT_TRUE(c.AllReduce(x + 1, 1, Element::kF32, Reduction::kMin).ok());
      EXPECT_TRUE(std::isnan(x[0]) && std::isnan(x[1])) << rank;
    });
  }
}

TEST(ThreadRanksTest, LetIntegersWrapAround) {
  OnRanks(2, [](Communicator& c) {
    int8_t x[2] = {100, static_cast<int8_t>(c.rank() == 0 ? -128 : 127)};
    ASSERT_TRUE(c.AllReduce(x, 1, Element::kI8, Reduction::kSum).ok());
    ASSERT_TRUE(c.AllReduce(x + 1, 1, Element::kI8, Reduction::kMin).ok());
    EXPECT_EQ(x[0], -56);
    EXPECT_EQ(x[1], -128);
  });
}

// Many on their way at once, waited for backwards.
TEST(ThreadRanksTest, ComputeWhileOthersAreComing) {
  OnRanks(4, [](Communicator& c) {
    std::vector<float> x(50);
    std::vector<std::unique_ptr<Pending>> pending;
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i) * static_cast<float>(c.rank() + 1);
      auto started =
          c.Start({.kind = CollectiveKind::kAllReduce, .count = 1, .in = &x[i], .out = &x[i]});
      ASSERT_TRUE(started.ok());
      pending.push_back(*std::move(started));
    }
    while (!pending.empty()) {
      ASSERT_TRUE(pending.back()->Wait().ok());
      EXPECT_EQ(x[pending.size() - 1], static_cast<float>(pending.size() - 1) * 10);
      pending.pop_back();
    }
  });
}

TEST(ThreadRanksTest, SplitByColorAndKey) {
  OnRanks(6, [](Communicator& c) {
    // Ranks 0 and 3 stay out; the others are even and odd ones, the last first.
    const int color = c.rank() % 3 == 0 ? -1 : c.rank() % 2;
    auto part = c.Split(color, -c.rank());
    ASSERT_TRUE(part.ok());
    ASSERT_EQ(*part == nullptr, color < 0);
    if (*part == nullptr) return;
    EXPECT_EQ((*part)->size(), 2);
    EXPECT_EQ((*part)->rank(), c.rank() < 3 ? 1 : 0);
    float x = static_cast<float>(c.rank());
    ASSERT_TRUE((*part)->AllReduce(&x, 1, Element::kF32, Reduction::kSum).ok());
    EXPECT_EQ(x, 6);  // 2 + 4, 1 + 5
  });
}

TEST(ThreadRanksTest, NameCallsThatDoNotFit) {
  Ranks ranks = ThreadRanks(2);
  std::string errors[2];
  OnAll(ranks, [&](Communicator& c) {
    float x[3] = {};
    const absl::Status status = c.AllReduce(x, c.rank() + 1, Element::kF32, Reduction::kSum);
    errors[c.rank()] = std::string(status.message());
    EXPECT_EQ(c.Barrier(), status);  // nothing fits together any more
  });
  EXPECT_EQ(errors[0], errors[1]);
  for (const char* part :
       {"rank 0", "all_reduce of 1 f32 (sum)", "rank 1", "all_reduce of 2 f32"}) {
    EXPECT_NE(errors[0].find(part), std::string::npos) << errors[0];
  }
}

TEST(ThreadRanksTest, NameRanksThatDoNotCome) {
  Ranks ranks = ThreadRanks(3, {.timeout = absl::Milliseconds(50)});
  OnAll(ranks, [&](Communicator& c) {
    if (c.rank() == 1) return;
    const absl::Status status = c.Barrier();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_NE(status.message().find("waited 50ms for rank 1"), absl::string_view::npos) << status;
  });
}

TEST(ThreadRanksTest, NameRanksThatAreGone) {
  Ranks ranks = ThreadRanks(3);
  OnAll(ranks, [&](Communicator& c) {
    if (c.rank() == 2) {
      ranks[2] = nullptr;
      return;
    }
    const absl::Status status = c.Barrier();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(status.message(), "rank 2 is gone");
  });
}

TEST(ThreadRanksTest, EndWhatOneAborts) {
  Ranks ranks = ThreadRanks(3);
  OnAll(ranks, [&](Communicator& c) {
    if (c.rank() == 1) return c.Abort("the disk is full");
    EXPECT_EQ(c.Barrier().message(), "rank 1 gave up: the disk is full");
  });
}

TEST(ThreadRanksTest, EndWhatOneAbortsInPartsToo) {
  Ranks ranks = ThreadRanks(2);
  OnAll(ranks, [&](Communicator& c) {
    const auto part = c.Split(0, 0);
    ASSERT_TRUE(part.ok());
    if (c.rank() == 1) c.Abort("the disk is full");
    EXPECT_EQ((*part)->Barrier().message(), "rank 1 gave up: the disk is full");
  });
}

// Memory that the last one to come still moves is not given back, however long that takes: here
// longer than anybody waits. Only a rank that did not come, of a busy machine, is named.
TEST(ThreadRanksTest, WaitLongerForWorkThatIsBeingDone) {
  Ranks ranks = ThreadRanks(2, {.timeout = absl::Milliseconds(5)});
  std::latch begin(2);
  OnAll(ranks, [&](Communicator& c) {
    std::vector<float> x(1 << 25, 1.0f);
    begin.arrive_and_wait();
    const absl::Status status =
        c.AllReduce(x.data(), static_cast<int64_t>(x.size()), Element::kF32, Reduction::kSum);
    const std::string said(status.message());
    if (status.ok()) {
      EXPECT_EQ(x.back(), 2);
    } else {
      EXPECT_TRUE(said.ends_with(" for rank 0") || said.ends_with(" for rank 1")) << said;
    }
  });
}

TEST(ThreadRanksTest, RefuseCallsThatMakeNoSense) {
  OnRanks(2, [](Communicator& c) {
    float x = 1;
    int32_t i = 1;
    const auto error = [](const absl::Status& status) { return std::string(status.message()); };
    EXPECT_EQ(error(c.Broadcast(&x, 1, Element::kF32, 2)), "broadcast: root is 2 (want 0 to 1)");
    EXPECT_EQ(error(c.Broadcast(&x, -1, Element::kF32, 0)), "broadcast: count is -1 (want >= 0)");
    EXPECT_EQ(error(c.AllReduce(&i, 1, Element::kI32, Reduction::kMean)),
              "all_reduce: the mean of i32 (want floats)");
    EXPECT_EQ(error(c.AllReduce(nullptr, 1, Element::kF32, Reduction::kSum)),
              "all_reduce of 1 f32 (sum): there is no memory to read from");
    EXPECT_EQ(error(c.Send(&x, 1, Element::kF32, c.rank())),
              absl::StrCat("send: rank ", c.rank(), " is this one itself"));
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    EXPECT_EQ(error(c.AllGather(&x, &x, kMost / 4, Element::kF32)),
              absl::StrCat("all_gather: count is ", kMost / 4, ", more than memory holds"));
    // No other rank has heard of these.
    ASSERT_TRUE(c.AllReduce(&x, 1, Element::kF32, Reduction::kSum).ok());
    EXPECT_EQ(x, 2);
  });
}

}  // namespace
}  // namespace firn::comm

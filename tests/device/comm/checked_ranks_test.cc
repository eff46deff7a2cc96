#include "firn/device/comm/checked_ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "firn/device/comm/thread_ranks.h"
#include "tests/device/comm/collectives.h"
#include "tests/device/comm/on_ranks.h"

namespace firn::comm {
namespace {

constexpr ThreadRanksOptions kSoon = {.timeout = absl::Seconds(20)};

using Body = std::function<absl::Status(Communicator&)>;

// The results of `body`, called for each checked rank on a thread of its own.
std::vector<std::string> OnRanks(int size, const Body& body,
                                 const ThreadRanksOptions& options = kSoon) {
  std::vector<std::string> said(static_cast<size_t>(size));
  firn::testing::OnThreads(size, options, [&](std::unique_ptr<Communicator>& rank) {
    const auto checked = CheckedRanks(std::move(rank));
    said[static_cast<size_t>(checked->rank())] = std::string(body(*checked).message());
  });
  return said;
}

// Memory for any of these calls, of four ranks.
absl::Status Call(Communicator& c, Collective call) {
  std::vector<double> in(64, 1), out(64, 2);
  call.in = in.data();
  call.out = out.data();
  const absl::Status status = c.Run(call);
  EXPECT_EQ(out, std::vector<double>(64, 2)) << "data has moved";
  return status;
}

void ExpectNamed(const Collective& a, const Collective& b) {
  const auto said = OnRanks(3, [&](Communicator& c) { return Call(c, c.rank() == 1 ? b : a); });
  const std::string want = "call 0: rank 0 called " + a.ToString() + ", rank 1 " + b.ToString();
  EXPECT_EQ(said, std::vector<std::string>(3, want));
}

TEST(CheckedRanksTest, NameCallsThatDiffer) {
  const std::vector<Collective> calls = {{.kind = CollectiveKind::kBarrier},
                                         {.kind = CollectiveKind::kBroadcast, .count = 3},
                                         {.kind = CollectiveKind::kReduce, .count = 3},
                                         {.kind = CollectiveKind::kAllReduce, .count = 3},
                                         {.kind = CollectiveKind::kAllGather, .count = 3},
                                         {.kind = CollectiveKind::kReduceScatter, .count = 3}};
  for (size_t i = 0; i < calls.size(); ++i) {
    ExpectNamed(calls[i], calls[(i + 1) % calls.size()]);  // another kind
    if (i == 0) continue;
    Collective other = calls[i];
    other.count = 4;
    ExpectNamed(calls[i], other);
    other = calls[i];
    other.element = Element::kI32;
    ExpectNamed(calls[i], other);
    other = calls[i];
    other.root = 2;
    if (i <= 2) ExpectNamed(calls[i], other);
    other = calls[i];
    other.reduction = Reduction::kMax;
    if (other.reduces()) ExpectNamed(calls[i], other);
  }
}

TEST(CheckedRanksTest, NameCallsInAnotherOrderThatWereStarted) {
  const auto said = OnRanks(2, [](Communicator& c) {
    std::vector<float> x(8), y(8);
    const Collective sum = {
        .kind = CollectiveKind::kAllReduce, .count = 8, .in = x.data(), .out = x.data()};
    Collective largest = sum;
    largest.reduction = Reduction::kMax;
    largest.in = largest.out = y.data();
    auto first = c.Start(sum);
    if (!first.ok()) return first.status();
    auto second = c.Start(c.rank() == 0 ? sum : largest);
    EXPECT_TRUE((*first)->Wait().ok());  // had all that it needs
    return second.ok() ? (*second)->Wait() : second.status();
  });
  EXPECT_EQ(said,
            std::vector<std::string>(2,
                                     "call 1: rank 0 called all_reduce of 8 f32 (sum), rank 1 "
                                     "all_reduce of 8 f32 (max)"));
}

TEST(CheckedRanksTest, NameRanksOfAPartAndOfAll) {
  const auto said = OnRanks(4, [](Communicator& c) {
    auto part = c.Split(c.rank() % 2, 0);
    if (!part.ok()) return part.status();
    if (c.rank() % 2 == 0) return (*part)->Barrier();
    return Call(**part, {.kind = CollectiveKind::kAllGather, .count = c.rank()});
  });
  const std::string want =
      "call 0: rank 0 (1 before Split) called all_gather of 1 f32, rank 1 (3 before Split) "
      "all_gather of 3 f32";
  EXPECT_EQ(said, (std::vector<std::string>{"", want, "", want}));
}

TEST(CheckedRanksTest, NameASplitThatOthersDoNotCall) {
  const auto said = OnRanks(
      2, [](Communicator& c) { return c.rank() == 0 ? c.Barrier() : c.Split(0, 0).status(); });
  EXPECT_EQ(said, std::vector<std::string>(2, "call 0: rank 0 called barrier, rank 1 split"));
}

TEST(CheckedRanksTest, NameMessagesThatDiffer) {
  const auto said = OnRanks(2, [](Communicator& c) {
    return c.rank() == 0 ? Call(c, {.kind = CollectiveKind::kSend, .root = 1, .count = 3})
                         : Call(c, {.kind = CollectiveKind::kRecv, .root = 0, .count = 4});
  });
  for (const std::string& text : said) {
    EXPECT_TRUE(absl::StrContains(text, "send of 3 f32 to rank 1")) << text;
    EXPECT_TRUE(absl::StrContains(text, "recv of 4 f32 from rank 0")) << text;
  }
}

TEST(CheckedRanksTest, FailForGoodAndSayWhatWaits) {
  const auto said = OnRanks(2, [](Communicator& c) {
    const absl::Status first = Call(c, {.kind = CollectiveKind::kAllGather, .count = 1 + c.rank()});
    EXPECT_EQ(c.Barrier(), first);
    EXPECT_EQ(c.Split(0, 0).status(), first);
    return first;
  });
  EXPECT_TRUE(absl::StartsWith(said[0], "call 0: ")) << said[0];
  const auto late =
      OnRanks(2, [](Communicator& c) { return c.rank() == 0 ? c.Barrier() : absl::OkStatus(); },
              {.timeout = absl::Milliseconds(50)});
  EXPECT_TRUE(absl::StrContains(late[0], "rank 1")) << late[0];
  EXPECT_TRUE(absl::EndsWith(late[0], ", before barrier on rank 0")) << late[0];
}

TEST(CheckedRanksTest, DoWhatTheirDefinitionSays) {
  for (const int size : {1, 2, 3, 8}) {
    const auto said = OnRanks(size, [](Communicator& c) {
      CheckCollectives<Type<float, Element::kF32>>(c);
      return absl::OkStatus();
    });
    EXPECT_EQ(said, std::vector<std::string>(static_cast<size_t>(size)));
  }
}

TEST(CheckedRanksTest, WaitAsLongAsTheirOwn) {
  EXPECT_EQ(CheckedRanks(std::move(ThreadRanks(2, kSoon)[0]))->timeout(), kSoon.timeout);
}

TEST(CheckedRanksTest, AreThoseThatAnEnvironmentVariableAsksFor) {
  for (const bool asked : {false, true}) {
    if (asked) setenv("FIRN_CHECK_COLLECTIVES", "1", 1);
    auto ranks = ThreadRanks(2, {.timeout = absl::Milliseconds(50)});
    unsetenv("FIRN_CHECK_COLLECTIVES");
    const absl::Status late = ranks[0]->Barrier();
    EXPECT_EQ(absl::StrContains(late.message(), ", before barrier on rank 0"), asked) << late;
  }
}

}  // namespace
}  // namespace firn::comm

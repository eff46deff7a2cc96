// Started several times by a launcher of MPI: mpi_ranks_test.py.
//
//   mpi_ranks_check
//   collectives|operations|split|overlap|small|in_order|unlike|stopped|exception|abort|
//                   late|late_split|alone|fork|differ|differ_in_part
//
// Prints "rank R of N: ok", or the error that was expected.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "firn/device/comm/groups.h"
#include "firn/device/comm/mpi_ranks.h"
#include "gtest/gtest.h"
#include "tests/device/comm/collectives.h"
#include "tests/device/comm/operations.h"

namespace firn::comm {
namespace {

void Say(const Communicator& c, const std::string& text) {
  std::printf("rank %d of %d: %s\n", c.rank(), c.size(), text.c_str());
  std::fflush(stdout);
}

void Collectives(Communicator& c) {
  // The last one takes several rounds through shared memory.
  const std::vector<int64_t> counts = {0, 1, 7, 2503, 70'001};
  CheckCollectives<Type<float, Element::kF32>>(c, counts);
  CheckCollectives<Type<double, Element::kF64>>(c, counts);
  CheckCollectives<Type<uint16_t, Element::kF16>>(c, counts);
  CheckCollectives<Type<uint16_t, Element::kBF16>>(c, counts);
  CheckCollectives<Type<int8_t, Element::kI8>>(c, counts);
  CheckCollectives<Type<int32_t, Element::kI32>>(c, counts);
  CheckCollectives<Type<int64_t, Element::kI64>>(c, counts);
  CheckCollectives<Type<uint8_t, Element::kU8>>(c, counts);
  EXPECT_EQ(c.local_rank(), c.rank());  // on one machine
}

void Split(Communicator& c) {
  const auto part = c.Split(c.rank() == 0 ? -1 : 1, -c.rank());
  ASSERT_TRUE(part.ok()) << part.status();
  ASSERT_EQ(*part == nullptr, c.rank() == 0);
  if (*part == nullptr) return;
  EXPECT_EQ((*part)->size(), c.size() - 1);
  EXPECT_EQ((*part)->rank(), c.size() - 1 - c.rank());
  float x = 1;
  EXPECT_TRUE((*part)->AllReduce(&x, 1, Element::kF32, Reduction::kSum).ok());
  EXPECT_EQ(x, static_cast<float>(c.size() - 1));
}

void Operations(Communicator& c) {
  SetWorld(&c);
  CheckOperations(c);
  SetWorld(nullptr);
}

// Data moves while a rank does something else: what is left to wait for is a small part of what
// the call takes when it is waited for at once. Others' processes make some rounds long, not all.
void Overlap(Communicator& c) {
  std::vector<float> x(size_t{16} << 20, 1.0f);
  const Collective call = {.kind = CollectiveKind::kAllReduce,
                           .count = static_cast<int64_t>(x.size()),
                           .in = x.data(),
                           .out = x.data()};
  absl::Duration at_once = absl::InfiniteDuration(), left = absl::InfiniteDuration();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(c.Barrier().ok());
    const absl::Time begin = absl::Now();
    ASSERT_TRUE(c.Run(call).ok());
    at_once = std::min(at_once, absl::Now() - begin);
  }
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(c.Barrier().ok());
    auto started = c.Start(call);
    ASSERT_TRUE(started.ok());
    absl::SleepFor(absl::Milliseconds(500) + 10 * at_once);
    const absl::Time begin = absl::Now();
    ASSERT_TRUE((*started)->Wait().ok());
    left = std::min(left, absl::Now() - begin);
  }
  EXPECT_LT(left, at_once / 5) << "of " << at_once;
}

// What one rank has started and not waited for does not keep another from a later call, however
// little it is.
void Small(Communicator& c) {
  std::vector<float> first(1000, 1.0f);
  const auto call = [](std::vector<float>& x) {
    return Collective{.kind = CollectiveKind::kAllReduce,
                      .count = static_cast<int64_t>(x.size()),
                      .in = x.data(),
                      .out = x.data()};
  };
  ASSERT_TRUE(c.Barrier().ok());
  const absl::Time begin = absl::Now();
  auto started = c.Start(call(first));
  ASSERT_TRUE(started.ok());
  if (c.rank() == 0) absl::SleepFor(absl::Seconds(3));
  ASSERT_TRUE((*started)->Wait().ok());
  EXPECT_TRUE(c.rank() == 0 || absl::Now() - begin < absl::Seconds(2));
  EXPECT_EQ(first, std::vector<float>(1000, static_cast<float>(c.size())));
}

// Calls of more elements than shared memory holds at once, several on their way: numbers are added
// in the order of the ranks, and means divided once, to the bit.
void InOrder(Communicator& c) {
  constexpr int64_t kCount = (int64_t{3} << 20) + 5;
  const auto of = [](int rank) {
    std::minstd_rand random(static_cast<unsigned>(rank) + 1);
    std::vector<float> x(kCount);
    for (float& e : x) e = static_cast<float>(random()) / 1e9f - 1;
    return x;
  };
  std::vector<float> want = of(0);
  for (int r = 1; r < c.size(); ++r) {
    const std::vector<float> x = of(r);
    for (size_t i = 0; i < want.size(); ++i) want[i] += x[i];
  }
  for (float& e : want) e /= static_cast<float>(c.size());
  const std::vector<float> mine = of(c.rank());
  std::vector<std::vector<float>> outs(3, std::vector<float>(kCount));
  std::vector<std::unique_ptr<Pending>> started;
  for (std::vector<float>& out : outs) {
    auto call = c.Start({.kind = CollectiveKind::kAllReduce,
                         .reduction = Reduction::kMean,
                         .count = kCount,
                         .in = mine.data(),
                         .out = out.data()});
    ASSERT_TRUE(call.ok()) << call.status();
    started.push_back(*std::move(call));
  }
  // Ranks wait in orders of their own.
  if (c.rank() == 1) std::swap(started[0], started[2]);
  for (const auto& call : started) EXPECT_TRUE(call->Wait().ok());
  for (const std::vector<float>& out : outs) EXPECT_TRUE(out == want);
}

// Ranks that make calls of different lengths: each finds that out, or hears of it before.
int Unlike(Communicator& c) {
  std::vector<float> x(2000);
  const absl::Status status =
      c.AllReduce(x.data(), c.rank() == 1 ? 2000 : 1000, Element::kF32, Reduction::kSum);
  const std::string text(status.message());
  const bool names_both = text.find("called all_reduce of ") != std::string::npos &&
                          text.find(" of 1000 f32 (sum)") != std::string::npos &&
                          text.find(" of 2000 f32 (sum)") != std::string::npos;
  Say(c, names_both ? "both calls are named" : text);
  usleep(3'000'000);  // the launcher ends all when one has ended
  return 1;
}

// Rank 1 stops in the middle of a call, as a dead one does whose launcher does not end the others.
int Stopped(Communicator& c) {
  const int64_t mine = getpid();
  std::vector<int64_t> processes(static_cast<size_t>(c.size()));
  if (!c.AllGather(&mine, processes.data(), 1, Element::kI64).ok()) return 1;
  std::vector<float> x(size_t{16} << 20, 1.0f);
  const auto started = c.Start({.kind = CollectiveKind::kAllReduce,
                                .count = static_cast<int64_t>(x.size()),
                                .in = x.data(),
                                .out = x.data()});
  if (!started.ok()) return 1;
  if (c.rank() == 1) raise(SIGSTOP);
  Say(c, std::string((*started)->Wait().message()));
  if (c.rank() != 0) usleep(9'000'000);
  usleep(1'000'000);
  kill(static_cast<pid_t>(processes[1]), SIGKILL);
  return 1;
}

// A child has neither the thread that moves data nor a rank, and ends; the parent goes on.
void Fork(Communicator& c, std::unique_ptr<Communicator>& owner) {
  std::vector<float> x(size_t{1} << 20, 1.0f);
  auto started = c.Start({.kind = CollectiveKind::kAllReduce,
                          .count = static_cast<int64_t>(x.size()),
                          .in = x.data(),
                          .out = x.data()});
  ASSERT_TRUE(started.ok());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool refuses = c.Barrier().code() == absl::StatusCode::kFailedPrecondition;
    started->reset();
    owner.reset();
    std::exit(refuses ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE((*started)->Wait().ok());
  EXPECT_EQ(x.back(), static_cast<float>(c.size()));
}

// Rank 1 comes when the others have given up: it hears of that, and nobody waits for it.
int Late(Communicator& c, std::string_view what, std::unique_ptr<Communicator>& owner) {
  const int rank = c.rank();
  if (rank == 1) usleep(6'000'000);
  const absl::Status status = what == "late_split" ? c.Split(0, 0).status() : c.Barrier();
  Say(c, std::string(status.message()));
  if (rank != 1) {
    owner.reset();
    const absl::Status again = WorldRanks().status();
    std::printf("rank %d again: %s\n", rank, std::string(again.message()).c_str());
    std::fflush(stdout);
  }
  usleep(rank == 1 ? 1'000'000 : 9'000'000);  // the launcher ends all when one has ended
  return 1;
}

// Rank 0 ends while the other lives on.
int Alone(Communicator& c, std::unique_ptr<Communicator>& owner) {
  if (c.rank() == 0) {
    owner.reset();
    std::printf("rank 0 has ended\n");
    std::fflush(stdout);
  }
  usleep(8'000'000);
  _exit(1);
}

// Each rank calls another all_reduce than rank 0, of all or of a part.
int Differ(Communicator& c, std::string_view what) {
  std::vector<float> x(11, 1.0f);
  std::unique_ptr<Communicator> part;
  if (what == "differ_in_part") {
    auto made = c.Split(c.rank() == 0 ? -1 : 1, 0);
    EXPECT_TRUE(made.ok()) << made.status();
    part = std::move(*made);
  }
  Communicator& ranks = part == nullptr ? c : *part;
  const bool waits = what == "differ_in_part" && c.rank() == 0;
  Say(c, std::string((waits ? c.Barrier()
                            : ranks.AllReduce(x.data(), 10 + ranks.rank() % 2, Element::kF32,
                                              Reduction::kSum))
                         .message()));
  usleep(3'000'000);  // the launcher ends all when one has ended
  return x == std::vector<float>(11, 1.0f) ? 1 : 2;
}

int Run(std::string_view what) {
  const bool is_late = what == "late" || what == "late_split";
  const bool is_brief = is_late || what == "alone" || what == "stopped";
  auto made = WorldRanks({.timeout = absl::Seconds(is_brief ? 1 : 30)});
  if (!made.ok()) {
    std::printf("%s\n", std::string(made.status().message()).c_str());
    return 1;
  }
  Communicator& c = **made;
  void (*const check)(Communicator&) = what == "collectives"  ? Collectives
                                       : what == "operations" ? Operations
                                       : what == "split"      ? Split
                                       : what == "overlap"    ? Overlap
                                       : what == "small"      ? Small
                                       : what == "in_order"   ? InOrder
                                                              : nullptr;
  if (check != nullptr) {
    check(c);
    Say(c, ::testing::Test::HasFailure() ? "failed" : "ok");
    return ::testing::Test::HasFailure() ? 1 : 0;
  }
  if (is_late) return Late(c, what, *made);
  if (what == "differ" || what == "differ_in_part") return Differ(c, what);
  if (what == "alone") return Alone(c, *made);
  if (what == "unlike") return Unlike(c);
  if (what == "stopped") return Stopped(c);
  if (what == "fork") {
    Fork(c, *made);
    Say(c, ::testing::Test::HasFailure() ? "failed" : "ok");
    return ::testing::Test::HasFailure() ? 1 : 0;
  }
  c.Barrier().IgnoreError();  // all have begun
  if (c.rank() == 1) {
    if (what == "exception") throw std::runtime_error("rank 1 has found no data");
    if (what == "abort") c.Abort("the disk is full");
  }
  if (c.rank() != 1) Say(c, std::string(c.Barrier().message()));
  usleep(3'000'000);  // the launcher ends all when one has ended
  return 1;
}

}  // namespace
}  // namespace firn::comm

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  try {
    return firn::comm::Run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    std::fflush(stdout);
    usleep(3'000'000);
    return 1;
  }
}

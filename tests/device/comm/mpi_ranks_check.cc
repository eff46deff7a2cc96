// Started several times by a launcher of MPI: mpi_ranks_test.py.
//
//   mpi_ranks_check CHECK...         of collectives, operations, split, overlap, small, in_order,
//                                    hosts and fork
//   mpi_ranks_check FAILURE          mpi_ranks_failures.h
//
// Prints "rank R of N: CHECK ok", or the error that was expected.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "firn/device/comm/groups.h"
#include "firn/device/comm/mpi_ranks.h"
#include "gtest/gtest.h"
#include "tests/device/comm/collectives.h"
#include "tests/device/comm/mpi_ranks_failures.h"
#include "tests/device/comm/operations.h"

namespace firn::comm {
namespace {

void AllElements(Communicator& c) {
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
  CheckSumBeyondABucket(c);
}

void Collectives(Communicator& c) {
  AllElements(c);
  EXPECT_EQ(c.local_rank(), c.rank());  // on one machine
}

// Pieces of memory that this process shares with other ranks.
int SharedPieces() {
  std::ifstream maps("/proc/self/maps");
  int pieces = 0;
  for (std::string line; std::getline(maps, line);) {
    pieces += line.find("firn_ranks") != std::string::npos ? 1 : 0;
  }
  return pieces;
}

// Ranks of several machines, which are told apart by their names: memory is shared among those of
// one alone.
void Hosts(Communicator& c) {
  constexpr int64_t kLength = 64;
  char mine[kLength] = {};
  gethostname(mine, kLength - 1);
  std::vector<char> names(static_cast<size_t>(kLength * c.size()));
  ASSERT_TRUE(c.AllGather(mine, names.data(), kLength, Element::kU8).ok());
  std::vector<std::string> hosts;
  for (int r = 0; r < c.size(); ++r) hosts.emplace_back(names.data() + kLength * r);
  const auto first = std::find(hosts.begin(), hosts.end(), mine);
  const auto here = std::count(hosts.begin(), hosts.end(), mine);
  ASSERT_LT(here, c.size()) << "all ranks are on " << mine;
  EXPECT_EQ(c.local_rank(), std::count(hosts.begin(), hosts.begin() + c.rank(), mine));
  EXPECT_EQ(SharedPieces(), 0);
  AllElements(c);
  const auto part = c.Split(static_cast<int>(first - hosts.begin()), c.rank());
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ((*part)->size(), here);
  EXPECT_EQ(SharedPieces(), here > 1 ? 1 : 0);
  AllElements(**part);
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

// Data moves while a rank does something else: the remaining wait is a small part of the time of a
// call that is waited for at once. Other processes make some rounds long, not all.
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

// A call that one rank has started and not waited for, however small, does not keep another rank
// from a later call.
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

// A child has neither the thread that moves data nor a rank, and ends; the parent goes on.
void Fork(std::unique_ptr<Communicator>& ranks) {
  Communicator& c = *ranks;
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
    ranks.reset();
    std::exit(refuses ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE((*started)->Wait().ok());
  EXPECT_EQ(x.back(), static_cast<float>(c.size()));
}

using Ranks = std::unique_ptr<Communicator>;

const std::map<std::string, std::function<void(Ranks&)>>& Checks() {
  static const auto* const checks = new std::map<std::string, std::function<void(Ranks&)>>{
      {"collectives", [](Ranks& c) { Collectives(*c); }},
      {"operations", [](Ranks& c) { Operations(*c); }},
      {"split", [](Ranks& c) { Split(*c); }},
      {"overlap", [](Ranks& c) { Overlap(*c); }},
      {"small", [](Ranks& c) { Small(*c); }},
      {"in_order", [](Ranks& c) { InOrder(*c); }},
      {"hosts", [](Ranks& c) { Hosts(*c); }},
      {"fork", Fork}};
  return *checks;
}

int Run(const std::vector<std::string>& what) {
  const bool is_brief = what.size() == 1 && IsBriefFailure(what[0]);
  auto made = WorldRanks({.timeout = absl::Seconds(is_brief ? 1 : 30)});
  if (!made.ok()) {
    std::printf("%s\n", std::string(made.status().message()).c_str());
    return 1;
  }
  for (const std::string& name : what) {
    const auto check = Checks().find(name);
    if (check == Checks().end()) return Fail(*made, name);
    check->second(*made);
    const bool holds = !::testing::Test::HasFailure();
    Say(**made, name + (holds ? " ok" : " failed"));
    if (!holds) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace firn::comm

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  try {
    return firn::comm::Run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    std::fflush(stdout);
    firn::comm::EndTogether();
    return 1;
  }
}

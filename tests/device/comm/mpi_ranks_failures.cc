// Files in the launcher's folder tell which ranks have come how far.
#include "tests/device/comm/mpi_ranks_failures.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "firn/device/comm/mpi_ranks.h"
#include "firn/device/environment.h"
#include "gtest/gtest.h"

namespace firn::comm {
namespace {

std::string NoteOf(int rank) {
  const char* const folder = std::getenv("TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/rank_has_said." +
         std::to_string(rank);
}

void Tell(int rank) { std::ofstream(NoteOf(rank)).put('.'); }

void Await(int rank) {
  const absl::Time until = absl::Now() + absl::Seconds(30);
  while (!std::filesystem::exists(NoteOf(rank)) && absl::Now() < until) {
    absl::SleepFor(absl::Milliseconds(5));
  }
}

// Ranks make calls of different lengths: each finds that out, or hears of it first.
int Unlike(Communicator& c) {
  std::vector<float> x(2000);
  const absl::Status status =
      c.AllReduce(x.data(), c.rank() == 1 ? 2000 : 1000, Element::kF32, Reduction::kSum);
  const std::string text(status.message());
  const bool names_both = text.find("called all_reduce of ") != std::string::npos &&
                          text.find(" of 1000 f32 (sum)") != std::string::npos &&
                          text.find(" of 2000 f32 (sum)") != std::string::npos;
  Say(c, names_both ? "both calls are named" : text);
  EndTogether();
  return 1;
}

// Rank 1 stops in the middle of a call, like a dead rank whose launcher does not end the others.
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
  if (c.rank() != 0) Await(0);
  kill(static_cast<pid_t>(processes[1]), SIGKILL);
  return 1;
}

// Rank 1 comes when the others have given up: it hears of that, and no other rank waits for it.
int Late(Communicator& c, std::string_view what, std::unique_ptr<Communicator>& owner) {
  const int rank = c.rank();
  for (int other = 0; rank == 1 && other < c.size(); ++other) {
    if (other != 1) Await(other);
  }
  const absl::Status status = what == "late_split" ? c.Split(0, 0).status() : c.Barrier();
  Say(c, std::string(status.message()));
  if (rank != 1) {
    owner.reset();
    const absl::Status again = WorldRanks().status();
    std::printf("rank %d again: %s\n", rank, std::string(again.message()).c_str());
    std::fflush(stdout);
  }
  EndTogether();
  return 1;
}

// Rank 0 ends while the other lives on.
int Alone(Communicator& c, std::unique_ptr<Communicator>& owner) {
  if (c.rank() == 0) {
    owner.reset();
    std::printf("rank 0 has ended\n");
    std::fflush(stdout);
    Tell(0);
  }
  Await(0);
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
  EndTogether();
  return x == std::vector<float>(11, 1.0f) ? 1 : 2;
}

// Rank 1 gives up, or ends by an exception, when all have begun.
int GiveUp(Communicator& c, std::string_view what) {
  c.Barrier().IgnoreError();
  if (c.rank() == 1) {
    if (what == "exception") throw std::runtime_error("rank 1 has found no data");
    if (what == "abort") c.Abort("the disk is full");
  }
  if (c.rank() != 1) {
    // A rank that makes no calls hears of it, too.
    const auto failures = c.Failures();
    const absl::Time until = absl::Now() + absl::Seconds(20);
    while (failures().ok() && absl::Now() < until) absl::SleepFor(absl::Milliseconds(5));
    Say(c, "heard that " + std::string(failures().message()));
    Say(c, std::string(c.Barrier().message()));
  }
  EndTogether();
  return 1;
}

bool IsLate(std::string_view what) { return what == "late" || what == "late_split"; }

}  // namespace

void Say(const Communicator& c, const std::string& text) {
  std::printf("rank %d of %d: %s\n", c.rank(), c.size(), text.c_str());
  std::fflush(stdout);
}

void EndTogether() {
  const env::Launched me = env::LaunchedAs();
  if (me.without_mpi) return;
  Tell(static_cast<int>(me.rank));
  for (int rank = 0; rank < me.size; ++rank) Await(rank);
}

bool IsBriefFailure(std::string_view what) {
  return IsLate(what) || what == "alone" || what == "stopped";
}

int Fail(std::unique_ptr<Communicator>& ranks, std::string_view what) {
  Communicator& c = *ranks;
  if (IsLate(what)) return Late(c, what, ranks);
  if (what == "differ" || what == "differ_in_part") return Differ(c, what);
  if (what == "alone") return Alone(c, ranks);
  if (what == "unlike") return Unlike(c);
  if (what == "stopped") return Stopped(c);
  return GiveUp(c, what);
}

}  // namespace firn::comm

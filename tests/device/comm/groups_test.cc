#include "firn/device/comm/groups.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "firn/device/comm/mpi_ranks.h"
#include "firn/device/comm/started.h"
#include "firn/device/comm/thread_ranks.h"

namespace firn::comm {
namespace {

TEST(GroupsTest, AProgramWithoutAWorldIsItsOnlyRank) {
  const auto world = FindGroup(kWorld);
  ASSERT_TRUE(world.ok()) << world.status();
  EXPECT_EQ((*world)->size(), 1);
}

TEST(GroupsTest, OneOfSeveralProcessesMustSetAWorld) {
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  const absl::Status status = FindGroup(kWorld).status();
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "a launcher has started 4 processes, of which this one has set no world of several "
            "ranks (comm::SetWorld); each would work alone");
}

TEST(GroupsTest, ALaunchersVariablesThatMakeNoSenseAreNamed) {
  const struct {
    const char *rank, *size, *want;
  } kWrong[] = {
      {"0", "abc", "OMPI_COMM_WORLD_SIZE is \"abc\" (want the number of processes, from 1 on)"},
      {nullptr, "0", "OMPI_COMM_WORLD_SIZE is \"0\" (want the number of processes, from 1 on)"},
      {"one\n", "2",
       "OMPI_COMM_WORLD_RANK is \"one\\n\" (want the rank of this process, from 0 on)"},
      {"-1", nullptr, "OMPI_COMM_WORLD_RANK is \"-1\" (want the rank of this process, from 0 on)"},
      {"5", "2",
       "OMPI_COMM_WORLD_RANK is \"5\", but OMPI_COMM_WORLD_SIZE is \"2\" (want a rank below the "
       "number of processes)"},
      {"1", "",
       "OMPI_COMM_WORLD_RANK is \"1\", but OMPI_COMM_WORLD_SIZE is not set (want the number of "
       "processes)"},
  };
  for (const auto& wrong : kWrong) {
    if (wrong.rank != nullptr) setenv("OMPI_COMM_WORLD_RANK", wrong.rank, 1);
    if (wrong.size != nullptr) setenv("OMPI_COMM_WORLD_SIZE", wrong.size, 1);
    const absl::Status found = FindGroup(kWorld).status(), made = WorldRanks().status();
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("OMPI_COMM_WORLD_SIZE");
    EXPECT_EQ(found.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(found.message(), wrong.want);
    EXPECT_EQ(made, found);
  }
}

TEST(GroupsTest, WhatABatchScriptOfSlurmHasIsNoLaunch) {
  setenv("SLURM_NTASKS", "4", 1);
  setenv("SLURM_PROCID", "0", 1);
  const auto world = FindGroup(kWorld);
  unsetenv("SLURM_NTASKS");
  unsetenv("SLURM_PROCID");
  ASSERT_TRUE(world.ok()) << world.status();
  EXPECT_EQ((*world)->size(), 1);
}

TEST(GroupsTest, TheThreadsOwnWorldComesFirst) {
  const auto two = ThreadRanks(2), three = ThreadRanks(3);
  SetWorld(two[0].get());
  EXPECT_EQ(*FindGroup(kWorld), two[0].get());
  {
    const WorldScope outer(*three[1]);
    EXPECT_EQ(*FindGroup(kWorld), three[1].get());
    {
      const WorldScope inner(*three[2]);
      EXPECT_EQ(*FindGroup(kWorld), three[2].get());
    }
    EXPECT_EQ(*FindGroup(kWorld), three[1].get());
    std::thread([&] { EXPECT_EQ(*FindGroup(kWorld), two[0].get()); }).join();
  }
  SetWorld(nullptr);
  EXPECT_EQ((*FindGroup(kWorld))->size(), 1);
}

TEST(GroupsTest, NumbersAreKnownOnAllThreadsWhileTheirGroupsLive) {
  const auto ranks = ThreadRanks(2);
  auto first = std::make_unique<Group>(*ranks[0]);
  const Group second(*ranks[1]);
  EXPECT_GT(first->number(), 0);
  EXPECT_NE(first->number(), second.number());
  std::thread([&] {
    EXPECT_EQ(*FindGroup(first->number()), ranks[0].get());
    EXPECT_EQ(*FindGroup(second.number()), ranks[1].get());
  }).join();
  const int64_t gone = first->number();
  first.reset();
  const absl::Status status = FindGroup(gone).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "there is no group " + std::to_string(gone) +
                                  " of ranks in this process now (comm::Group); 0 is the world");
  EXPECT_NE(Group(*ranks[0]).number(), gone);
}

Collective SumOf(float* x) {
  return {.kind = CollectiveKind::kAllReduce, .count = 1, .in = x, .out = x};
}

TEST(StartedTest, CallsAreKnownByTheirMemory) {
  const auto ranks = ThreadRanks(2);
  const auto rank = [&](int r) {
    float a = 1.0f + static_cast<float>(r), b = 10.0f * a;
    ASSERT_TRUE(StartInto(*ranks[static_cast<size_t>(r)], SumOf(&a)).ok());
    EXPECT_TRUE(IsStarted(&a));
    EXPECT_FALSE(IsStarted(&b));
    ASSERT_TRUE(StartInto(*ranks[static_cast<size_t>(r)], SumOf(&b)).ok());
    const absl::Status again = StartInto(*ranks[static_cast<size_t>(r)], SumOf(&a));
    EXPECT_EQ(again.message(),
              "all_reduce of 1 f32 (sum): a collective call into the same memory is on its way; "
              "wait for it");
    EXPECT_TRUE(WaitInto(&b).ok());
    EXPECT_EQ(b, 30);
    EXPECT_FALSE(IsStarted(&b));
    EXPECT_TRUE(WaitInto(&a).ok());
    EXPECT_EQ(a, 3);
    EXPECT_EQ(WaitInto(&a).message(),
              "this thread has started no collective call into this memory that nobody has "
              "waited for");
  };
  std::thread other([&] { rank(1); });
  rank(0);
  other.join();
}

TEST(StartedTest, WhatAFailedRunHasLeftIsWaitedFor) {
  const auto ranks = ThreadRanks(2);
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> there = kept;
  std::thread other([&] {
    float a = 1, b = 1;
    EXPECT_TRUE(ranks[1]->AllReduce(&a, 1, Element::kF32, Reduction::kSum).ok());
    EXPECT_TRUE(ranks[1]->AllReduce(&b, 1, Element::kF32, Reduction::kSum).ok());
  });
  float a = 1, b = 2;
  ASSERT_TRUE(StartInto(*ranks[0], SumOf(&a)).ok());
  const uint64_t mark = StartedSoFar();
  ASSERT_TRUE(StartInto(*ranks[0], SumOf(&b)).ok());
  KeepUntilDone(&b, std::move(kept));
  EXPECT_FALSE(there.expired());
  EXPECT_TRUE(WaitForAllSince(mark).ok());
  EXPECT_TRUE(there.expired());
  EXPECT_EQ(b, 3);
  EXPECT_FALSE(WaitInto(&b).ok());
  EXPECT_TRUE(WaitInto(&a).ok());  // from before the mark
  other.join();
}

}  // namespace
}  // namespace firn::comm

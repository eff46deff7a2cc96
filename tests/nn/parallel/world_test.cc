// A program that no launcher has started; data_parallel_mpi_test.py tests programs with a launcher.
#include "firn/nn/parallel/world.h"

#include <memory>

#include "firn/device/comm/groups.h"
#include "firn/device/comm/thread_ranks.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(WorldTest, IsOneForAllThatAskAndEndsWithTheLast) {
  std::shared_ptr<comm::Communicator> world = Init();
  EXPECT_EQ(world->size(), 1);
  EXPECT_EQ(Init(0, nullptr), world);
  const auto group = comm::FindGroup(comm::kWorld);
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(*group, world.get());
  world.reset();
  EXPECT_NE(*comm::FindGroup(comm::kWorld), nullptr);  // alone, as without Init
  EXPECT_EQ(Init()->size(), 1);
}

TEST(WorldTest, LeavesAWorldThatAnotherHasSet) {
  std::shared_ptr<comm::Communicator> world = Init();
  const auto ranks = comm::ThreadRanks(1);
  comm::SetWorld(ranks[0].get());
  world.reset();
  EXPECT_EQ(*comm::FindGroup(comm::kWorld), ranks[0].get());
  comm::SetWorld(nullptr);
}

}  // namespace
}  // namespace firn

// The processes of a run, which are threads here.
#include "tools/firn/train/ranks.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/device/comm/on_ranks.h"

namespace firn::cli {
namespace {

using Owned = std::unique_ptr<comm::Communicator>;

TEST(RanksTest, EachHasADeviceOfItsOwnWhereNoneIsNamed) {
  testing::OnThreads(3, {}, [](Owned& world) {
    const int rank = world->rank();
    const Ranks ranks(std::move(world));
    EXPECT_EQ(ranks.DeviceOf("cuda"), "cuda:" + std::to_string(rank));
    EXPECT_EQ(ranks.DeviceOf("cuda:1"), "cuda:1");
    EXPECT_EQ(ranks.DeviceOf("cpu"), "cpu");
  });
  testing::OnThreads(
      1, {}, [](Owned& world) { EXPECT_EQ(Ranks(std::move(world)).DeviceOf("cuda"), "cuda"); });
}

TEST(RanksTest, GiveTheMeanOfAll) {
  testing::OnThreads(3, {}, [](Owned& world) {
    const double own = world->rank();
    EXPECT_EQ(Ranks(std::move(world)).MeanOf(own), 1);
  });
}

TEST(RanksTest, HearOfOneThatThrows) {
  testing::OnThreads(2, {}, [](Owned& world) {
    const int rank = world->rank();
    const Ranks ranks(std::move(world));
    try {
      ranks.Run([&] {
        if (rank == 1) throw std::runtime_error("no data");
        ranks.Wait();
      });
      ADD_FAILURE() << "nothing was thrown on rank " << rank;
    } catch (const std::exception& e) {
      const std::string said = e.what();
      EXPECT_NE(said.find(rank == 1 ? "no data" : "rank 1 gave up: no data"), std::string::npos)
          << said;
    }
  });
}

}  // namespace
}  // namespace firn::cli

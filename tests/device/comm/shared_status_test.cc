// What one rank has to say comes to all of them, whole.
#include "firn/device/comm/shared_status.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/comm/thread_ranks.h"
#include "gtest/gtest.h"

namespace firn::comm {
namespace {

template <class F>
void OnRanks(int size, F f) {
  std::vector<std::thread> threads;
  for (auto& owned : ThreadRanks(size)) {
    threads.emplace_back([&f, comm = std::move(owned)] { f(*comm); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedStatusTest, TheFirstErrorIsThatOfAllRanks) {
  for (int size = 1; size <= 4; ++size) {
    OnRanks(size, [&](Communicator& comm) {
      EXPECT_TRUE(StatusOfAll(comm, absl::OkStatus()).ok());
      for (int bad = 0; bad < size; ++bad) {
        const absl::Status own = comm.rank() < bad
                                     ? absl::OkStatus()
                                     : absl::DataLossError("no " + std::to_string(comm.rank()));
        const std::string digit = std::to_string(bad);
        EXPECT_EQ(StatusOfAll(comm, own), absl::DataLossError("rank " + digit + ": no " + digit));
      }
      EXPECT_EQ(StatusOfAll(comm, absl::InternalError("")), absl::InternalError("rank 0: "));
    });
  }
}

TEST(SharedStatusTest, TextsComeAsTheyAre) {
  const std::vector<std::vector<std::string>> all = {
      {}, {""}, {"a", "", std::string("\0\xff", 2), std::string(100'000, 'x')}};
  OnRanks(3, [&](Communicator& comm) {
    for (const auto& texts : all) {
      for (int root = 0; root < 3; ++root) {
        std::vector<std::string> got = {"something", "else"};
        if (comm.rank() == root) got = texts;
        ASSERT_TRUE(BroadcastTexts(comm, got, root).ok());
        EXPECT_EQ(got, texts);
      }
    }
  });
}

}  // namespace
}  // namespace firn::comm

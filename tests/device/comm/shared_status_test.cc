// What one rank has to say comes to all of them, whole.
#include "firn/device/comm/shared_status.h"

#include <cstdint>
#include <functional>
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

TEST(SharedStatusTest, TextsThatNoRankHasAreRefused) {
  // Numbers of texts, and what is said of the bytes of the first.
  const std::vector<std::vector<int64_t>> said = {
      {-1}, {(int64_t{1} << 20) + 1}, {int64_t{1} << 30}, {1, -1}, {1, int64_t{1} << 62}};
  for (const std::vector<int64_t>& numbers : said) {
    OnRanks(2, [&](Communicator& comm) {
      std::vector<std::string> texts;
      if (comm.rank() == 1) {
        EXPECT_EQ(BroadcastTexts(comm, texts, 0).code(), absl::StatusCode::kInternal) << numbers[0];
        return;
      }
      for (int64_t number : numbers) {
        EXPECT_TRUE(comm.Broadcast(&number, 1, Element::kI64, 0).ok());
      }
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

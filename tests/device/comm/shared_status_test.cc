// The status of one rank reaches all ranks unchanged.
#include "firn/device/comm/shared_status.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "tests/device/comm/on_ranks.h"

namespace firn::comm {
namespace {

using firn::testing::OnRanks;

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

// 2^32 would be no error as a code.
TEST(SharedStatusTest, CodesThatNoErrorHasAreRefused) {
  OnRanks(2, [&](Communicator& comm) {
    if (comm.rank() == 1) {
      EXPECT_EQ(StatusOfAll(comm, absl::OkStatus()),
                absl::InternalError("rank 0 tells of an error of the code 4294967296"));
      return;
    }
    const int64_t code = int64_t{1} << 32;
    std::vector<int64_t> codes(2);
    EXPECT_TRUE(comm.AllGather(&code, codes.data(), 1, Element::kI64).ok());
  });
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
      {}, {""}, {"a", "", std::string("\0\xff", 2), std::string(3'000'000, 'x')}};
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

// Ranks that give other lines get one error, the same on all.

#include "firn/device/comm/agreement.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/comm/thread_ranks.h"

namespace firn::comm {
namespace {

std::vector<absl::Status> CheckAll(const std::vector<std::vector<std::string>>& lines) {
  const auto ranks = ThreadRanks(static_cast<int>(lines.size()));
  std::vector<absl::Status> found(lines.size());
  std::vector<std::thread> threads;
  for (size_t r = 0; r < lines.size(); ++r) {
    threads.emplace_back([&, r] { found[r] = CheckAgreement(*ranks[r], lines[r]); });
  }
  for (std::thread& t : threads) t.join();
  return found;
}

void ExpectOnAll(const std::vector<std::vector<std::string>>& lines, const std::string& want) {
  for (const absl::Status& status : CheckAll(lines)) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(std::string(status.message()), want);
  }
}

TEST(AgreementTest, TheSameLinesAreFine) {
  for (const absl::Status& status : CheckAll({{"a", "b"}, {"a", "b"}, {"a", "b"}})) {
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_TRUE(CheckAll({{}})[0].ok());
}

TEST(AgreementTest, TheFirstLineThatDiffersIsNamedOfBoth) {
  ExpectOnAll({{"a", "b", "c"}, {"a", "b", "c"}, {"a", "x", "y"}},
              "ranks differ: rank 0 has \"b\", rank 2 has \"x\"");
  ExpectOnAll({{"a"}, {"a", "b"}}, "ranks differ: rank 0 has nothing more, rank 1 has \"b\"");
}

TEST(AgreementTest, TextsOfSeveralPiecesAreCompared) {
  const std::string large(3'000'000, 'x');
  ExpectOnAll({{large, "a"}, {large, "b"}}, "ranks differ: rank 0 has \"a\", rank 1 has \"b\"");
}

TEST(AgreementTest, BytesOfOthersStayInOneLine) {
  ExpectOnAll({{"a\tb\x01"}, {"a"}}, "ranks differ: rank 0 has \"a\\tb\\x01\", rank 1 has \"a\"");
}

}  // namespace
}  // namespace firn::comm

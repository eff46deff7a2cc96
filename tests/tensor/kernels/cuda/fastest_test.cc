// The choice among candidates, by times that the test makes up.
#include "firn/tensor/kernels/cuda/fastest.h"

#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace firn::cuda {
namespace {

// Candidates with a time for each run; -1: an error. The last time holds for all later runs.
struct Runs {
  std::vector<std::vector<float>> times;
  std::vector<size_t> calls = std::vector<size_t>(times.size());

  std::optional<size_t> Choose(int repeats) {
    return Fastest(times.size(), repeats, [this](size_t i) -> absl::StatusOr<float> {
      const size_t call = std::min(calls[i]++, times[i].size() - 1);
      if (times[i][call] < 0) return absl::InternalError("broken");
      return times[i][call];
    });
  }
};

TEST(FastestTest, TheSmallestMedianWinsNotTheSmallestTime) {
  Runs runs{{{5, 4, 4, 4}, {5, 1.5, 6, 6}, {5, 4, 3, 3}}};
  EXPECT_EQ(runs.Choose(3), 2u);
  EXPECT_EQ(runs.calls, (std::vector<size_t>{4, 4, 4}));
}

TEST(FastestTest, TheFirstRunDoesNotCount) {
  Runs runs{{{1, 4}, {900, 3}}};
  EXPECT_EQ(runs.Choose(3), 1u);
}

TEST(FastestTest, OfEqualOnesTheFirstWins) {
  Runs runs{{{4, 3}, {4, 2}, {4, 2}, {4, 2}}};
  EXPECT_EQ(runs.Choose(5), 1u);
}

TEST(FastestTest, FailingCandidatesArePassedOverAndNotRunAgain) {
  Runs runs{{{-1, 1}, {4, 1, -1, 1}, {4, 2}, {std::numeric_limits<float>::quiet_NaN(), 1}}};
  EXPECT_EQ(runs.Choose(3), 2u);
  EXPECT_EQ(runs.calls, (std::vector<size_t>{1, 3, 4, 1}));
}

TEST(FastestTest, NothingWhenAllFailOrThereAreNone) {
  Runs broken{{{-1}, {2, -1}}};
  EXPECT_EQ(broken.Choose(3), std::nullopt);
  Runs none{{}};
  EXPECT_EQ(none.Choose(3), std::nullopt);
}

TEST(FastestTest, HopelessOnesAreRunOnceAndStillBetterThanBrokenOnes) {
  Runs runs{{{1, 10}, {1, 1}}};
  EXPECT_EQ(runs.Choose(9), 1u);
  EXPECT_EQ(runs.calls, (std::vector<size_t>{2, 10}));
  Runs broken{{{1, 10}, {1, 1, -1}}};
  EXPECT_EQ(broken.Choose(9), 0u);
}

}  // namespace
}  // namespace firn::cuda

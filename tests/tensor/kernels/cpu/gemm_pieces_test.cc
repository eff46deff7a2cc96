// Which pieces of a product the threads get.

#include "firn/tensor/kernels/cpu/gemm_pieces.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace firn::cpu {
namespace {

GemmShape ShapeOf(int64_t m, int64_t n, int64_t k) {
  return {.m = m, .n = n, .k = k, .a = {k, 1}, .b = {n, 1}, .c_row = n};
}

class GemmPiecesTest : public testing::Test {
 protected:
  void SetUp() override { SetNumThreads(3); }
  void TearDown() override { SetNumThreads(threads_); }

 private:
  const int threads_ = NumThreads();
};

TEST_F(GemmPiecesTest, RowsAreWholeWhereThereAreEnough) {
  const GemmShape wide = ShapeOf(384, 4096, 64);
  EXPECT_GT(PlanGrid(wide).across, 1);  // this piece reads less
  const Grid rows = PlanRows(wide, 128);
  EXPECT_EQ(rows.down, 3);
  EXPECT_EQ(rows.across, 1);
}

TEST_F(GemmPiecesTest, OfFewRowsThereAreColumns) {
  const GemmShape low = ShapeOf(383, 4096, 64);
  const Grid grid = PlanGrid(low), rows = PlanRows(low, 128);
  EXPECT_EQ(rows.down, grid.down);
  EXPECT_EQ(rows.across, grid.across);
}

TEST_F(GemmPiecesTest, PiecesAreAllOfCOnce) {
  const GemmShape s = ShapeOf(403, 1030, 20);
  for (const Grid& grid : {PlanGrid(s), PlanRows(s, 128), Grid{2, 3}, Grid{3, 1}}) {
    std::vector<int> times(static_cast<size_t>(s.m * s.n));
    std::mutex mutex;
    ForEachPiece(s, grid, [&](const GemmShape& part, int64_t i, int64_t j) {
      const std::lock_guard<std::mutex> lock(mutex);
      for (int64_t r = i; r < i + part.m; ++r) {
        for (int64_t c = j; c < j + part.n; ++c) ++times[static_cast<size_t>(r * s.n + c)];
      }
    });
    EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << grid.down << " x " << grid.across;
  }
}

}  // namespace
}  // namespace firn::cpu

// Which thread does what of the steps of a recurrent layer.

#include "firn/tensor/kernels/cpu/recurrent_steps.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace firn::cpu {
namespace {

// A product of `batch` rows with weights of 256 states and 1024 gates.
StepCost CostOf(int64_t batch, int64_t element_bytes) {
  constexpr double kElements = 256 * 1024;
  return {.flops = 2 * kElements * static_cast<double>(batch),
          .bytes = kElements * static_cast<double>(element_bytes),
          .few_rows = 8};
}

class RecurrentStepsTest : public testing::Test {
 protected:
  void SetUp() override { SetNumThreads(2); }
  void TearDown() override { SetNumThreads(threads_); }

 private:
  const int threads_ = NumThreads();
};

// The threads would wait for each other twice a step, and on a busy machine for the turns of other
// programs.
TEST_F(RecurrentStepsTest, ThreadsWithWeightsInTheirCachesDoNotMeetAtEachStep) {
  const StepGrid grid = PlanSteps({.count = 64, .batch = 32}, 16, CostOf(32, 4), false);
  EXPECT_EQ(grid.across, 1);
  EXPECT_EQ(grid.down, 2);
}

TEST_F(RecurrentStepsTest, LargeWeightsAndFewSequencesAreCutByColumns) {
  EXPECT_EQ(PlanSteps({.count = 64, .batch = 32}, 16, CostOf(32, 8), false).across, 2);
  EXPECT_EQ(PlanSteps({.count = 64, .batch = 8}, 16, CostOf(8, 4), false).across, 2);
  EXPECT_EQ(PlanSteps({.count = 64, .batch = 8}, 16, CostOf(8, 4), true).across, 1);
}

TEST_F(RecurrentStepsTest, PiecesAreAllOfAStepOnce) {
  for (const StepGrid& grid :
       {StepGrid{2, 1, 31, 16}, StepGrid{1, 3, 31, 16}, StepGrid{2, 2, 31, 7}}) {
    int64_t cells = 0;
    for (int64_t i = 0; i < grid.down * grid.across; ++i) {
      const StepPiece p = grid.Piece(i);
      cells += (p.row_end - p.row_begin) * (p.panel_end - p.panel_begin);
    }
    EXPECT_EQ(cells, grid.batch * grid.panels);
  }
}

}  // namespace
}  // namespace firn::cpu

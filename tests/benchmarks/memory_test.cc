// What frozen training steps of the benchmarks' models need: arenas near the bound that no plan can
// go below, and for deep_cnn three quarters of what the ordinary step needs.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>

#include "benchmarks/trainer.h"
#include "firn/autograd/graph/plan.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/inner.h"
#include "firn/device/parallel.h"

namespace firn::benchmarks {
namespace {

// (workload, depth, batch)
using Case = std::tuple<std::string, int64_t, int64_t>;

class ArenaTest : public ::testing::TestWithParam<Case> {};

TEST_P(ArenaTest, IsNearTheBound) {
  SetNumThreads(2);
  TrainerOptions options;
  options.frozen = true;
  std::tie(options.workload, options.depth, options.batch) = GetParam();
  auto trainer = Trainer::Make(options);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  (*trainer)->Step();
  const MemoryPlan& plan = (*trainer)->graph()->memory();
  EXPECT_GT(plan.lower_bound_bytes, 0);
  EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes * 115 / 100);
  RecordProperty("percent_of_bound",
                 std::to_string(100 * plan.arena_bytes / plan.lower_bound_bytes));
}

INSTANTIATE_TEST_SUITE_P(Models, ArenaTest,
                         ::testing::Values(Case("deep_cnn", 10, 16), Case("deep_cnn", 10, 64),
                                           Case("deep_cnn", 30, 16), Case("lenet", 0, 64),
                                           Case("resnet", 0, 8), Case("mlp", 0, 1),
                                           Case("mlp", 0, 64)));

int64_t PeakOfStep(bool frozen) {
  const int64_t before = CpuAllocator().stats().live_bytes;
  auto trainer =
      Trainer::Make({.workload = "deep_cnn", .depth = 10, .batch = 64, .frozen = frozen});
  EXPECT_TRUE(trainer.ok()) << trainer.status();
  for (int i = 0; i < 2; ++i) (*trainer)->Step();
  CpuAllocator().ResetPeak();
  (*trainer)->Step();
  return CpuAllocator().stats().peak_bytes - before;
}

TEST(PeakTest, AFrozenStepNeedsThreeQuartersOfAnOrdinaryOne) {
  SetNumThreads(2);  // each has some workspace of its own
  const int64_t ordinary = PeakOfStep(false), frozen = PeakOfStep(true);
  EXPECT_GT(frozen, 0);
  EXPECT_LE(frozen, ordinary * 75 / 100) << ordinary;
}

}  // namespace
}  // namespace firn::benchmarks

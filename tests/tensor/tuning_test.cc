// Scopes in which kernels may look for the fastest choice.
#include "firn/tensor/tuning.h"

#include <thread>

#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(TuningTest, IsWantedInsideOfAScopeOnly) {
  EXPECT_FALSE(TuningScope::Wanted());
  {
    const TuningScope scope;
    EXPECT_TRUE(TuningScope::Wanted());
  }
  EXPECT_FALSE(TuningScope::Wanted());
}

TEST(TuningTest, TheInnermostScopeCounts) {
  const TuningScope outer;
  {
    const TuningScope inner(false);
    EXPECT_FALSE(TuningScope::Wanted());
  }
  EXPECT_TRUE(TuningScope::Wanted());
}

TEST(TuningTest, AScopeIsOfItsThread) {
  const TuningScope scope;
  bool wanted = true;
  std::thread([&] { wanted = TuningScope::Wanted(); }).join();
  EXPECT_FALSE(wanted);
}

}  // namespace
}  // namespace firn

#include "firn/tensor/attrs.h"

#include <gtest/gtest.h>

#include <cstdint>

// Checked at every call in builds that check (-c dbg), and in no others.
namespace firn::inner {
namespace {

struct Steps {
  int64_t steps = 3;
  template <class V>
  void Visit(V& v) {
    v.Field("steps", steps);
  }
};

struct Sides {
  int64_t sides = 4;
  template <class V>
  void Visit(V& v) {
    v.Field("sides", sides);
  }
};

TEST(AttrsRefTest, KnowsAStructThatKernelsOfAnotherLevelDescribe) {
  const AttrsType of_another_level = *AttrsOf<Steps>();
  const Steps steps;
  EXPECT_EQ(AttrsRef(&steps, &of_another_level).get<Steps>().steps, 3);
}

TEST(AttrsRefDeathTest, IsNotTakenForAnotherStruct) {
  const Steps steps;
  EXPECT_DEBUG_DEATH(static_cast<void>(AttrsRef(steps).get<Sides>()), "check failed");
}

}  // namespace
}  // namespace firn::inner

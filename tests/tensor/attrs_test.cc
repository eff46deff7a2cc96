#include "firn/tensor/attrs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "firn/tensor/dtype.h"

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

enum class Mode : uint8_t { kA, kB, kC };
constexpr auto WordsOf(Mode) {
  return EnumWords<Mode>({{Mode::kA, "a"}, {Mode::kC, "c"}, {Mode::kB, "b"}});
}

struct Modes {
  int64_t size = 3;
  Mode mode = Mode::kC;
  DType dtype = DType::kF16;
  template <class V>
  void Visit(V& v) {
    v.Field("size", size);
    v.Field("mode", mode);
    v.Field("dtype", dtype);
  }
};

TEST(AttrsTest, EnumsPrintTheirWords) {
  EXPECT_EQ(ToString(Modes{}), "{size=3, mode=c, dtype=f16}");
  EXPECT_EQ(ToString(Modes{.mode = static_cast<Mode>(9)}), "{size=3, mode=9, dtype=f16}");
}

TEST(AttrsTest, DefaultsAreThoseOfTheStruct) {
  EXPECT_TRUE(Equal(DefaultAttrs(AttrsOf<Modes>()).ref(), Modes{}));
  EXPECT_EQ(DefaultAttrs(nullptr).ref().type(), nullptr);
}

TEST(AttrsTest, EnumsTakePartInEquality) {
  EXPECT_TRUE(Equal(Modes{}, Modes{}));
  EXPECT_FALSE(Equal(Modes{}, Modes{.mode = Mode::kB}));
  EXPECT_NE(Hash(Modes{}), Hash(Modes{.mode = Mode::kB}));
  EXPECT_EQ(Hash(Modes{}), Hash(Modes{}));
}

// A visitor that does not take words.
struct Adder final : AttrVisitor {
  void Field(const char*, int64_t& v) override { sum += v++; }
  void Field(const char*, double&) override {}
  void Field(const char*, bool&) override {}
  void Field(const char*, std::string&) override {}
  void Field(const char*, std::vector<int64_t>&) override {}
  int64_t sum = 0;
};

TEST(AttrsTest, EnumsAreIntegersToVisitorsWithoutWords) {
  Modes modes{.mode = Mode::kB};
  Adder adder;
  AttrsOf<Modes>()->visit(&modes, adder);
  EXPECT_EQ(adder.sum, 3 + 1 + 2);
  EXPECT_EQ(ToString(modes), "{size=4, mode=c, dtype=bf16}");
}

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

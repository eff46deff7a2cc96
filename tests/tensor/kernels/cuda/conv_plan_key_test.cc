// Keys differ for everything that changes a plan, and choices can be written and read again.
#include "firn/tensor/kernels/cuda/conv_plan_key.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace firn::cuda {
namespace {

struct Case {
  DnnMachine machine{"NVIDIA H100 80GB HBM3", 900, 13000, 13000, 91400};
  DnnConvCall call{.problem = {.in_size = {5, 6},
                               .out_size = {3, 4},
                               .kernel = {3, 3},
                               .attrs = {.stride = {1, 1}, .padding = {0, 0}, .dilation = {1, 1}}}};
  bool timed = false;

  std::string Key() const { return PlanCacheKey(machine, call, timed); }
};

// Changes every field alone, to a value that no other field has.
const std::vector<std::function<void(Case&)>> kChanges = {
    [](Case& c) { c.timed = true; },
    [](Case& c) { c.machine.device = "NVIDIA H200"; },
    [](Case& c) { c.machine.compute_capability = 1000; },
    [](Case& c) { c.machine.driver = 13010; },
    [](Case& c) { c.machine.runtime = 13010; },
    [](Case& c) { c.machine.cudnn = 91500; },
    [](Case& c) { c.call.pass = ConvPass::kBackwardWeight; },
    [](Case& c) { c.call.dtype = DType::kBF16; },
    [](Case& c) { c.call.alignment = 4; },
    [](Case& c) { c.call.max_workspace = 1 << 20; },
    [](Case& c) { c.call.f32 = DnnF32::kTf32; },
    [](Case& c) { c.call.nhwc = true; },
    [](Case& c) { c.call.bias = true; },
    [](Case& c) { c.call.activation = FusedActivation::kTanh; },
    [](Case& c) { c.call.problem.batch = 11; },
    [](Case& c) { c.call.problem.in = 11; },
    [](Case& c) { c.call.problem.out = 11; },
    [](Case& c) { c.call.problem.in_size.set(0, 11); },
    [](Case& c) { c.call.problem.in_size.set(1, 11); },
    [](Case& c) { c.call.problem.kernel.set(0, 11); },
    [](Case& c) { c.call.problem.kernel.set(1, 11); },
    [](Case& c) { c.call.problem.attrs.stride.set(0, 11); },
    [](Case& c) { c.call.problem.attrs.stride.set(1, 11); },
    [](Case& c) { c.call.problem.attrs.padding.set(0, 11); },
    [](Case& c) { c.call.problem.attrs.padding.set(1, 11); },
    [](Case& c) { c.call.problem.attrs.dilation.set(0, 11); },
    [](Case& c) { c.call.problem.attrs.dilation.set(1, 11); },
    [](Case& c) { c.call.problem.attrs.groups = 11; },
    [](Case& c) { c.call.problem = c.call.problem.Lifted(3); },
};

TEST(ConvPlanKeyTest, EveryFieldTellsCallsApart) {
  std::set<std::string> keys = {Case().Key()};
  for (size_t i = 0; i < kChanges.size(); ++i) {
    Case c;
    kChanges[i](c);
    EXPECT_TRUE(keys.insert(c.Key()).second) << "change " << i;
  }
}

TEST(ConvPlanKeyTest, EnginesAreAskedForRelusAndForBiasesOfHalfTypes) {
  using A = FusedActivation;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    const bool half = SizeOf(dtype) == 2;
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(::testing::Message() << dtype << (bias ? " with bias" : ""));
      const auto call = [&](A activation) {
        DnnConvCall c;
        c.dtype = dtype;
        c.bias = bias;
        c.activation = activation;
        return c;
      };
      EXPECT_EQ(call(A::kNone).may_fuse(), bias);
      EXPECT_TRUE(call(A::kRelu).may_fuse());
      EXPECT_EQ(call(A::kTanh).may_fuse(), half && bias);
      EXPECT_EQ(call(A::kTanh).should_fuse(), half && bias);
    }
  }
}

TEST(ConvPlanKeyTest, EqualCallsHaveEqualKeys) {
  EXPECT_EQ(Case().Key(), Case().Key());
  EXPECT_EQ(KeyOf(Case().call), KeyOf(Case().call));
}

TEST(ConvPlanKeyTest, ChoicesSurviveBeingWrittenDown) {
  for (const EngineChoice& c :
       {EngineChoice{}, EngineChoice{.engine = 57, .knobs = {{3, 4}, {14, -2}}},
        EngineChoice{.engine = 1, .knobs = {}, .fused = true},
        EngineChoice{.engine = INT64_MAX, .knobs = {{0, INT64_MIN}}, .fused = true}}) {
    EXPECT_EQ(EngineChoiceFrom(ToText(c)), c) << ToText(c);
  }
  EXPECT_EQ(ToText({.engine = 6, .knobs = {{3, 4}, {14, 2}}, .fused = true}),
            "engine 6 fused 3=4 14=2");
}

TEST(ConvPlanKeyTest, OtherTextsAreNoChoice) {
  std::string long_list = "engine 6";
  for (int i = 0; i < 65; ++i) long_list += " 1=1";
  for (const std::string& text :
       {std::string(), std::string("engine"), std::string("engine "), std::string("engine x"),
        std::string("engine +6"), std::string("engine 6 "), std::string("engine 06"),
        std::string("Engine 6"), std::string("engine 6 3"), std::string("engine 6 3="),
        std::string("engine 6 3=4=5"), std::string("engine 6 fused fused"),
        std::string("engine 6  3=4"), std::string("engine 99999999999999999999"),
        std::string("engine 6 3=4\n"), std::string("engine 6\0", 9), long_list}) {
    EXPECT_EQ(EngineChoiceFrom(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace firn::cuda

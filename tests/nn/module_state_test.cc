#include <gtest/gtest.h>

#include "firn/device/testing.h"
#include "firn/nn/linear.h"
#include "firn/nn/module.h"
#include "firn/nn/res_unit.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/pending.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

struct Net : Module {
  Linear& conv1 = Add<Linear>("conv1", {.in = 2, .out = 3});
  Linear& fc = Add<Linear>("fc", {.out = 2});
  Tensor& steps = AddBuffer("steps", Zeros({}, DType::kI64));
  Tensor Forward(const Tensor& x) { return fc(conv1(x)); }
};

StateDict Trained() {
  return {{"steps", FromVector<int64_t>({7}, Shape())},
          {"conv1.weight", Full({3, 2}, 2)},
          {"conv1.bias", Full({3}, 1)},
          {"fc.weight", Full({2, 3}, 3)},
          {"fc.bias", Full({2}, 4)}};
}

TEST(ModuleStateTest, LoadsEverythingIntoThePresentMemory) {
  Net net;
  net.Forward(Ones({1, 2}));
  const float* address = net.fc.weight().host_view<float>().data();
  const LoadReport report = net.LoadStateDict(Trained());
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.ToString(), "all 5 loaded");
  EXPECT_EQ(net.fc.weight().host_view<float>().data(), address);
  EXPECT_EQ(net.fc.weight().ToVector<float>(), std::vector<float>(6, 3.f));
  EXPECT_EQ(net.steps.Item<int64_t>(), 7);
}

TEST(ModuleStateTest, GivesPendingParametersTheFilesShape) {
  Net net;
  const Tensor before = net.fc.weight();
  const StateDict file = Trained();
  net.LoadStateDict(file);
  EXPECT_EQ(before.shape(), (Shape{2, 3}));
  EXPECT_EQ(net.state_dict().size(), 5u);
  EXPECT_TRUE(net.fc.weight().requires_grad());
  // The module owns the elements; they are not those of the file.
  EXPECT_NE(before.host_view<float>().data(), file["fc.weight"].host_view<float>().data());
}

TEST(ModuleStateTest, ChecksTheKnownSizesOfPendingParameters) {
  Net net;
  StateDict state = Trained();
  state.Set("fc.weight", Ones({5, 3}));
  EXPECT_EQ(ErrorOf([&] { (void)net.LoadStateDict(state, {.source = "net.h5"}); }),
            "load net.h5: 1 misshaped (fc.weight: file [5, 3], net [2, ?])");
}

TEST(ModuleStateTest, ReportsEverythingAtOnceAndChangesNothing) {
  Net net;
  net.Forward(Ones({1, 2}));
  const std::vector<float> before = net.conv1.bias().ToVector<float>();
  const StateDict state = {{"conv1.weight", Ones({3, 2, 5})},
                           {"conv1.bias", Full({3}, 9)},
                           {"steps", FromVector<int64_t>({7}, Shape())},
                           {"head.weight", Ones({2, 3})},
                           {"head.bias", Ones({2})}};
  EXPECT_EQ(ErrorOf([&] { (void)net.LoadStateDict(state, {.source = "net.h5"}); }),
            "load net.h5: 2 missing (fc.weight, fc.bias), 2 unexpected (head.weight, head.bias; "
            "did you mean fc.*?), 1 misshaped (conv1.weight: file [3, 2, 5], net [3, 2])");
  EXPECT_EQ(net.conv1.bias().ToVector<float>(), before);
  EXPECT_EQ(net.steps.Item<int64_t>(), 0);
}

TEST(ModuleStateTest, LoadsWhatFitsWhenNotStrict) {
  Net net;
  net.Forward(Ones({1, 2}));
  StateDict state = Trained();
  state.Erase("fc.bias");
  state.Set("fc.weight", Ones({9}));
  state.Insert("extra", Ones({1}));
  const std::vector<float> before = net.fc.weight().ToVector<float>();
  EXPECT_EQ(ErrorOf([&] { (void)net.LoadStateDict(state, {.strict = false}); }),
            "load state dict: 1 missing (fc.bias), 1 unexpected (extra), 1 "
            "misshaped (fc.weight: file [9], net [2, 3])");
  EXPECT_THROW((void)net.LoadStateDict(state, {.skip_mismatched = true}), Error);
  const LoadReport report = net.LoadStateDict(state, {.strict = false, .skip_mismatched = true});
  EXPECT_EQ(net.fc.weight().ToVector<float>(), before);
  EXPECT_EQ(report.loaded, 3);
  EXPECT_EQ(report.missing, (std::vector<std::string>{"fc.bias"}));
  EXPECT_EQ(report.unexpected, (std::vector<std::string>{"extra"}));
  EXPECT_EQ(report.misshaped.size(), 1u);
  EXPECT_EQ(net.conv1.bias().ToVector<float>(), std::vector<float>(3, 1.f));
}

TEST(ModuleStateTest, ReportsTwoShapesForOnePendingTensorAndChangesNothing) {
  struct Tied : Module {
    Linear& a = Add<Linear>("a", {.out = 2, .bias = false});
    Linear& b = Add<Linear>("b", {.out = 2, .bias = false});
    Linear& c = Add<Linear>("c", {.in = 1, .out = 1});
    Tied() { ShareParameter("b.weight", a.weight()); }
  };
  Tied net;
  const std::vector<float> before = net.c.weight().ToVector<float>();
  const StateDict state = {{"c.weight", Full({1, 1}, 9)},
                           {"c.bias", Ones({1})},
                           {"a.weight", Ones({2, 3})},
                           {"b.weight", Ones({2, 4})}};
  EXPECT_EQ(ErrorOf([&] { net.LoadStateDict(state); }),
            "load state dict: 1 misshaped (b.weight: file [2, 4], net [2, 3] by another name)");
  EXPECT_TRUE(IsPending(net.a.weight()));
  EXPECT_EQ(net.c.weight().ToVector<float>(), before);
  // With skip_mismatched the first shape counts, and the other name is skipped.
  EXPECT_EQ(net.LoadStateDict(state, {.skip_mismatched = true}).loaded, 3);
  EXPECT_EQ(net.b.weight().shape(), (Shape{2, 3}));
}

TEST(ModuleStateTest, RunsOutOfMemoryWithoutAChange) {
  Net net;
  const std::vector<float> before = net.conv1.weight().ToVector<float>();
  const StateDict state = Trained();
  int failures = 0;
  for (int64_t n = 1;; ++n) {
    bool triggered = false;
    {
      const ScopedAllocationFailure failure(n);
      ErrorOf([&] { net.LoadStateDict(state); });
      triggered = failure.triggered();
    }
    if (!triggered) break;
    ++failures;
    ASSERT_TRUE(IsPending(net.fc.weight()) && IsPending(net.fc.bias()));
    ASSERT_EQ(net.conv1.weight().ToVector<float>(), before);
  }
  EXPECT_GE(failures, 2);
}

TEST(ModuleStateTest, TakesAPrefixOffTheNamesThatHaveIt) {
  Linear from({.in = 2, .out = 3}), to({.in = 2, .out = 3});
  StateDict state;
  for (const auto& [name, value] : from.state_dict()) state.Insert("module." + name, value);
  const std::string error = ErrorOf([&] { to.LoadStateDict(state); });
  EXPECT_NE(error.find("did you mean LoadOptions::strip_prefix = \"module.\"?"), error.npos)
      << error;
  EXPECT_EQ(to.LoadStateDict(state, {.strip_prefix = "module."}).loaded, 2);
  EXPECT_TRUE(to.weight().Equals(from.weight()));
  // Names without the prefix stay as they are.
  EXPECT_EQ(to.LoadStateDict(from.state_dict(), {.strip_prefix = "module."}).loaded, 2);
}

TEST(ModuleStateTest, TurnsMatricesWhenAsked) {
  Net net;
  StateDict state = Trained();
  state.Set("conv1.weight", FromVector<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
  const LoadOptions options = {
      .transpose = [](std::string_view name) { return name.starts_with("conv1."); }};
  EXPECT_EQ(net.LoadStateDict(state, options).loaded, 5);
  EXPECT_EQ(net.conv1.weight().ToVector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(ModuleStateTest, ConvertsToTheParametersDtype) {
  Net net;
  StateDict state = Trained();
  state.Set("conv1.bias", Full({3}, 0.5, DType::kF64));
  EXPECT_EQ(net.LoadStateDict(state, {}).ToString(),
            "all 5 loaded, 1 converted (conv1.bias: f64 to f32)");
  EXPECT_EQ(net.conv1.bias().dtype(), DType::kF32);
  EXPECT_EQ(net.conv1.bias().ToVector<float>(), std::vector<float>(3, 0.5f));
}

TEST(ModuleStateTest, ListsOwnParametersThenBuffersThenChildren) {
  struct Mixed : Module {
    Linear& fc = Add<Linear>("fc", {.in = 1, .out = 1});
    Tensor& mean = AddBuffer("mean", Zeros({1}));
    Tensor& scale = AddParameter("scale", Ones({1}));
  };
  std::vector<std::string> names;
  for (const auto& [name, tensor] : Mixed().state_dict()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"scale", "mean", "fc.weight", "fc.bias"}));
}

TEST(ModuleStateTest, StateDictsShareElementsButNotHistory) {
  Net net;
  net.Forward(Ones({1, 2}));
  const StateDict state = net.state_dict();
  EXPECT_FALSE(state["fc.weight"].requires_grad());
  EXPECT_EQ(state["fc.weight"].host_view<float>().data(),
            net.fc.weight().host_view<float>().data());
}

}  // namespace
}  // namespace firn::nn

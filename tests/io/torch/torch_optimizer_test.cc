// Optimizers in files of PyTorch, without PyTorch: Firn reads back what it wrote, and refuses other
// objects.
#include "firn/io/torch/torch_optimizer.h"

#include "firn/io/torch/torch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::HasSubstr;

Tensor Number(double value) { return Full({}, value, DType::kF64); }

// A state as optim::Adam gives it out.
StateDict Adam() {
  return {{"groups.0.lr", Number(0.25)},
          {"groups.0.beta1", Number(0.5)},
          {"groups.0.beta2", Number(0.75)},
          {"groups.0.eps", Number(1e-8)},
          {"groups.0.weight_decay", Number(0)},
          {"groups.0.amsgrad", Number(0)},
          {"groups.0.bias_correction", Number(1)},
          {"groups.0.semantics", Number(0)},
          {"state.fc.weight.step", Full({}, 3, DType::kI64)},
          {"state.fc.weight.exp_avg", FromValues({1.f, 2.f})},
          {"state.fc.weight.exp_avg_sq", FromValues({3.f, 4.f})}};
}

TEST(TorchOptimizerTest, ReadsWhatItWrites) {
  const std::string path = TempPath("adam.pt");
  const TorchOptimizerOptions options = {.parameters = {"fc.bias", "fc.weight"}};
  SaveTorchOptimizer(path, Adam(), options);
  const StateDict raw = LoadTorch(path, {.numbers = true});
  EXPECT_EQ(raw["param_groups.0.betas.1"].Item(), 0.75);
  EXPECT_EQ(raw["param_groups.0.params.1"].Item(), 1);
  EXPECT_EQ(raw["state.1.step"].dtype(), DType::kF32);
  EXPECT_EQ(LoadTorch(path).size(), 3u);  // without numbers
  StateDict other;                        // of other options
  for (const auto& [name, value] : Adam()) {
    if (!name.starts_with("state.")) other.Insert(name, name.ends_with("lr") ? Number(9) : value);
  }
  const StateDict back = LoadTorchOptimizer(path, other, options);
  EXPECT_EQ(back.size(), Adam().size());
  for (const auto& [name, value] : Adam()) EXPECT_TRUE(back[name].Equals(value)) << name;
}

TEST(TorchOptimizerTest, PairsAndNoneOfAdafactor) {
  const std::string path = TempPath("adafactor.pt");
  const StateDict adafactor = {{"groups.0.lr", Number(0.25)},
                               {"groups.0.beta2_decay", Number(-0.5)},
                               {"groups.0.eps1", Number(0)},
                               {"groups.0.eps2", Number(0.125)},
                               {"groups.0.d", Number(2)},
                               {"groups.0.weight_decay", Number(0)},
                               {"state.w.step", Full({}, 3, DType::kI64)},
                               {"state.w.row_var", Ones({2, 1})},
                               {"state.w.col_var", Ones({1, 3})},
                               {"state.w.variance", Zeros({0})},
                               {"state.b.step", Full({}, 3, DType::kI64)},
                               {"state.b.row_var", Zeros({0})},
                               {"state.b.col_var", Zeros({0})},
                               {"state.b.variance", Ones({2})}};
  const TorchOptimizerOptions options = {.parameters = {"w", "b"}};
  SaveTorchOptimizer(path, adafactor, options);
  const StateDict raw = LoadTorch(path, {.numbers = true});
  EXPECT_FALSE(raw.Contains("param_groups.0.eps.0"));  // None
  EXPECT_EQ(raw["param_groups.0.eps.1"].Item(), 0.125);
  EXPECT_FALSE(raw.Contains("state.0.variance"));
  EXPECT_FALSE(raw.Contains("state.1.row_var"));
  StateDict other = adafactor;
  other.Set("groups.0.eps1", Number(7));
  const StateDict back = LoadTorchOptimizer(path, other, options);
  EXPECT_EQ(back.size(), adafactor.size());
  for (const auto& [name, value] : adafactor) EXPECT_TRUE(back[name].Equals(value)) << name;
}

TEST(TorchOptimizerTest, NadamsProductIsWrittenAndFollowsFromTheStep) {
  const std::string path = TempPath("nadam.pt");
  const StateDict nadam = {{"groups.0.lr", Number(0.25)},
                           {"groups.0.beta1", Number(0.5)},
                           {"groups.0.beta2", Number(0.75)},
                           {"groups.0.eps", Number(1e-8)},
                           {"groups.0.weight_decay", Number(0)},
                           {"groups.0.momentum_decay", Number(1)},
                           {"groups.0.decoupled_weight_decay", Number(1)},
                           {"state.0.step", Full({}, 2, DType::kI64)},
                           {"state.0.exp_avg", FromValues({1.f})},
                           {"state.0.exp_avg_sq", FromValues({3.f})}};
  SaveTorchOptimizer(path, nadam, {.parameters = {"0"}});
  const StateDict raw = LoadTorch(path, {.numbers = true});
  EXPECT_FLOAT_EQ(raw["state.0.mu_product"].Item<float>(),
                  0.5F * (1 - 0.48F) * 0.5F * (1 - 0.5F * 0.96F * 0.96F));
  EXPECT_EQ(LoadTorchOptimizer(path, nadam).size(), nadam.size());
}

TEST(TorchOptimizerTest, RefusesWhatPyTorchHasNoWordFor) {
  StateDict nnabla = Adam();
  nnabla.Set("groups.0.semantics", Number(1));
  EXPECT_THAT(
      ErrorOf([&] { SaveTorchOptimizer(TempPath("a.pt"), nnabla, {.parameters = {"fc.weight"}}); }),
      HasSubstr("groups.0.semantics is 1, which PyTorch's optimizers have no word for"));
  EXPECT_THAT(
      ErrorOf([&] { SaveTorchOptimizer(TempPath("a.pt"), Adam(), {.parameters = {"fc.bias"}}); }),
      HasSubstr("'fc.weight' has a state (want it among the parameters"));
  EXPECT_THAT(ErrorOf([&] {
                SaveTorchOptimizer(TempPath("a.pt"), Adam(),
                                   {.parameters = {"fc.weight"}, .groups = {1, 1}});
              }),
              HasSubstr("groups: 2 of them (want 1"));
}

TEST(TorchOptimizerTest, RefusesWhatIsNoOptimizer) {
  const std::string path = TempPath("a.pt");
  SaveTorch(path, {{"w", Ones({2})}});
  EXPECT_THAT(ErrorOf([&] { LoadTorchOptimizer(path, Adam()); }),
              HasSubstr("a.pt: param_groups: expected 1 groups with a rate, got 0"));
  SaveTorchOptimizer(path, Adam(), {.parameters = {"fc.bias", "fc.weight"}});
  EXPECT_THAT(ErrorOf([&] { LoadTorchOptimizer(path, Adam(), {.parameters = {"fc.weight"}}); }),
              HasSubstr("a.pt: state.1: expected the number of one of the 1 parameters"));
}

}  // namespace
}  // namespace firn::io

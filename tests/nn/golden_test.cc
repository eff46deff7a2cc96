// Every layer against PyTorch's: results, gradients and running statistics. Each layer class must
// have a file in tests/golden/layers, each file a factory in golden_layers.cc, and each factory a
// file.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "firn/nn/type_names.h"
#include "tests/nn/golden_layers.h"

namespace firn::nn {
namespace {

using testing::GoldenCase;

// Layer classes that the headers of nn declare, from //nn:layer_names.
const char* const kDeclared[] = {
#include "nn/layer_names.inc"
};

bool IsX(const std::string& name) { return name == "x" || absl::StartsWith(name, "x."); }

// Parameters come from the case; what is left over are running statistics.
void LoadParameters(const GoldenCase& c, Module& module) {
  StateDict state;
  for (const auto& [name, tensor] : c.inputs) {
    if (!IsX(name) && name != "target") state.Insert(name, tensor);
  }
  const LoadReport report = module.LoadStateDict(state, {.strict = false});
  EXPECT_TRUE(report.unexpected.empty() && report.misshaped.empty()) << report;
  for (const std::string& name : report.missing) {
    EXPECT_TRUE(absl::StartsWith(name, "running_") || name == "num_batches_tracked") << report;
  }
}

// Calls the layer for y or y.0, y.1, ... (the last in eval mode, on x.0) and runs backward from
// each. Returns the inputs.
std::map<std::string, Tensor> RunSteps(const GoldenCase& c, const Made& made) {
  std::map<std::string, Tensor> xs;
  for (const auto& [name, tensor] : c.inputs) {
    if (IsX(name)) xs[name] = tensor.Detach().SetRequiresGrad(c.grads.Contains(name));
  }
  const Tensor target = c.inputs.Contains("target") ? c.inputs["target"] : Tensor();
  const size_t steps = c.inputs.Contains("x") ? 1 : xs.size() + 1;
  for (size_t step = 0; step < steps; ++step) {
    const bool single = steps == 1, last = !single && step + 1 == steps;
    if (last) made.module->Eval();
    const Tensor& x = xs.at(single ? "x" : absl::StrCat("x.", last ? 0 : step));
    const Tensor y = made.call(x, target);
    const std::string name = single ? "y" : absl::StrCat("y.", step);
    EXPECT_EQ(testing::Compare(y, c.outputs[name]), "") << c.name << " " << name;
    const auto seed = c.grad_outputs.find(static_cast<int>(step));
    if (seed != c.grad_outputs.end()) y.Backward(seed->second);
  }
  return xs;
}

void CheckCase(const GoldenCase& c, const Made& made) {
  made.module->Train(c.Flag("training", true));
  for (const auto& [attr, words] : c.attrs) {
    EXPECT_TRUE(c.asked.contains(attr)) << c.name << ": nothing takes " << attr;
  }
  LoadParameters(c, *made.module);
  std::map<std::string, Tensor> tensors = RunSteps(c, made);
  for (const NamedTensor& p : made.module->named_parameters()) tensors[p.name] = p.tensor;
  for (const auto& [name, want] : c.grads) {
    ASSERT_TRUE(tensors.contains(name)) << c.name << " " << name;
    EXPECT_EQ(testing::Compare(tensors[name].grad(), want), "") << c.name << " grad " << name;
  }
  for (const NamedTensor& b : made.module->named_buffers()) {
    if (!c.outputs.Contains(b.name)) continue;
    EXPECT_EQ(testing::Compare(b.tensor, c.outputs[b.name]), "") << c.name << " " << b.name;
  }
}

class LayerGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LayerGoldenTest, AgreesWithPyTorch) {
  const auto factory = Factories().find(GetParam());
  ASSERT_NE(factory, Factories().end()) << "nothing here makes the layer of this file";
  for (const GoldenCase& c : testing::ReadGolden(absl::StrCat("layers/", GetParam(), ".txt"))) {
    for (bool deferred : {false, true}) CheckCase(c, factory->second(c, deferred));
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerGoldenTest,
                         ::testing::ValuesIn(testing::GoldenFiles("layers")),
                         [](const auto& file) { return file.param; });

TEST(LayerGoldenFilesTest, EveryFactoryHasAFile) {
  const std::vector<std::string> files = testing::GoldenFiles("layers");
  for (const auto& [name, factory] : Factories()) {
    EXPECT_NE(std::find(files.begin(), files.end(), name), files.end()) << name;
  }
}

TEST(LayerGoldenFilesTest, EveryLayerClassHasAFile) {
  // Containers, our own block, and templates, such as the one behind batch_norm1d to batch_norm3d.
  const std::set<std::string> without = {"BatchNorm", "Conv",       "ConvTranspose", "MaxPool",
                                         "ResUnit",   "Sequential", "Standardize"};
  const std::vector<std::string> files = testing::GoldenFiles("layers");
  EXPECT_GT(std::size(kDeclared), without.size());
  for (const std::string name : kDeclared) {
    const bool present = std::binary_search(files.begin(), files.end(), SnakeCase(name));
    EXPECT_EQ(present, !without.contains(name)) << name;
  }
}

}  // namespace
}  // namespace firn::nn

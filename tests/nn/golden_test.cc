// Every layer against PyTorch's: results, gradients and running statistics. Each layer class must
// have a file in tests/golden/layers, and each file a class.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "firn/nn/type_names.h"
#include "tests/nn/golden_layers.h"

namespace firn::nn {
namespace {

using testing::GoldenCase;

// The names of a case's inputs that are parameters or buffers of the layer.
std::set<std::string> StateOf(const GoldenCase& c, const Module& module) {
  std::set<std::string> names;
  for (const NamedTensor& p : module.named_parameters()) names.insert(p.name);
  for (const NamedTensor& b : module.named_buffers()) names.insert(b.name);
  std::erase_if(names, [&](const std::string& name) { return !c.inputs.Contains(name); });
  return names;
}

// Parameters come from the case; what is left over are running statistics.
void LoadParameters(const GoldenCase& c, Module& module) {
  StateDict state;
  for (const std::string& name : StateOf(c, module)) state.Insert(name, c.inputs[name]);
  const LoadReport report = module.LoadStateDict(state, {.strict = false});
  EXPECT_TRUE(report.unexpected.empty() && report.misshaped.empty()) << report;
  for (const std::string& name : report.missing) {
    EXPECT_TRUE(absl::StartsWith(name, "running_") || name == "num_batches_tracked") << report;
  }
}

// Calls the layer for y or y.0, y.1, ... (the last in eval mode, on x.0) and runs backward from
// each. It takes the case's inputs that are no parameters, in their order; x.0, x.1, ... are the
// first of them, one a step. Returns the inputs.
std::map<std::string, Tensor> RunSteps(const GoldenCase& c, Module& module) {
  const std::set<std::string> state = StateOf(c, module);
  std::map<std::string, Tensor> inputs;
  std::vector<Tensor> first, others;
  for (const auto& [name, tensor] : c.inputs) {
    if (state.contains(name)) continue;
    const Tensor input = tensor.Detach().SetRequiresGrad(c.grads.Contains(name));
    inputs[name] = input;
    (first.empty() || absl::StartsWith(name, "x.") ? first : others).push_back(input);
  }
  const size_t steps = c.inputs.Contains("x.0") ? first.size() + 1 : 1;
  for (size_t step = 0; step < steps; ++step) {
    const bool last = steps > 1 && step + 1 == steps;
    if (last) module.Eval();
    std::vector<Tensor> in = {first.at(last ? 0 : step)};
    in.insert(in.end(), others.begin(), others.end());
    const Tensor y = CallLayer(module, in);
    const std::string name = steps == 1 ? "y" : absl::StrCat("y.", step);
    EXPECT_EQ(testing::Compare(y, c.outputs[name]), "") << c.name << " " << name;
    const auto seed = c.grad_outputs.find(static_cast<int>(step));
    if (seed != c.grad_outputs.end()) y.Backward(seed->second);
  }
  return inputs;
}

void CheckCase(const GoldenCase& c, Module& module) {
  module.Train(c.Flag("training", true));
  LoadParameters(c, module);
  std::map<std::string, Tensor> tensors = RunSteps(c, module);
  for (const NamedTensor& p : module.named_parameters()) tensors[p.name] = p.tensor;
  for (const auto& [name, want] : c.grads) {
    ASSERT_TRUE(tensors.contains(name)) << c.name << " " << name;
    EXPECT_EQ(testing::Compare(tensors[name].grad(), want), "") << c.name << " grad " << name;
  }
  for (const NamedTensor& b : module.named_buffers()) {
    if (!c.outputs.Contains(b.name)) continue;
    EXPECT_EQ(testing::Compare(b.tensor, c.outputs[b.name]), "") << c.name << " " << b.name;
  }
}

class LayerGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LayerGoldenTest, AgreesWithPyTorch) {
  const std::string layer = LayerOfFile(GetParam());
  ASSERT_NE(layer, "") << "no layer has the name of this file";
  for (const GoldenCase& c : testing::ReadGolden(absl::StrCat("layers/", GetParam(), ".txt"))) {
    for (bool deferred : {false, true}) CheckCase(c, *MakeFrom(layer, c, deferred));
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerGoldenTest,
                         ::testing::ValuesIn(testing::GoldenFiles("layers")),
                         [](const auto& file) { return file.param; });

TEST(LayerGoldenFilesTest, EveryLayerClassHasAFile) {
  // A container, a block of Firn, and a layer that PyTorch does not have.
  const std::set<std::string> without = {"ResUnit", "Sequential", "Standardize"};
  const std::vector<std::string> files = testing::GoldenFiles("layers");
  EXPECT_GT(LayerNames().size(), without.size());
  for (const std::string& name : LayerNames()) {
    const bool present = std::binary_search(files.begin(), files.end(), SnakeCase(name));
    EXPECT_EQ(present, !without.contains(name)) << name;
  }
}

}  // namespace
}  // namespace firn::nn

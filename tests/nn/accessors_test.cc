// Accessors of every layer, as the golden cases make it: the options it was made with, and its
// parameters, which are those of the state dict.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/nn/layers.h"
#include "tests/nn/golden_layers.h"

namespace firn::nn {
namespace {

using testing::GoldenCase;

// An option's text without brackets and repetitions: [3, 3] is 3, since both describe the same
// sizes.
std::string Bare(const std::string& text) {
  std::string bare;
  for (const char c : text) {
    if (c != '[' && c != ']' && c != ' ') bare += c;
  }
  if (bare == "true") return "1";
  return bare == "false" ? "0" : bare;
}

bool SameValue(const std::string& a, const std::string& b) {
  const std::string x = Bare(a), y = Bare(b);
  if (x == y || x == absl::StrCat(y, ",", y) || x == absl::StrCat(y, ",", y, ",", y)) return true;
  return !x.empty() && x.find_first_not_of("+-.0123456789e") == std::string::npos &&
         std::atof(x.c_str()) == std::atof(y.c_str());
}

TEST(AccessorsTest, LayersTellTheOptionsTheyWereMadeWith) {
  for (const std::string& file : testing::GoldenFiles("layers")) {
    const std::string layer = LayerOfFile(file);
    for (const GoldenCase& c : testing::ReadGolden(absl::StrCat("layers/", file, ".txt"))) {
      std::map<std::string, std::string> told;
      for (const OptionText& o : OptionsOf(*MakeFrom(layer, c, false))) told[o.name] = o.value;
      for (const auto& [name, value] : OptionsOfCase(layer, c, false)) {
        EXPECT_TRUE(SameValue(value, told[name]))
            << layer << " " << c.name << ": " << name << " is " << value << ", not " << told[name];
      }
    }
  }
}

// The tensors that a layer of class L returns under the names of its parameters and buffers.
template <class L>
void CheckTensors(const char* name, const Module& module) {
  const L& layer = dynamic_cast<const L&>(module);
  const auto check = [&](const char* tensor, const Tensor& given) {
    EXPECT_EQ(given.defined(), module.state_dict().Contains(tensor)) << name << " " << tensor;
    if (!given.defined()) return;
    EXPECT_EQ(given.impl()->data, module.state_dict()[tensor].impl()->data)
        << name << " " << tensor;
  };
  if constexpr (requires { layer.weight(); }) check("weight", layer.weight());
  if constexpr (requires { layer.bias(); }) check("bias", layer.bias());
  if constexpr (requires { layer.running_mean(); }) check("running_mean", layer.running_mean());
  if constexpr (requires { layer.running_var(); }) check("running_var", layer.running_var());
}

TEST(AccessorsTest, LayersGiveTheirParameters) {
  using Check = void (*)(const char*, const Module&);
  const std::map<std::string, Check> checks = {
#define FIRN_LAYER(L) {#L, CheckTensors<L>},
#include "firn/nn/layer_types.inc"
#undef FIRN_LAYER
  };
  for (const std::string& file : testing::GoldenFiles("layers")) {
    const std::string layer = LayerOfFile(file);
    for (const GoldenCase& c : testing::ReadGolden(absl::StrCat("layers/", file, ".txt"))) {
      checks.at(layer)(c.name.c_str(), *MakeFrom(layer, c, false));
    }
  }
}

TEST(AccessorsTest, OptionsAreFieldsOfAStruct) {
  EXPECT_EQ(Conv2d({.in = 1, .out = 2, .kernel = 3, .padding = 1}).options().out, 2);
  EXPECT_EQ(ResUnit({.in = 4, .out = 8, .stride = 2}).options().stride, 2);
  EXPECT_EQ(LeakyRelu({.alpha = 0.5}).options().alpha, 0.5);
  EXPECT_TRUE(
      ModuleList<Linear>({{.in = 1, .out = 2}}).options().empty());  // a clone's copies follow
}

}  // namespace
}  // namespace firn::nn

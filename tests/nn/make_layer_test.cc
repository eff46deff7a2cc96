// Layers by name: options from texts, and errors for those that do not fit.

#include "firn/nn/make_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "firn/nn/layers.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

std::string Made(const std::string& name, const OptionValues& options = {}) {
  return MakeLayer(name, options)->ToString();
}

TEST(MakeLayerTest, MakesALayerFromItsNameAndTexts) {
  const auto layer = MakeLayer("Conv2d", {{"in", "2"},
                                          {"out", "4"},
                                          {"kernel", "[3, 1]"},
                                          {"padding", "same"},
                                          {"bias", "false"},
                                          {"padding_mode", "reflect"}});
  auto* const conv = dynamic_cast<Conv2d*>(layer.get());
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->options().kernel, Sizes(3, 1));
  EXPECT_TRUE(conv->options().padding.same);
  EXPECT_EQ(conv->options().padding_mode, PadMode::kReflect);
  EXPECT_EQ(conv->weight().shape(), (Shape{4, 2, 3, 1}));
  EXPECT_FALSE(conv->bias().defined());
  EXPECT_EQ((*conv)(Ones({1, 2, 5, 5})).shape(), (Shape{1, 4, 5, 5}));
}

TEST(MakeLayerTest, ReadsEveryKindOfValue) {
  EXPECT_EQ(Made("Relu"), "Relu()");
  EXPECT_EQ(Made("LeakyRelu", {{"alpha", "-2.5e-1"}}), "LeakyRelu(alpha=-0.25)");
  EXPECT_EQ(Made("ConstantPad1d", {{"padding", "1,-2"}, {"value", "3"}}),
            "ConstantPad1d(padding=[1, -2], value=3)");
  EXPECT_EQ(Made("Embedding", {{"count", "5"}, {"size", "2"}, {"padding_idx", "-1"}}),
            "Embedding(count=5, size=2, padding_idx=-1)");
  EXPECT_EQ(Made("RmsNorm", {{"shape", "[2, 3]"}, {"eps", "0.5"}, {"affine", "0"}}),
            "RmsNorm([2, 3], eps=0.5, affine=false)");
  EXPECT_EQ(Made("Gelu", {{"approximate", "tanh"}}), "Gelu(approximate=tanh)");
  EXPECT_EQ(Made("Conv1d", {{"out", "3"}, {"padding", "2"}}),
            "Conv1d(? -> 3, kernel=1, padding=2)");
}

TEST(MakeLayerTest, TensorsAmongOptionsAreBuffers) {
  const Tensor weight = FromVector<float>({1, 2, 3});
  const auto loss = MakeLayer("CrossEntropyLoss", {{"reduction", "sum"}}, {{"weight", weight}});
  EXPECT_EQ(loss->ToString(), "CrossEntropyLoss(weight=[3], reduction=sum)");
  EXPECT_TRUE(loss->state_dict()["weight"].Equals(weight));
}

TEST(MakeLayerTest, SaysWhatDoesNotFit) {
  EXPECT_EQ(ErrorOf([] { MakeLayer("Conv9d"); }).substr(0, 46),
            "MakeLayer: there is no layer named Conv9d; of ");
  EXPECT_EQ(ErrorOf([] {
              MakeLayer("LeakyRelu", {{"slope", "1"}});
            }),
            "MakeLayer of LeakyRelu: there is no option named slope; there are alpha");
  EXPECT_EQ(ErrorOf([] {
              MakeLayer("LeakyRelu", {{"alpha", "1"}, {"alpha", "2"}});
            }),
            "MakeLayer of LeakyRelu: alpha is given twice");
  EXPECT_EQ(ErrorOf([] {
              MakeLayer("LeakyRelu", {{"alpha", "much"}});
            }),
            "MakeLayer of LeakyRelu: alpha is much (want a number)");
  EXPECT_EQ(ErrorOf([] {
              MakeLayer("Linear", {{"out", "1.5"}});
            }),
            "MakeLayer of Linear: out is 1.5 (want an integer)");
  EXPECT_EQ(ErrorOf([] {
              MakeLayer("Linear", {{"out", "99999999999999999999"}});
            }),
            "MakeLayer of Linear: out is 99999999999999999999 (want an integer)");
  EXPECT_EQ(ErrorOf([] {
              MakeLayer("Linear", {{"bias", "maybe"}});
            }),
            "MakeLayer of Linear: bias is maybe (want true or false)");
  EXPECT_EQ(ErrorOf([] {
              MakeLayer("MseLoss", {{"reduction", "median"}});
            }),
            "MakeLayer of MseLoss: reduction is median (want none, mean, sum or batchmean)");
  for (const std::string text : {"", "[3", "[1, 2, 3, 4]", "x"}) {
    EXPECT_EQ(
        ErrorOf([&] {
          MakeLayer("MaxPool2d", {{"kernel", text}});
        }),
        "MakeLayer of MaxPool2d: kernel is " + text + " (want 1 to 3 integers, as in 3 or [3, 5])");
  }
  EXPECT_EQ(ErrorOf([] {
              MakeLayer("Conv2d", {{"out", "1"}, {"padding", "valid"}});
            }),
            "MakeLayer of Conv2d: padding is valid (want 1 to 3 integers, as in 3 or [3, 5], or "
            "same)");
  EXPECT_EQ(ErrorOf([] {
              MakeLayer("Upsample", {{"scale_factor", "[2, twice]"}});
            }),
            "MakeLayer of Upsample: scale_factor is [2, twice] (want numbers, as in [1.5, 2])");
  // Options that the layer itself refuses.
  EXPECT_EQ(ErrorOf([] { MakeLayer("Linear"); }), "nn::Linear: out is 0 (want a positive number)");
  EXPECT_NE(ErrorOf([] { MakeLayer("Relu", {}, {{"weight", Ones({1})}}); }), "");
}

TEST(MakeLayerTest, ListsOptionsWithTheirDefaults) {
  std::map<std::string, OptionText> options;
  for (const OptionText& o : LayerOptions("Conv2d")) options[o.name] = o;
  EXPECT_EQ(options["kernel"].value, "1");
  EXPECT_TRUE(options["kernel"].always);
  EXPECT_EQ(options["padding_mode"].value, "constant");
  EXPECT_TRUE(options["in"].deferred);
  EXPECT_FALSE(options["out"].deferred);
  EXPECT_TRUE(LayerOptions("Relu").empty());
  EXPECT_TRUE(LayerOptions("NllLoss")[0].tensor);
  EXPECT_FALSE(LayerOptions("NllLoss")[1].tensor);
  EXPECT_NE(ErrorOf([] { LayerOptions("Nothing"); }), "");
}

TEST(MakeLayerTest, OptionsOfALayerAreThoseItWasMadeWith) {
  Linear linear({.out = 3});
  linear(Ones({1, 2}));
  const std::vector<OptionText> options = OptionsOf(linear);
  EXPECT_EQ(options[0].value, "0");  // not 2, which came later
  EXPECT_EQ(options[1].value, "3");
  EXPECT_NE(ErrorOf([] { OptionsOf(ModuleList<Linear>()); }), "");
}

TEST(MakeLayerTest, KnowsEveryLayerOnceAndInOrder) {
  const std::vector<std::string> names = LayerNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const char* name : {"Relu", "Conv3d", "AdaptiveMaxPool2d", "Sequential", "MaxUnpool2d"}) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name)) << name;
  }
  for (const char* name : {"Conv", "ConvBase", "Layer", "ModuleList", "FunctionLayer"}) {
    EXPECT_FALSE(std::binary_search(names.begin(), names.end(), name)) << name;
  }
}

}  // namespace
}  // namespace firn::nn

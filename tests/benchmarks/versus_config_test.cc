#include "benchmarks/versus_config.h"

#include <gtest/gtest.h>

namespace firn::benchmarks {
namespace {

std::vector<std::string> Labels(const std::string& list) {
  const auto configs = ParseConfigs(list);
  EXPECT_TRUE(configs.ok()) << configs.status();
  std::vector<std::string> labels;
  for (const VersusConfig& c : *configs) labels.push_back(c.Label());
  return labels;
}

TEST(VersusConfigTest, BareNamesStandForTheirStandardSizes) {
  EXPECT_EQ(Labels("deep_cnn,mlp"),
            (std::vector<std::string>{"deep_cnn/d10/b16", "deep_cnn/d10/b64", "deep_cnn/d10/b256",
                                      "deep_cnn/d30/b16", "deep_cnn/d30/b64", "deep_cnn/d30/b256",
                                      "mlp/b1"}));
  EXPECT_EQ(Labels(StandardConfigs()).size(), 10u);
}

TEST(VersusConfigTest, WhatTakesMinutesIsTimedWhenAskedForOnly) {
  EXPECT_EQ(Labels("resnet18"), std::vector<std::string>{"resnet18/b128"});
  EXPECT_EQ(StandardConfigs().find("resnet18"), std::string::npos);
  EXPECT_NE(ParseConfigs("vgg").status().message().find("resnet18"), std::string_view::npos);
}

TEST(VersusConfigTest, SizesThatAreNotSaidAreUsual) {
  EXPECT_EQ(Labels("deep_cnn/b8,deep_cnn/d3,lenet/b2,changing_cnn/d4/b1"),
            (std::vector<std::string>{"deep_cnn/d10/b8", "deep_cnn/d3/b64", "lenet/b2",
                                      "changing_cnn/d4/b1"}));
}

TEST(VersusConfigTest, LabelsReadBack) {
  const auto configs = ParseConfigs(StandardConfigs());
  ASSERT_TRUE(configs.ok());
  for (const VersusConfig& c : *configs) {
    const auto again = ParseConfigs(c.Label());
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, std::vector<VersusConfig>{c});
  }
}

TEST(VersusConfigTest, WhatIsNotAWorkloadIsNamed) {
  for (const char* text :
       {"vgg", "", "mlp,", "mlp/d3", "mlp/b", "mlp/b0", "mlp/b-1", "mlp/bx", "deep_cnn/x1"}) {
    EXPECT_EQ(ParseConfigs(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(VersusConfigTest, SmallImagesAreDigits) {
  EXPECT_EQ(ParseConfigs("deep_cnn/b4")->front().Options(true).data, TrainerData::kDigits);
  EXPECT_EQ(ParseConfigs("lenet/b4")->front().Options(true).data, TrainerData::kHash);
  EXPECT_TRUE(ParseConfigs("mlp/b4")->front().Options(true).frozen);
}

}  // namespace
}  // namespace firn::benchmarks

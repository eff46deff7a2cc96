// firn zoo: what there is, what a network is like, and a file of it.
#include "firn/nn/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "firn/io/onnx/onnx.h"
#include "firn/io/parameters.h"
#include "firn/tensor/ops.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {
namespace {

using ::testing::HasSubstr;

TEST(ZooTest, ListsEveryNetwork) {
  const Outcome all = Firn({"zoo", "list"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("resnet50"));
  EXPECT_THAT(all.out, HasSubstr("25,557,032"));
  const auto rows = nlohmann::json::parse(Firn({"zoo", "list", "--json"}).out);
  ASSERT_EQ(rows.size(), zoo::Names().size());
  EXPECT_EQ(rows[0]["name"], zoo::Names()[0]);
}

TEST(ZooTest, TellsOfANetwork) {
  const Outcome one = Firn({"zoo", "info", "resnet18"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("names of parameters: torchvision.models.resnet18"));
  EXPECT_THAT(one.out, HasSubstr("input: [3, 224, 224]"));
  EXPECT_THAT(one.out, HasSubstr("classes: 1000 of imagenet"));
  EXPECT_THAT(one.out, HasSubstr("layer1.0.conv1"));
  EXPECT_THAT(one.out, HasSubstr("1,814,073,344"));
}

TEST(ZooTest, ExportsANetworkWithTheWeightsOfAFile) {
  const std::unique_ptr<nn::Layer> net = zoo::Make("small_resnet", {.classes = 4});
  const std::string weights = io::TempPath("net.safetensors"), out = io::TempPath("net.onnx");
  io::Save(weights, net->state_dict());
  const Outcome made = Firn(
      {"zoo", "export", "small_resnet", out, "--classes=4", "--any-batch", "--weights=" + weights});
  EXPECT_EQ(made.status, 0) << made.err;
  net->Eval();
  const NoGradScope no_grad;
  const Tensor x = Rand({3, 1, 28, 28});
  EXPECT_EQ(io::ImportOnnx(out).network(x).ToVector<float>(), (*net)(x).ToVector<float>());
}

TEST(ZooTest, MistakesAreNamed) {
  const Outcome unknown = Firn({"zoo", "info", "resnet_50"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("there is no network 'resnet_50'"));
  EXPECT_THAT(unknown.err, HasSubstr("resnet50"));
  // Of another network: everything that does not fit is told.
  const std::string weights = io::TempPath("lenet.safetensors"), out = io::TempPath("net.onnx");
  io::Save(weights, zoo::Make("small_resnet", {.classes = 4})->state_dict());
  const Outcome other = Firn({"zoo", "export", "resnet18", out, "--weights", weights});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("114 missing (layer1.0.conv1.weight"));
  EXPECT_THAT(other.err, HasSubstr("unit1.conv1.weight"));
  EXPECT_EQ(Firn({"zoo", "export", "resnet18", out, "--classes=0"}).status, 2);
  const Outcome suffix = Firn({"zoo", "export", "small_resnet", io::TempPath("net.xyz")});
  EXPECT_EQ(suffix.status, 1);
  EXPECT_THAT(suffix.err, HasSubstr(".onnx"));
}

}  // namespace
}  // namespace firn::cli

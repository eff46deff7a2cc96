// firn zoo: the list of networks, the description of one, and a file of one.
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

// Its class token is expanded to [batch, 1, 192]: the 1 is no batch.
TEST(ZooTest, ExportsForAnyBatchWhereSizesAreOne) {
  const std::unique_ptr<nn::Layer> net = zoo::Make("vit_ti_16", {.classes = 3});
  const std::string weights = io::TempPath("vit.safetensors"), out = io::TempPath("vit.onnx");
  io::Save(weights, net->state_dict());
  const Outcome made = Firn(
      {"zoo", "export", "vit_ti_16", out, "--classes=3", "--any-batch", "--weights=" + weights});
  ASSERT_EQ(made.status, 0) << made.err;
  net->Eval();
  const NoGradScope no_grad;
  const Tensor x = Rand({3, 3, 224, 224});
  const std::vector<float> got = io::ImportOnnx(out).network(x).ToVector<float>();
  const std::vector<float> want = (*net)(x).ToVector<float>();
  EXPECT_THAT(got, ::testing::Pointwise(::testing::FloatNear(1e-4f), want));
}

// Names as in files of BertModel inside of a larger network, with the buffers of older versions.
TEST(ZooTest, ExportsWithAFileThatHasMore) {
  const std::unique_ptr<nn::Layer> net = zoo::Make("lenet5");
  StateDict file;
  for (const auto& [name, tensor] : net->state_dict()) file.Set("body." + name, tensor);
  file.Set("head.weight", Ones({2, 2}));
  const std::string weights = io::TempPath("more.safetensors"), out = io::TempPath("more.onnx");
  io::Save(weights, file);
  const std::vector<std::string> plain = {
      "zoo", "export", "lenet5", out, "--weights=" + weights, "--strip-prefix=body."};
  EXPECT_THAT(Firn(plain).err, HasSubstr("1 unexpected (head.weight"));
  std::vector<std::string> all = plain;
  all.push_back("--with-others");
  const Outcome made = Firn(all);
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("1 unexpected (head.weight"));
  net->Eval();
  const NoGradScope no_grad;
  const Tensor x = Rand({1, 1, 28, 28});
  EXPECT_EQ(io::ImportOnnx(out).network(x).ToVector<float>(), (*net)(x).ToVector<float>());
  // Tensors that the network needs must still be there.
  const Outcome none =
      Firn({"zoo", "export", "lenet5", out, "--weights=" + weights, "--with-others"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("needs more than the file has"));
}

TEST(ZooTest, MistakesAreNamed) {
  const Outcome unknown = Firn({"zoo", "info", "resnet_50"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("there is no network 'resnet_50'"));
  EXPECT_THAT(unknown.err, HasSubstr("resnet50"));
  // A file of another network: the error says how many tensors do not fit, and names the first
  // ones.
  const std::string weights = io::TempPath("lenet.safetensors"), out = io::TempPath("net.onnx");
  io::Save(weights, zoo::Make("small_resnet", {.classes = 4})->state_dict());
  const Outcome other = Firn({"zoo", "export", "resnet18", out, "--weights", weights});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("114 missing (layer1.0.conv1.weight"));
  EXPECT_THAT(other.err, HasSubstr("49 unexpected (unit1.bn1.num_batches_tracked"));
  EXPECT_LT(other.err.size(), 3000u);
  EXPECT_EQ(Firn({"zoo", "export", "resnet18", out, "--classes=0"}).status, 2);
  const Outcome suffix = Firn({"zoo", "export", "small_resnet", io::TempPath("net.xyz")});
  EXPECT_EQ(suffix.status, 1);
  EXPECT_THAT(suffix.err, HasSubstr(".onnx"));
}

}  // namespace
}  // namespace firn::cli

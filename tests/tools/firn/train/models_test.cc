// Networks as lists of layers: options arrive, and errors name their place.
#include "tools/firn/train/models.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/nnabla_network/nnabla_export.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/parameters.h"
#include "firn/nn/layers.h"
#include "firn/nn/zoo/zoo.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/create/constant.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/onnx/onnx_builder.h"
#include "tests/io/test_files.h"

namespace firn::cli {
namespace {

using ::testing::HasSubstr;

// The network of a model whose "layers" are `list`.
std::unique_ptr<nn::Layer> NetOf(const std::string& list) {
  const Config config =
      Config::Parse(R"({"name": "layers", "layers": [)" + list + "]}", "train.json");
  const ModelMaker make = ParseModel(config).make;
  config.Finish();
  return make({1, 8, 8}, {10});
}

std::string ErrorOf(const std::string& list) {
  return firn::testing::ErrorOf([&] { NetOf(list); });
}

TEST(ModelsTest, LayersAreMadeByTheirNamesAndOptions) {
  const auto net = NetOf(R"(
      {"layer": "Conv2d", "out": 4, "kernel": [3, 1], "padding": "same", "bias": false},
      {"layer": "LeakyRelu", "alpha": 0.125}, {"layer": "MaxPool2d", "kernel": 2},
      {"layer": "Flatten"}, {"layer": "Linear", "out": 10})");
  EXPECT_EQ((*net)(Ones({2, 1, 8, 8})).shape(), (Shape{2, 10}));
  EXPECT_EQ(net->ToString(), R"(Sequential(
  (0): Conv2d(1 -> 4, kernel=[3, 1], padding=same, bias=false)
  (1): LeakyRelu(alpha=0.125)
  (2): MaxPool2d(kernel=2)
  (3): Flatten()
  (4): Linear(64 -> 10)
))");
  EXPECT_EQ(net->path(), "net");
}

TEST(ModelsTest, MistakesAreToldWithTheirPlace) {
  EXPECT_THAT(ErrorOf(R"({"layer": "Relu"}, {"layer": "Cov2d"})"),
              HasSubstr("train.json: $.layers[1].layer: expected one of "));
  EXPECT_THAT(ErrorOf(R"({"layer": "Relu", "alpha": 1})"),
              HasSubstr("train.json: $.layers[0]: there is no key \"alpha\""));
  EXPECT_THAT(ErrorOf(R"({"layer": "Linear", "out": "many"})"),
              HasSubstr("train.json: $.layers[0]: MakeLayer of Linear: out is many (want an "
                        "integer)"));
  EXPECT_THAT(ErrorOf(R"({"layer": "Linear", "out": {}})"),
              HasSubstr("train.json: $.layers[0].out: expected a number, true or false, text or "
                        "a list of whole numbers"));
  EXPECT_THAT(ErrorOf(R"({"layer": "Conv2d", "kernel": [1, "x"]})"),
              HasSubstr("train.json: $.layers[0].kernel[1]: expected a whole number"));
  EXPECT_THAT(ErrorOf(R"({"layer": "NllLoss", "weight": 1})"),
              HasSubstr("train.json: $.layers[0].weight: expected nothing"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("train.json: $.layers: expected 1 to 1000 layers"));
}

// Errors come before data are read, for every key, since --check only parses the file.
TEST(ModelsTest, LayersThatMakeNoSenseAreToldWhenTheFileIsRead) {
  const auto error = [](const std::string& list) {
    return firn::testing::ErrorOf([&] {
      ParseModel(Config::Parse(R"({"name": "layers", "layers": [)" + list + "]}", "train.json"));
    });
  };
  EXPECT_EQ(error(R"({"layer": "Relu"}, {"layer": "Linear", "out": 10})"), "");
  EXPECT_THAT(error(R"({"layer": "Relu"}, {"layer": "Linear", "out": -5})"),
              HasSubstr("train.json: $.layers[1]: nn::Linear: out is -5 (want a positive number"));
  EXPECT_THAT(error(R"({"layer": "Conv2d", "out": 4, "kernel": 3, "padding": "sam"})"),
              HasSubstr("train.json: $.layers[0]: MakeLayer of Conv2d: padding is sam"));
  EXPECT_THAT(error(R"({"layer": "Linear", "outt": 10})"),
              HasSubstr("train.json: $.layers[0]: there is no key \"outt\" (did you mean 'out'?)"));
  // A loss takes two tensors, and a Sequential has layers that take one.
  EXPECT_THAT(error(R"({"layer": "MseLoss"})"),
              HasSubstr("train.json: $.layers[0].layer: expected one that takes one tensor, got "
                        "MseLoss"));
}

std::unique_ptr<nn::Layer> NetOfZoo(const std::string& keys, const Shape& sample, int64_t classes) {
  const Config config = Config::Parse("{" + keys + "}", "train.json");
  const ModelMaker make = ParseModel(config).make;
  config.Finish();
  return make(sample, {classes});
}

TEST(ModelsTest, NetworksOfTheZooStartFromTheWeightsOfAFile) {
  const std::string path = io::TempPath("small.safetensors");
  const auto net = NetOfZoo(R"("name": "small_resnet")", {1, 8, 8}, 10);
  io::Save(path, net->state_dict());
  const std::string keys = R"("name": "small_resnet", "weights": ")" + path + "\"";
  const auto same = NetOfZoo(keys, {1, 8, 8}, 10), other = NetOfZoo(keys, {1, 8, 8}, 4);
  const auto numbers = [](const nn::Layer& of, const char* name) {
    return of.state_dict()[name].ToVector<float>();
  };
  EXPECT_EQ(numbers(*same, "fc.weight"), numbers(*net, "fc.weight"));
  EXPECT_EQ(numbers(*other, "unit2.conv1.weight"), numbers(*net, "unit2.conv1.weight"));
  EXPECT_EQ(other->state_dict()["fc.weight"].shape(), (Shape{4, 64}));  // made anew
  // Only the head may differ.
  EXPECT_THAT(firn::testing::ErrorOf([&] {
                NetOfZoo(keys, {3, 8, 8}, 10);
              }),
              HasSubstr("conv1.weight is [16, 1, 3, 3], the network's is [16, 3, 3, 3]"));
  EXPECT_THAT(firn::testing::ErrorOf([&] {
                NetOfZoo(R"("name": "lenet", "weights": ")" + path + "\"", {1, 8, 8}, 10);
              }),
              HasSubstr("missing"));
}

// The error for a file whose model is this network, "" if it may be. The network is not made.
std::string WhyNot(const std::string& name) {
  return firn::testing::ErrorOf(
      [&] { ParseModel(Config::Parse(R"({"name": ")" + name + R"("})", "train.json")); });
}

TEST(ModelsTest, EveryNetworkOfTheZooIsAcceptedOrItsErrorSaysWhyNot) {
  constexpr int64_t kCheap = 5'000'000;  // parameters of those that are made
  int accepted = 0, made = 0;
  for (const std::string& name : zoo::Names()) {
    const zoo::Network& network = zoo::Find(name);
    const bool image = network.inputs.size() == 1 && network.inputs[0].name == "image";
    const bool classifies = image && network.classes > 0 && !network.of_pixels_or_boxes;
    const std::string why_not = WhyNot(name);
    if (!classifies) {
      if (!why_not.empty()) {
        EXPECT_THAT(why_not, HasSubstr("firn train does not train " + name + ": ")) << name;
      }
      continue;
    }
    EXPECT_EQ(why_not, "") << name;
    ++accepted;
    if (network.parameters > kCheap) continue;
    EXPECT_GT(zoo::Make(name, {.classes = 3})->parameters().size(), 0u) << name;
    ++made;
  }
  EXPECT_GT(accepted, 80);
  EXPECT_GT(made, 15);
  for (const char* name :
       {"resnet18", "vit_b_16", "unet", "deeplab_v3_plus_resnet50", "deeplab_v3_plus_xception65",
        "gpt2", "lstm_lm_small", "lstm_lm_medium", "wavenet", "pointnet"}) {
    EXPECT_EQ(WhyNot(name), "") << name;
  }
  for (const char* name : {"yolo_v2", "yolo_v3", "ssdlite320_mobilenet_v3_large"}) {
    EXPECT_THAT(WhyNot(name), HasSubstr("examples/detector.cc")) << name;
  }
  EXPECT_THAT(WhyNot("dcgan_generator"), HasSubstr("examples/gan.cc"));
  EXPECT_THAT(WhyNot("bert_tiny"), HasSubstr("it gives a state for each token and no scores"));
  EXPECT_THAT(WhyNot("transformer"), HasSubstr("it takes two texts"));
}

TEST(ModelsTest, OptionsOfAFamilyAreKeys) {
  const std::string keys =
      R"("name": "deeplab_v3_plus_resnet50", "units": [1, 1, 1, 1], "output_stride": 32)";
  const auto net = NetOfZoo(keys, {3, 33, 33}, 4);
  net->Eval();
  EXPECT_EQ((*net)(Zeros({1, 3, 33, 33})).shape(), (Shape{1, 4, 33, 33}));
  EXPECT_FALSE(net->state_dict().Contains("backbone.layer1.1.conv1.weight"));
  EXPECT_THAT(firn::testing::ErrorOf([&] {
                NetOfZoo(keys, {1, 33, 33}, 4);
              }),
              HasSubstr("deeplab_v3_plus_resnet50 does not take samples [1, 33, 33]: "));
  EXPECT_THAT(firn::testing::ErrorOf([&] { NetOfZoo(R"("name": "gpt2", "layers": 0)", {4}, 4); }),
              HasSubstr("train.json: $.layers: expected"));
  EXPECT_THAT(firn::testing::ErrorOf([&] { NetOfZoo(R"("name": "gpt2", "heds": 2)", {4}, 4); }),
              HasSubstr("there is no key \"heds\" (did you mean 'heads'?)"));
}

TEST(ModelsTest, ResNetsHaveAFirstLayerForSmallImages) {
  const auto kernel = [](const std::string& keys, int64_t side) {
    const auto net = NetOfZoo(R"("name": "resnet18")" + keys, {1, side, side}, 2);
    return net->state_dict()["conv1.weight"].shape()[2];
  };
  EXPECT_EQ(kernel("", 63), 3);
  EXPECT_EQ(kernel("", 64), 7);
  EXPECT_EQ(kernel(R"(, "small_images": true)", 64), 3);
  EXPECT_EQ(kernel(R"(, "small_images": false)", 32), 7);
  EXPECT_THAT(firn::testing::ErrorOf([&] {
                NetOfZoo(R"("name": "alexnet", "small_images": true)", {3, 64, 64}, 2);
              }),
              HasSubstr("$.small_images: alexnet has no first layer for small images"));
  EXPECT_THAT(firn::testing::ErrorOf([&] {
                NetOfZoo(R"("name": "alexnet")", {1, 64, 64}, 2);
              }),
              HasSubstr("alexnet takes inputs [3, 224, 224]"));
}

// relu(x) W + b of [batch, 4] by W [4, 3], of which nothing but the batch is open.
std::string OnnxFile(int64_t in = 4, std::string batch = "batch") {
  namespace onnx = io::internal;
  onnx::OnnxGraph graph = onnx::Graph(
      {onnx::Node("Relu", {"x"}, {"r"}), onnx::Node("Gemm", {"r", "fc.weight", "fc.bias"}, {"y"})},
      {"x"}, {"y"}, {{"fc.weight", Ones({in, 3})}, {"fc.bias", Zeros({3})}});
  const auto set = [&](onnx::OnnxValueInfo& info, int64_t size) {
    info.type.kind = onnx::OnnxType::Kind::kTensor;
    info.type.element = onnx::OnnxElementOf(DType::kF32);
    info.type.shape.emplace(2);
    (*info.type.shape)[0].name = batch;
    if (batch.empty()) (*info.type.shape)[0].value = 8;
    (*info.type.shape)[1].value = size;
  };
  set(graph.inputs[0], in);
  set(graph.outputs[0], 3);
  const std::string path = io::TempPath("net.onnx");
  EXPECT_TRUE(onnx::WriteOnnxModel(path, onnx::Model(std::move(graph))).ok());
  return path;
}

std::unique_ptr<nn::Layer> NetOfFile(const std::string& path, const Shape& sample) {
  const Config config =
      Config::Parse(R"({"name": "file", "path": ")" + path + R"("})", "train.json");
  const ModelMaker make = ParseModel(config).make;
  config.Finish();
  return make(sample, {3});
}

TEST(ModelsTest, TheNetworkOfAFileIsTrainedOn) {
  const auto net = NetOfFile(OnnxFile(), {4});
  EXPECT_EQ((*net)(Ones({2, 4})).ToVector<float>(), std::vector<float>(6, 4.0f));
  EXPECT_EQ(net->parameters().size(), 2u);
  EXPECT_TRUE(net->state_dict().Contains("fc.weight"));
}

// The same network in NNabla's form: -1 stands for the batch, and the file has another batch size.
TEST(ModelsTest, TheNetworkOfAnNnablaModelIsTrainedOnInBatchesOfAnySize) {
  const StateDict state{{"fc.W", Ones({4, 3}).SetRequiresGrad()}};
  const StaticGraph graph = Freeze(
      [&](const Tensor& x) {
        return Matmul(Relu(Reshape(x, {x.size(0), 4})), state["fc.W"]);
      },
      Zeros({3, 1, 2, 2}));
  const std::string path = io::TempPath("net.nnp");
  io::ExportNnabla(path, graph.graph(), {.dynamic_batch = true, .names = state});
  const auto net = NetOfFile(path, {1, 2, 2});
  for (const int64_t batch : {2, 5}) {
    EXPECT_EQ((*net)(Ones({batch, 1, 2, 2})).ToVector<float>(),
              std::vector<float>(static_cast<size_t>(batch) * 3, 4.0f));
  }
  EXPECT_EQ(net->parameters().size(), 1u);

  io::ExportNnabla(path, graph.graph(), {.names = state});  // of one size
  EXPECT_THAT(
      firn::testing::ErrorOf([&] {
        NetOfFile(path, {1, 2, 2});
      }),
      HasSubstr("a network that takes batches of any size, got one that takes [3, 1, 2, 2]"));
}

TEST(ModelsTest, FilesThatDoNotFitAreRefused) {
  const auto error = [](const std::string& path, const Shape& sample) {
    return firn::testing::ErrorOf([&] { NetOfFile(path, sample); });
  };
  EXPECT_THAT(error(OnnxFile(5), {4}), HasSubstr("takes batches [batch, 5], a sample is [4]"));
  EXPECT_THAT(
      error(OnnxFile(4, ""), {4}),
      HasSubstr("expected a network that takes batches of any size, got one that takes [8, 4]"));
  const std::string text = io::TempPath("net.txt");
  io::WriteFile(text, "x");
  EXPECT_THAT(error(text, {4}), HasSubstr("expected a file of a network, such as .onnx or .nnp"));
}

}  // namespace
}  // namespace firn::cli

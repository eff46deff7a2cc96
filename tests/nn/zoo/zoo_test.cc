// Every network of the zoo against PyTorch's: names and shapes, the result in evaluation mode, a
// training step; and Firn's own conversions: frozen, or exported to ONNX and imported again, it
// gives the same bits.
#include "firn/nn/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/hash_values.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/freeze_list.h"
#include "firn/autograd/graph/quantize.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/nn/clone.h"
#include "firn/nn/summary.h"
#include "firn/optim/optimizers.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/precision.h"
#include "tests/io/test_files.h"
#include "tests/nn/zoo/reference.h"

namespace firn::zoo {
namespace {

using testing::ZooReference;

class Zoo : public ::testing::TestWithParam<std::string> {
 protected:
  // Uses direct sums, whose rounding is nearly that of PyTorch in f64.
  void SetUp() override { SetWinogradAllowed(false); }
  void TearDown() override { SetWinogradAllowed(true); }
};

std::unique_ptr<nn::Module> Filled(const std::string& name) {
  std::unique_ptr<nn::Module> net = testing::MakeFromZoo(name, {.dropout = 0});
  testing::FillByNames(*net);
  return net;
}

TEST_P(Zoo, HasThePublishedParameters) {
  const Network& network = Find(GetParam());
  const ZooReference want = testing::ReadZooReference(GetParam());
  const std::unique_ptr<nn::Module> net = testing::MakeFromZoo(GetParam());
  EXPECT_EQ(testing::NamesOf(*net), want.names) << *net;
  EXPECT_EQ(net->num_parameters(), want.parameters);
  EXPECT_EQ(network.parameters, want.parameters);
}

void ToF64(nn::Module& net, std::vector<Tensor>& inputs) {
  net.To(DType::kF64);
  for (Tensor& x : inputs) {
    if (IsFloating(x.dtype())) x = x.To(DType::kF64);
  }
}

// Deep networks without statistics of their own make roundings of f32 as large as their results:
// PyTorch's f32 and f64 differ as well, and both are f64 here.
TEST_P(Zoo, GivesWhatPyTorchGives) {
  const ZooReference want = testing::ReadZooReference(GetParam());
  const std::unique_ptr<nn::Module> net = Filled(GetParam());
  net->Eval();
  const NoGradScope no_grad;
  std::vector<Tensor> inputs = testing::InputsOf(want);
  if (want.single > 0) ToF64(*net, inputs);
  const Tensor y = Call(*net, inputs);
  ASSERT_EQ(y.shape(), Shape(want.shape));
  EXPECT_NEAR(Amax(Abs(y)).Item(), want.largest, 1e-5 * want.largest);
  const std::vector<double> got = testing::Spread(y, want.values.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want.values[i], 1e-5 * want.largest) << i;
  }
}

// Computes in f64: after a step, roundings of f32 may change the loss.
TEST_P(Zoo, TrainsAStepAsPyTorchDoes) {
  const ZooReference want = testing::ReadZooReference(GetParam());
  const std::unique_ptr<nn::Module> net = Filled(GetParam());
  std::vector<Tensor> inputs = testing::InputsOf(want);
  {
    const NoGradScope no_grad;
    const std::unique_ptr<nn::Module> same = Filled(GetParam());
    EXPECT_NEAR(testing::ZooLoss(Call(*same, inputs)).Item(), want.losses[0],
                1e-4 * std::abs(want.losses[0]));
  }
  ToF64(*net, inputs);
  optim::Sgd sgd(net->parameters(), {.lr = testing::kZooRate});
  for (const double loss : want.losses) {
    sgd.ZeroGrad();
    const Tensor got = testing::ZooLoss(Call(*net, inputs));
    EXPECT_NEAR(got.Item(), loss, 1e-7 * std::abs(loss));
    got.Backward();
    sgd.Step();
  }
}

// Gates of recurrent layers stand in another order in ONNX files: if a product divides its columns
// by the processor's vectors, their numbers may be rounded differently.
bool HasGates(const nn::Module& net) {
  for (const nn::NamedModule& m : net.named_modules()) {
    const std::string type = m.module->type_name();
    if (type.find("Lstm") != std::string::npos || type.find("Gru") != std::string::npos)
      return true;
  }
  return false;
}

TEST_P(Zoo, FreezesExportsAndIsReadAgainWithTheSameBits) {
  const ZooReference want = testing::ReadZooReference(GetParam());
  const std::unique_ptr<nn::Module> net = Filled(GetParam());
  net->Eval();
  const NoGradScope no_grad;
  const std::vector<Tensor> inputs = testing::InputsOf(want);
  const Tensor y = Call(*net, inputs);
  StaticGraph graph = Freeze([&](const std::vector<Tensor>& in) { return Call(*net, in); }, inputs);
  const auto bits = y.ToVector<float>();
  EXPECT_EQ(graph.Call(inputs)[0].ToVector<float>(), bits);
  const std::string path = io::TempPath("net.onnx");
  // Newer operators keep attention whole.
  const io::OnnxExportOptions file = {.opset = 23, .names = net->state_dict()};
  EXPECT_TRUE(io::ExportOnnx(path, graph, file).warnings.empty());
  const Tensor again = io::ImportOnnx(path).network.Call(inputs)[0];
  if (HasGates(*net)) {
    EXPECT_TRUE(Allclose(again, y, {.rtol = 0, .atol = 1e-5 * want.largest}));
  } else {
    EXPECT_EQ(again.ToVector<float>(), bits);
  }
}

// Whether it takes one image and gives a score for each class.
bool ClassifiesImages(const Network& network) {
  return network.classes > 0 && !network.of_pixels_or_boxes && network.inputs.size() == 1 &&
         network.inputs[0].shape.rank() == 3 && network.inputs[0].count == 0;
}

TEST_P(Zoo, GivesNearlyTheSameInBytes) {
  if (!ClassifiesImages(Find(GetParam()))) GTEST_SKIP() << "it does not classify images";
  const ZooReference want = testing::ReadZooReference(GetParam());
  if (want.single > 0) GTEST_SKIP() << "of such weights f32 keeps too few digits already";
  const std::unique_ptr<nn::Module> net = Filled(GetParam());
  net->Eval();
  const NoGradScope no_grad;
  const std::vector<Tensor> inputs = testing::InputsOf(want);
  const auto forward = [&](absl::Span<const Tensor> in) { return TensorList{Call(*net, in)}; };
  Captured captured = Capture(forward, inputs);
  // Ranges come from other images than the one whose result is compared.
  const Tensor calibration = benchmarks::HashValues(inputs[0].shape(), 3000, 2);
  StaticGraph graph =
      StaticGraph::Compile(Quantize(captured.graph, {{calibration}}).value()).value();
  const Tensor y = captured.outputs[0].Flatten(), bytes = graph.Call(inputs)[0].Flatten();
  EXPECT_GT(CosineSimilarity(y, bytes, 0).Item(), 0.97);
}

// How a number of multiply-adds was counted and published, in thousands of millions.
struct PublishedCount {
  double others = 0;         // what it has besides products and convolutions
  double rounding = 0.0006;  // three decimals
};

PublishedCount CountOf(const std::string& network) {
  // Two decimals, with five operations for each element of 25 layer norms.
  if (network == "vit_ti_16") return {25 * 197 * 192 * 5 / 1e9, 0.005};
  if (network == "vit_s_16") return {25 * 197 * 384 * 5 / 1e9, 0.005};
  if (network == "xception") return {.rounding = 0.05};  // one decimal
  // Half of Darknet's "Bn" of two decimals, which count a multiply-add as two operations.
  if (network == "yolo_v2" || network == "yolo_v3") return {.rounding = 0.005};
  return {};
}

// Products and convolutions of one sample of the published size.
int64_t CountedMultiplyAdds(const Network& network) {
  const std::unique_ptr<nn::Module> net = MakeModule(network.name);
  std::vector<Tensor> inputs;
  for (const Input& input : network.inputs) {
    std::vector<int64_t> sizes = {1};
    sizes.insert(sizes.end(), input.shape.begin(), input.shape.end());
    inputs.push_back(Zeros(Shape(sizes), input.count > 0 ? DType::kI64 : DType::kF32));
  }
  return nn::Summarise(*net, "", [&] { Call(*net, inputs); }).multiply_adds;
}

TEST_P(Zoo, HasThePublishedMultiplyAdds) {
  const Network& network = Find(GetParam());
  if (network.giga_multiply_adds == 0) GTEST_SKIP() << "they are not published";
  if (network.family == "Senet") GTEST_SKIP() << "Senet.HasTheMultiplyAddsOfThePaper";
  const PublishedCount count = CountOf(GetParam());
  EXPECT_NEAR(static_cast<double>(CountedMultiplyAdds(network)) / 1e9 + count.others,
              network.giga_multiply_adds, count.rounding);
}

// The layers of the published networks, counted without Firn.
class SenetCount {
 public:
  SenetCount(const std::vector<int64_t>& units, bool grouped) {
    Conv(3, 64, grouped ? 3 : 7, 112);
    if (grouped) Conv(64, 64, 3, 112), Conv(64, 128, 3, 112);
    int64_t in = grouped ? 128 : 64, side = 56;  // behind a pooling
    for (size_t stage = 0; stage < 4; ++stage) {
      const int64_t width = int64_t{64} << stage, out = 4 * width;
      for (int64_t unit = 0; unit < units[stage]; ++unit, in = out) {
        const int64_t before = side;
        if (stage > 0 && unit == 0) side /= 2;
        // The stride is that of the first convolution in se_resnet50, of the second in senet154,
        // which also shrinks its shortcuts by 3x3.
        Conv(in, grouped ? 2 * width : width, 1, grouped ? before : side);
        Conv(grouped ? 2 * width : width, grouped ? out : width, 3, side, grouped ? 64 : 1);
        Conv(grouped ? out : width, out, 1, side);
        products += 2 * out * (out / 16);  // the gate's two layers
        if (unit == 0) Conv(in, out, grouped && stage > 0 ? 3 : 1, side);
      }
    }
    products += 2048 * 1000;
  }

  int64_t products = 0, elements = 0;  // elements: of the results of convolutions

 private:
  void Conv(int64_t in, int64_t out, int64_t kernel, int64_t side, int64_t groups = 1) {
    products += side * side * out * (in / groups) * kernel * kernel;
    elements += side * side * out;
  }
};

// The authors' numbers, of two decimals, are larger than their products and convolutions, and what
// else they count is not published. So products are compared with a count by hand; the published
// number may have up to four operations more for each element of a convolution's result (two of a
// batch norm, one of a gate, one of a sum).
TEST(Senet, HasTheMultiplyAddsOfThePaper) {
  const std::pair<const char*, SenetCount> networks[] = {{"se_resnet50", {{3, 4, 6, 3}, false}},
                                                         {"senet154", {{3, 8, 36, 3}, true}}};
  for (const auto& [name, count] : networks) {
    const std::vector<std::string> chosen = testing::ChosenNetworks();
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) continue;  // for its size
    SCOPED_TRACE(name);
    const Network& network = Find(name);
    EXPECT_EQ(CountedMultiplyAdds(network), count.products);
    EXPECT_GE(network.giga_multiply_adds * 1e9, static_cast<double>(count.products));
    EXPECT_LE(network.giga_multiply_adds * 1e9,
              static_cast<double>(count.products + 4 * count.elements));
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Zoo, ::testing::ValuesIn(testing::ChosenNetworks()),
                         [](const auto& param) { return param.param; });

std::string ErrorOf(const std::string& name, const Options& options = {}) {
  try {
    Make(name, options);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(ZooNames, WhatANetworkDoesNotTakeIsRefused) {
  using ::testing::HasSubstr;
  EXPECT_THAT(ErrorOf("resnet_50"), HasSubstr("there is no network 'resnet_50'"));
  EXPECT_THAT(ErrorOf("resnet_50"), HasSubstr("resnet50"));
  EXPECT_THAT(ErrorOf("alexnet", {.channels = 1}), HasSubstr("alexnet takes inputs [3, 224, 224]"));
  EXPECT_THAT(ErrorOf("alexnet", {.small_images = true}),
              HasSubstr("no first layer for small images"));
  EXPECT_THAT(ErrorOf("resnet18", {.classes = -1}), HasSubstr("got -1"));
  EXPECT_THAT(ErrorOf("resnet18", {.channels = -1}), HasSubstr("got -1"));
  EXPECT_THAT(ErrorOf("densenet121", {.dropout = 2}), HasSubstr("at most 1"));
  EXPECT_THAT(ErrorOf("transformer"), HasSubstr("takes 2 tensors"));
  const std::unique_ptr<nn::Module> net = MakeModule("mlp");
  EXPECT_THROW(Call(*net, {Zeros({1, 64}), Zeros({1, 64})}), Error);
}

TEST(ZooNames, ResNetsTakeSmallImagesOfAnyChannels) {
  const std::unique_ptr<nn::Layer> net =
      Make("resnet18", {.classes = 4, .channels = 1, .small_images = true});
  EXPECT_EQ(net->state_dict()["conv1.weight"].shape(), Shape({64, 1, 3, 3}));
  EXPECT_EQ((*net)(Zeros({2, 1, 16, 16})).shape(), Shape({2, 4}));
}

TEST(ZooNames, ANetworkIsCloned) {
  const std::unique_ptr<nn::Layer> net = Make("squeezenet1_1", {.classes = 3});
  net->Eval();
  const std::unique_ptr<nn::Layer> twin = nn::Clone(*nn::Clone(*net));
  const Tensor x = Rand({1, 3, 64, 64});
  EXPECT_EQ((*twin)(x).ToVector<float>(), (*net)(x).ToVector<float>());
}

TEST(ZooNames, ClassesHaveNames) {
  EXPECT_EQ(ClassNames("imagenet").size(), 1000u);
  EXPECT_EQ(ClassNames("imagenet")[281], "tabby");
  EXPECT_EQ(ClassNames("coco").size(), 80u);
  EXPECT_EQ(ClassNames("voc").size(), 20u);
  EXPECT_EQ(ClassNames("voc_21")[15], "person");
  // The numbers of COCO's annotations.
  const std::vector<std::string>& numbered = ClassNames("coco_91");
  EXPECT_EQ(numbered[0], "background");
  EXPECT_EQ(numbered[12], "N/A");
  EXPECT_EQ(numbered[18], "dog");
  EXPECT_EQ(numbered[90], "toothbrush");
  std::vector<std::string> named;
  std::copy_if(numbered.begin() + 1, numbered.end(), std::back_inserter(named),
               [](const std::string& name) { return name != "N/A"; });
  EXPECT_EQ(named, ClassNames("coco"));
  EXPECT_THROW(ClassNames("imagenette"), Error);
  for (const std::string& name : Names()) {
    const Network& network = Find(name);
    if (network.class_set.empty()) continue;
    EXPECT_EQ(network.classes, static_cast<int64_t>(ClassNames(network.class_set).size())) << name;
  }
}

TEST(ZooNames, ANetworkOfEveryFamilyIsTried) {
  if (std::getenv("FIRN_ZOO") != nullptr) GTEST_SKIP() << "FIRN_ZOO chooses";
  std::set<std::string> all, tried;
  for (const std::string& name : Names()) all.insert(Find(name).family);
  for (const std::string& name : testing::ChosenNetworks()) tried.insert(Find(name).family);
  EXPECT_EQ(tried, all);
}

TEST(ZooNames, EveryNetworkHasAReference) { EXPECT_EQ(Names(), testing::ZooReferences()); }

}  // namespace
}  // namespace firn::zoo

// Networks of the examples as ONNX files: read again, they give the same bits, also for batches of
// another size; their nodes are those that other programs expect, under the names of modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "examples/models.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/onnx/internal/onnx_check.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/nn/embedding.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/norm.h"
#include "firn/nn/recurrent.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

struct Exported {
  OnnxExportReport report;
  internal::OnnxModel model;
  OnnxImport again;
};

Exported Export(nn::Layer& net, const Tensor& x, OnnxExportOptions options = {}) {
  NoGradScope no_grad;
  net.Eval();
  net(x);  // layers learn the sizes of their inputs
  const StaticGraph graph = Freeze([&](const Tensor& in) { return net(in); }, x);
  const std::string path = TempPath("net.onnx");
  options.names = net.state_dict();
  Exported e;
  e.report = ExportOnnx(path, graph, options);
  e.model = *internal::ReadOnnxModel(path);
  e.again = ImportOnnx(path);
  return e;
}

void ExpectSameBits(nn::Layer& net, const OnnxImport& again, const Tensor& x) {
  NoGradScope no_grad;
  const Tensor want = net(x), got = again.network(x);
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_EQ(got.ToVector<float>(), want.ToVector<float>());
}

std::vector<const internal::OnnxNode*> NodesOf(const internal::OnnxModel& model,
                                               const std::string& op) {
  std::vector<const internal::OnnxNode*> nodes;
  for (const internal::OnnxNode& node : model.graph.nodes) {
    if (node.op_type == op) nodes.push_back(&node);
  }
  return nodes;
}

// Sets running statistics that differ from those of a new network.
void Train(nn::Layer& net, const Tensor& x) {
  net.Train();
  net(x);
  net(x * 2 + 1);
}

TEST(OnnxExportNetworks, ExamplesComeBackWithTheSameBits) {
  ManualSeed(1);
  for (const char* name : {"lenet", "mlp", "resnet", "deep_cnn"}) {
    SCOPED_TRACE(name);
    const std::unique_ptr<nn::Layer> net = *examples::MakeModel(name, 1);
    const Tensor x = Randn({3, 1, 8, 8});
    Train(*net, x);
    for (const int opset : {13, 18, 23}) {
      SCOPED_TRACE(opset);
      const Exported e = Export(*net, x, {.opset = opset});
      EXPECT_TRUE(e.report.warnings.empty());
      ExpectSameBits(*net, e.again, x);
    }
    const Exported e = Export(*net, x, {.dynamic_batch = true});
    EXPECT_EQ((*e.model.graph.inputs[0].type.shape)[0].name, "N");
    EXPECT_EQ((*e.model.graph.outputs[0].type.shape)[0].name, "N");
    ExpectSameBits(*net, e.again, x);
    ExpectSameBits(*net, e.again, Randn({5, 1, 8, 8}));
    ExpectSameBits(*net, e.again, Randn({1, 1, 8, 8}));
  }
}

TEST(OnnxExportNetworks, BatchNormsAreOneNodeUnderTheirModulesNames) {
  examples::Lenet net;
  const Tensor x = Ones({3, 1, 8, 8});
  Train(net, x);
  const Exported e = Export(net, x, {.opset = 21, .metadata = {{"trained", "on digits"}}});
  const auto norms = NodesOf(e.model, "BatchNormalization");
  ASSERT_EQ(norms.size(), 2u);
  EXPECT_EQ(norms[0]->name, "lenet.bn1/BatchNormalization");
  EXPECT_EQ(
      std::vector<std::string>(norms[0]->inputs.begin() + 1, norms[0]->inputs.end()),
      (std::vector<std::string>{"bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var"}));
  std::vector<std::string> operators;
  for (const internal::OnnxNode& node : e.model.graph.nodes) operators.push_back(node.op_type);
  EXPECT_EQ(operators, (std::vector<std::string>{"Conv", "BatchNormalization", "Relu", "MaxPool",
                                                 "Conv", "BatchNormalization", "Relu", "MaxPool",
                                                 "Flatten", "Gemm", "Relu", "Gemm"}));
  EXPECT_EQ(norms[1]->metadata,
            (decltype(norms[1]->metadata){{"firn.module", "lenet.bn2"},
                                          {"firn.operation", "channel_affine"}}));
  EXPECT_THAT(e.again.report.metadata,
              ::testing::Contains(::testing::Pair("trained", "on digits")));
  // The import knows which parameters are trained.
  EXPECT_EQ(e.again.network.buffers().size(), 4u);
  EXPECT_EQ(e.again.state.size(), net.state_dict().size() - 2);  // without num_batches_tracked
}

TEST(OnnxExportNetworks, ElementsBesideTheFileAreFoundAgain) {
  examples::Mlp net;
  const Tensor x = Uniform({3, 1, 8, 8}, -1, 1);
  const Exported e = Export(net, x, {.external_data = true});
  size_t beside = 0;
  for (const internal::OnnxTensor& t : e.model.graph.initializers) beside += t.external.has_value();
  EXPECT_GT(beside, 0u);
  ExpectSameBits(net, e.again, x);
}

// Forward, loss and gradients are ordinary nodes.
TEST(OnnxExportNetworks, ATrainingStepGivesItsGradients) {
  examples::Mlp net;
  const Tensor x = Uniform({3, 1, 8, 8}, -1, 1);
  const Tensor labels = Arange(3);
  net(x);
  StaticGraph step = Freeze(
      [&](const Tensor& in, const Tensor& classes) {
        for (Tensor parameter : net.parameters()) parameter.ZeroGrad();
        const Tensor loss = CrossEntropy(net(in), classes);
        loss.Backward();
        return loss;
      },
      x, labels);
  const std::string path = TempPath("step.onnx");
  const OnnxExportReport report = ExportOnnx(path, step, {.names = net.state_dict()});
  EXPECT_EQ(report.outputs.size(), 5u);
  EXPECT_EQ(report.warnings.size(), 4u);
  const Tensor in[] = {x, labels};
  NoGradScope no_grad;
  const TensorList got = ImportOnnx(path).network.Call(in);
  EXPECT_TRUE(Allclose(got[0], step(x, labels)));
  size_t found = 0;
  for (const auto& [name, parameter] : net.named_parameters()) {
    const auto at = std::find(report.outputs.begin(), report.outputs.end(), name + ".grad");
    ASSERT_NE(at, report.outputs.end()) << name;
    const Tensor& grad = got[static_cast<size_t>(at - report.outputs.begin())];
    EXPECT_TRUE(Allclose(grad, parameter.grad(), {.rtol = 1e-5, .atol = 1e-6})) << name;
    ++found;
  }
  EXPECT_EQ(found, 4u);
}

constexpr int64_t kWidth = 16, kHeads = 2;

// The same attention as in examples/gpt.cc.
struct Block : nn::Layer {
  nn::LayerNorm& norm1 = Add<nn::LayerNorm>("norm1");
  nn::Linear& qkv = Add<nn::Linear>("qkv", {.in = kWidth, .out = 3 * kWidth});
  nn::Linear& project = Add<nn::Linear>("project", {.in = kWidth, .out = kWidth});
  nn::LayerNorm& norm2 = Add<nn::LayerNorm>("norm2");
  nn::Linear& grow = Add<nn::Linear>("grow", {.in = kWidth, .out = 4 * kWidth});
  nn::Linear& shrink = Add<nn::Linear>("shrink", {.in = 4 * kWidth, .out = kWidth});

  Tensor Forward(const Tensor& x) override {
    const auto h = Unbind(Unflatten(qkv(norm1(x)), 2, {3, kHeads, -1}).Permute({2, 0, 3, 1, 4}));
    const Tensor at = Arange(x.size(1));
    const Tensor q = RotaryEmbedding(h[0], {.positions = at});
    const Tensor k = RotaryEmbedding(h[1], {.positions = at});
    const Tensor found = ScaledDotProductAttention(q, k, h[2], {.is_causal = true});
    const Tensor y = x + project(found.Transpose(1, 2).Flatten(2));
    return y + shrink(Gelu(grow(norm2(y))));
  }
};

struct Gpt : nn::Layer {
  Gpt() {
    for (int i = 0; i < 2; ++i) blocks.Append();
  }
  nn::Embedding& embedding = Add<nn::Embedding>("embedding", {.count = 32, .size = kWidth});
  nn::ModuleList<Block>& blocks = Add<nn::ModuleList<Block>>("blocks");
  nn::LayerNorm& norm = Add<nn::LayerNorm>("norm");
  nn::Linear& head = Add<nn::Linear>("head", {.in = kWidth, .out = 32});

  Tensor Forward(const Tensor& text) override {
    Tensor x = embedding(text);
    for (Block& block : blocks) x = block(x);
    return head(norm(x));
  }
};

TEST(OnnxExportNetworks, ATransformerComesBackWithTheSameBits) {
  ManualSeed(2);
  Gpt net;
  const Tensor text = Randint(0, 32, {3, 7});
  const Exported e = Export(net, text, {.opset = 23});
  EXPECT_EQ(NodesOf(e.model, "Attention").size(), 2u);
  EXPECT_EQ(NodesOf(e.model, "LayerNormalization").size(), 5u);
  EXPECT_EQ(NodesOf(e.model, "Gelu").size(), 2u);
  ExpectSameBits(net, e.again, text);
  const Exported dynamic = Export(net, text, {.opset = 23, .dynamic_batch = true});
  ExpectSameBits(net, dynamic.again, text);
  ExpectSameBits(net, dynamic.again, Randint(0, 32, {5, 7}));
}

// Sums of so many products are made in parts, and the bias is the first of them.
TEST(OnnxExportNetworks, LinearLayersOfManyFeaturesComeBackWithTheSameBits) {
  ManualSeed(4);
  nn::Linear net({.in = 3000, .out = 20});
  for (const Shape& shape : {Shape({5, 2, 3000}), Shape({5, 2, 3, 3000}), Shape({3000})}) {
    SCOPED_TRACE(shape.ToString());
    const Tensor x = Randn(shape);
    ExpectSameBits(net, Export(net, x, {.dynamic_batch = shape.rank() > 1}).again, x);
  }
  const Exported dynamic = Export(net, Randn({5, 2, 3000}), {.dynamic_batch = true});
  ExpectSameBits(net, dynamic.again, Randn({3, 2, 3000}));
}

// Older opsets have to write attention and Gelu as several nodes, which round differently.
TEST(OnnxExportNetworks, ATransformerOfOlderOperatorsIsNear) {
  ManualSeed(3);
  Gpt net;
  const Tensor text = Randint(0, 32, {3, 7});
  const Exported e = Export(net, text, {.opset = 17});
  NoGradScope no_grad;
  EXPECT_TRUE(Allclose(e.again.network(text), net(text), {.rtol = 1e-5, .atol = 1e-5}));
}

}  // namespace
}  // namespace firn::io

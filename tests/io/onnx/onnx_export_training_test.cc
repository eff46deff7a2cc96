// Training steps as ONNX files: the loss, the gradients and the optimizer's updates are ordinary
// nodes. Read again, they move parameters as the captured step does.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "firn/autograd/graph/evaluation.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/embedding.h"
#include "firn/nn/linear.h"
#include "firn/nn/norm.h"
#include "firn/nn/recurrent.h"
#include "firn/optim/adam.h"
#include "firn/optim/clip.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

const Tensor& OutputOf(const OnnxExportReport& report, const TensorList& outputs,
                       const std::string& name) {
  const auto at = std::find(report.outputs.begin(), report.outputs.end(), name);
  EXPECT_NE(at, report.outputs.end()) << name;
  return outputs[static_cast<size_t>(at - report.outputs.begin()) % outputs.size()];
}

// Captures a step, exports it, reads it again and compares the new states that both make of the
// same ones.
void ExpectTheSameStep(nn::Layer& net, optim::Optimizer& optimizer, const Tensor& x,
                       const Tensor& labels) {
  const auto train = [&](const Tensor& in, const Tensor& classes) {
    optimizer.ZeroGrad();
    const Tensor loss = CrossEntropy(net(in), classes, {.label_smoothing = 0.1});
    loss.Backward();
    optim::ClipGradNorm(net.parameters(), 1);
    optimizer.Step();
    return loss;
  };
  train(x, labels);  // optimizers make their state in the first step
  StaticGraph step = Freeze(train, x, labels);
  for (const int opset : {18, 23}) {
    SCOPED_TRACE(opset);
    const std::string path = TempPath("training.onnx");
    const OnnxExportReport report =
        ExportOnnx(path, step, {.opset = opset, .names = net.state_dict()});
    const Tensor in[] = {x, labels};
    TensorList got;
    {
      NoGradScope no_grad;
      got = ImportOnnx(path).network.Call(in);
    }
    const Tensor loss = step(x, labels);
    EXPECT_TRUE(Allclose(got[0], loss, {.rtol = 1e-5, .atol = 1e-6}));
    for (const auto& [name, state] : net.state_dict()) {
      const Tensor next = OutputOf(report, got, name + ".next");
      EXPECT_TRUE(Allclose(next, state.Detach(), {.rtol = 1e-4, .atol = 1e-5})) << name;
    }
  }
}

// Has no biases whose gradient is 0 but for rounding, since Adam would make whole steps of it.
struct Convolutions : nn::Layer {
  nn::Conv2d& first =
      Add<nn::Conv2d>("first", {.in = 3, .out = 8, .kernel = 3, .padding = 1, .bias = false});
  nn::BatchNorm2d& norm = Add<nn::BatchNorm2d>("norm", {.channels = 8});
  nn::Conv2d& apart =
      Add<nn::Conv2d>("apart", {.in = 8, .out = 8, .kernel = 3, .stride = 2, .groups = 8});
  nn::GroupNorm& groups = Add<nn::GroupNorm>("groups", {.groups = 2, .channels = 8});
  nn::Linear& head = Add<nn::Linear>("head", {.in = 8, .out = 5});

  Tensor Forward(const Tensor& x) override {
    Tensor y = MaxPool2d(Relu(norm(first(x))), 2);
    y = Interpolate(y, {.size = {11, 13}, .mode = InterpolateMode::kCubic});
    y = AvgPool2d(Silu(groups(apart(y))), {.kernel = 2, .stride = 1});
    return head(AdaptiveAvgPool2d(y, 1).Flatten(1));
  }
};

TEST(OnnxExportTraining, OfConvolutionsWithAdam) {
  ManualSeed(1);
  Convolutions net;
  optim::Adam adam(net.parameters(), {.lr = 1e-2, .amsgrad = true});
  ExpectTheSameStep(net, adam, Randn({4, 3, 16, 16}), Randint(0, 5, {4}));
}

constexpr int64_t kWidth = 16, kHeads = 2, kWords = 20;

struct Reader : nn::Layer {
  nn::Embedding& words = Add<nn::Embedding>("words", {.count = kWords, .size = kWidth});
  nn::LayerNorm& norm = Add<nn::LayerNorm>("norm", {.shape = {kWidth}});
  nn::Linear& qkv = Add<nn::Linear>("qkv", {.in = kWidth, .out = 3 * kWidth, .bias = false});
  nn::Linear& head = Add<nn::Linear>("head", {.in = kWidth, .out = kWords});

  Tensor Forward(const Tensor& text) override {
    const Tensor x = words(text);
    const auto h = Unbind(Unflatten(qkv(norm(x)), 2, {3, kHeads, -1}).Permute({2, 0, 3, 1, 4}));
    const Tensor found = ScaledDotProductAttention(h[0], h[1], h[2], {.is_causal = true});
    return Mean(head(Gelu(x + found.Transpose(1, 2).Flatten(2))), 1);
  }
};

TEST(OnnxExportTraining, OfAttentionWithAdamW) {
  ManualSeed(2);
  Reader net;
  optim::AdamW adam(net.parameters(), {.lr = 1e-2});
  ExpectTheSameStep(net, adam, Randint(0, kWords, {3, 6}), Randint(0, kWords, {3}));
}

template <class Recurrent>
struct Listener : nn::Layer {
  Recurrent& layers = Add<Recurrent>("layers", {.in = 4, .hidden = 6, .bidirectional = true});
  nn::Linear& head = Add<nn::Linear>("head", {.in = 12, .out = 3});
  Tensor Forward(const Tensor& x) override { return head(Mean(layers(x), 0)); }
};

TEST(OnnxExportTraining, OfRecurrentLayersWithMomentum) {
  ManualSeed(3);
  const Tensor x = Randn({5, 2, 4}), labels = Randint(0, 3, {2});
  Listener<nn::Lstm> lstm;
  optim::Sgd of_lstm(lstm.parameters(), {.lr = 0.1, .momentum = 0.9, .nesterov = true});
  ExpectTheSameStep(lstm, of_lstm, x, labels);
  Listener<nn::Gru> gru;
  optim::Sgd of_gru(gru.parameters(), {.lr = 0.1, .momentum = 0.9});
  ExpectTheSameStep(gru, of_gru, x, labels);
}

// The dropped elements are not known, but they are the same in both directions.
TEST(OnnxExportTraining, GradientsAreDroppedAsElementsWere) {
  Tensor w = Ones({37});
  w.SetRequiresGrad(true);
  StaticGraph step = Freeze(
      [&](const Tensor& x) {
        w.ZeroGrad();
        const Tensor y = Dropout(w * x, 0.5, true);
        Sum(y).Backward();
        return y;
      },
      Ones({37}));
  const std::string path = TempPath("dropout.onnx");
  const OnnxExportReport report = ExportOnnx(path, step, {.names = {{"w", w}}});
  NoGradScope no_grad;
  const Tensor in[] = {Ones({37})};
  const TensorList got = ImportOnnx(path).network.Call(in);
  EXPECT_EQ(OutputOf(report, got, "w.grad").ToVector<float>(), got[0].ToVector<float>());
  EXPECT_GT(Sum(got[0]).Item<float>(), 0);
}

// What remains of a step is the network in evaluation mode, with the parameters that it has learnt.
TEST(OnnxExportTraining, OfAStepTurnedIntoItsEvaluation) {
  ManualSeed(4);
  Convolutions net;
  optim::Adam adam(net.parameters(), {.lr = 1e-2});
  const Tensor x = Randn({4, 3, 16, 16}), labels = Randint(0, 5, {4});
  const auto train = [&](const Tensor& in, const Tensor& classes) {
    adam.ZeroGrad();
    const Tensor scores = Dropout(net(in), 0.5, true);
    CrossEntropy(scores, classes).Backward();
    adam.Step();
    return scores;
  };
  train(x, labels);
  StaticGraph step = Freeze(train, x, labels);
  for (int i = 0; i < 3; ++i) step(x, labels);
  const absl::StatusOr<inner::Graph> evaluation = ToEvaluation(step.captured());
  ASSERT_TRUE(evaluation.ok()) << evaluation.status();
  const std::string path = TempPath("evaluation.onnx");
  const OnnxExportReport report = ExportOnnx(path, *evaluation, {.names = net.state_dict()});
  EXPECT_EQ(report.outputs.size(), 1u);
  EXPECT_TRUE(report.warnings.empty());
  net.Eval();
  const NoGradScope no_grad;
  const OnnxImport again = ImportOnnx(path);
  for (const Tensor& in : {x, Randn({4, 3, 16, 16})}) {
    const TensorList got = again.network.Call({in, labels});
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(Allclose(got[0], net(in), {.rtol = 1e-5, .atol = 1e-6}));
  }
}

// From opset 28 on runtimes may compute the logarithm of the sum of powers as it stands.
TEST(OnnxExportTraining, LossesOfLargeNumbersStayFinite) {
  Tensor logits = FromVector<float>({1000, 0, 3, 1000}, {2, 2});
  logits.SetRequiresGrad(true);
  StaticGraph step = Freeze(
      [&](const Tensor& classes) {
        logits.ZeroGrad();
        const Tensor loss = CrossEntropy(logits, classes);
        loss.Backward();
        return loss;
      },
      FromVector<int64_t>({0, 1}));
  const std::string path = TempPath("losses.onnx");
  for (const int opset : {27, 28}) {
    ExportOnnx(path, step, {.opset = opset, .names = {{"logits", logits}}});
    EXPECT_EQ(ReadFile(path).find("ReduceMax") != std::string::npos, opset == 28);
  }
}

}  // namespace
}  // namespace firn::io

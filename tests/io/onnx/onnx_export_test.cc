// Captured graphs as ONNX files: what their nodes, names and sizes are. onnx_export_python_test.py
// compares results with ONNX Runtime's.
#include "firn/io/onnx/onnx_export.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/io/onnx/internal/onnx_check.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using internal::OnnxModel;

Captured CaptureOne(CaptureFn fn, const Tensor& x) {
  NoGradScope no_grad;
  const Tensor in[] = {x};
  return Capture(fn, in);
}

OnnxModel Read(const std::string& path) {
  absl::StatusOr<OnnxModel> model = internal::ReadOnnxModel(path);
  EXPECT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(internal::CheckOnnxModel(&*model).ok());
  return *std::move(model);
}

std::vector<std::string> Operators(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const internal::OnnxNode& node : model.graph.nodes) names.push_back(node.op_type);
  return names;
}

TEST(OnnxExport, WritesALayerUnderItsNames) {
  const Tensor w = Ones({4, 3}), b = Zeros({4});
  const Captured c =
      CaptureOne([&](absl::Span<const Tensor> in) { return TensorList{Relu(Linear(in[0], w, b))}; },
                 Ones({2, 3}));
  const std::string path = testing::TempDir() + "/layer.onnx";
  const OnnxExportReport report = ExportOnnx(path, c.graph,
                                             {.opset = 17,
                                              .names = {{"fc.weight", w}, {"fc.bias", b}},
                                              .inputs = {"x"},
                                              .outputs = {"y"},
                                              .metadata = {{"made", "here"}}});
  EXPECT_EQ(report.nodes, 2);
  EXPECT_TRUE(report.warnings.empty());
  const OnnxModel model = Read(path);
  EXPECT_EQ(Operators(model), (std::vector<std::string>{"Gemm", "Relu"}));
  EXPECT_EQ(model.ir_version, 8);
  ASSERT_EQ(model.graph.initializers.size(), 2u);
  EXPECT_EQ(model.graph.initializers[0].name, "fc.weight");
  EXPECT_EQ(model.graph.inputs[0].name, "x");
  EXPECT_EQ(model.graph.outputs[0].name, "y");
  EXPECT_EQ((*model.graph.outputs[0].type.shape)[1].value, 4);
  EXPECT_EQ(model.metadata[0].second, "here");
}

// Outputs may have names of operations, which values of nodes have, too, but not names of states.
TEST(OnnxExport, OutputsMayBeCalledAsOperations) {
  const Tensor w = Ones({2});
  const Captured c = CaptureOne(
      [&](absl::Span<const Tensor> in) { return TensorList{Softmax(Relu(in[0]), 0) * w}; },
      Ones({2}));
  const std::string path = testing::TempDir() + "/named.onnx";
  ExportOnnx(path, c.graph, {.names = {{"w", w}}, .outputs = {"softmax"}});
  EXPECT_EQ(Read(path).graph.outputs[0].name, "softmax");
  const auto taken = TryExportOnnx(path, c.graph, {.names = {{"w", w}}, .outputs = {"w"}});
  EXPECT_NE(taken.status().message().find("output 0: the name w is taken"), std::string::npos);
}

// An operator without half types in an opset gets casts around it.
TEST(OnnxExport, HalvesAreWidenedAroundOperatorsThatDoNotTakeThem) {
  const auto export_sin = [](int opset, DType dtype) {
    const Captured c = CaptureOne(
        [](absl::Span<const Tensor> in) { return TensorList{Sin(in[0])}; }, Ones({2}, dtype));
    const std::string path = testing::TempDir() + "/half.onnx";
    ExportOnnx(path, c.graph, {.opset = opset});
    return Operators(Read(path));
  };
  const std::vector<std::string> alone = {"Sin"}, widened = {"Cast", "Sin", "Cast"};
  EXPECT_EQ(export_sin(21, DType::kBF16), widened);
  EXPECT_EQ(export_sin(22, DType::kBF16), alone);
  EXPECT_EQ(export_sin(13, DType::kF16), alone);
}

// f16 with parameters of f32, as autocasting makes them.
TEST(OnnxExport, NormsHaveOneType) {
  const Tensor w = Ones({4});
  const Captured c =
      CaptureOne([&](absl::Span<const Tensor> in) { return TensorList{GroupNorm(in[0], 2, w, w)}; },
                 Ones({1, 4, 16, 16}, DType::kF16));
  const std::string path = testing::TempDir() + "/norm.onnx";
  ExportOnnx(path, c.graph, {.opset = 18});
  const OnnxModel model = Read(path);
  for (const internal::OnnxNode& node : model.graph.nodes) {
    if (node.op_type == "Cast") continue;
    for (const internal::OnnxTensor& tensor : model.graph.initializers) {
      if (tensor.type != 1) continue;  // FLOAT
      EXPECT_EQ(std::count(node.inputs.begin(), node.inputs.end(), tensor.name), 0) << node.name;
    }
  }
}

// The operators of norms compute statistics in f32, and those of quantized numbers take no f64.
TEST(OnnxExport, OperatorsThatRoundF64AreNotUsed) {
  const Captured norm = CaptureOne(
      [](absl::Span<const Tensor> in) {
        return TensorList{LayerNorm(in[0], {4}), GroupNorm(in[0], 2)};
      },
      Ones({1, 4, 4}, DType::kF64));
  const std::string path = testing::TempDir() + "/f64.onnx";
  ExportOnnx(path, norm.graph, {.opset = 23});
  const std::vector<std::string> operators = Operators(Read(path));
  for (const char* name : {"LayerNormalization", "GroupNormalization"}) {
    EXPECT_EQ(std::count(operators.begin(), operators.end(), name), 0) << name;
  }
  const Captured fake = CaptureOne(
      [](absl::Span<const Tensor> in) {
        return TensorList{
            FakeQuantize(in[0], Ones({}, DType::kF64), Zeros({}, DType::kI32), -128, 127)};
      },
      Ones({2}, DType::kF64));
  const auto refused = TryExportOnnx(path, fake.graph);
  EXPECT_NE(refused.status().message().find("in f64"), std::string::npos) << refused.status();
}

// Squares of these are beside the range.
TEST(OnnxExport, LengthsOfFarAndNearPointsAreKept) {
  const Tensor x = FromVector<float>({3e30f, 3e-30f, 0, -3, INFINITY, NAN});
  const auto f = [](const Tensor& t) { return Hypot(t, t * (4.0 / 3)); };
  const Captured c =
      CaptureOne([&](absl::Span<const Tensor> in) { return TensorList{f(in[0])}; }, x);
  const std::string path = testing::TempDir() + "/hypot.onnx";
  ExportOnnx(path, c.graph);
  EXPECT_TRUE(
      Allclose(ImportOnnx(path).network(x), f(x), {.rtol = 1e-6, .atol = 0, .equal_nan = true}));
}

TEST(OnnxExport, KeepsTogetherWhatTheOpsetHas) {
  const Captured c =
      CaptureOne([](absl::Span<const Tensor> in) { return TensorList{Gelu(in[0])}; }, Ones({2}));
  const std::string path = testing::TempDir() + "/gelu.onnx";
  ExportOnnx(path, c.graph, {.opset = 20});
  EXPECT_EQ(Operators(Read(path)), std::vector<std::string>{"Gelu"});
  EXPECT_GT(ExportOnnx(path, c.graph, {.opset = 19}).nodes, 3);
}

// The definition of the logarithm of a sum of powers in ONNX from opset 28 on.
TEST(OnnxExport, LargeNumbersAreTakenAwayBeforeTheirPowers) {
  const Tensor x = FromVector<float>({1000, 1001, -INFINITY, -INFINITY, INFINITY, 1}, {3, 2});
  const std::string path = testing::TempDir() + "/logsumexp.onnx";
  for (const bool keep : {false, true}) {
    const Captured c = CaptureOne(
        [&](absl::Span<const Tensor> in) { return TensorList{Logsumexp(in[0], {1}, keep)}; }, x);
    ExportOnnx(path, c.graph, {.opset = 27});
    EXPECT_EQ(Operators(Read(path)), (std::vector<std::string>{"ReduceLogSumExp"}));
    ExportOnnx(path, c.graph, {.opset = 28});
    EXPECT_EQ(Operators(Read(path))[0], "ReduceMax");
    const NoGradScope no_grad;
    EXPECT_TRUE(Allclose(ImportOnnx(path).network(x), c.outputs[0], {.rtol = 1e-6}));
  }
}

TEST(OnnxExport, TheBatchMayBeAnother) {
  const Captured c = CaptureOne(
      [](absl::Span<const Tensor> in) {
        return TensorList{Reshape(in[0], {10, 4}), in[0] + Zeros({5, 2, 4})};
      },
      Ones({5, 2, 4}));
  const std::string path = testing::TempDir() + "/batch.onnx";
  ExportOnnx(path, c.graph, {.dynamic_batch = true});
  const OnnxModel model = Read(path);
  EXPECT_EQ((*model.graph.inputs[0].type.shape)[0].name, "N");
  EXPECT_EQ((*model.graph.outputs[0].type.shape)[0].name, "2*N");
  EXPECT_EQ((*model.graph.outputs[1].type.shape)[0].name, "N");
  internal::OnnxElements elements(model.file, model.folder);
  for (const internal::OnnxTensor& tensor : model.graph.initializers) {
    if (tensor.type != 7) continue;  // INT64: sizes
    const std::vector<int64_t> sizes = elements.Read(tensor)->ToVector<int64_t>();
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 5), 0) << tensor.name;
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 10), 0) << tensor.name;
  }
}

TEST(OnnxExport, WritesInPlaceAreNewValues) {
  Tensor state = Zeros({3});
  const Captured c = CaptureOne(
      [&](absl::Span<const Tensor> in) {
        const Tensor before = state * 2;
        state.CopyFrom(in[0]);
        return TensorList{before + state};
      },
      Ones({3}));
  const std::string path = testing::TempDir() + "/state.onnx";
  const OnnxExportReport report = ExportOnnx(path, c.graph, {.names = {{"state", state}}});
  EXPECT_EQ(report.outputs, (std::vector<std::string>{"output.0", "state.next"}));
  EXPECT_EQ(report.warnings.size(), 1u);
  const OnnxModel model = Read(path);
  EXPECT_EQ(model.graph.nodes[0].inputs[0], "state");       // before the write
  EXPECT_EQ(model.graph.nodes.back().op_type, "Identity");  // the input is the next state
  EXPECT_EQ(model.graph.nodes.back().inputs[0], "input.0");
}

TEST(OnnxExport, ResultsThatNobodyReadsAreNamedWhereNodesNeedThem) {
  const Captured c = CaptureOne(
      [](absl::Span<const Tensor> in) {
        return TensorList{Topk(in[0], 2).indices, MaxPool1d(in[0], 2)};
      },
      Ones({1, 2, 4}));
  const std::string path = testing::TempDir() + "/unread.onnx";
  ExportOnnx(path, c.graph);
  const OnnxModel model = Read(path);
  ASSERT_EQ(Operators(model), (std::vector<std::string>{"TopK", "MaxPool"}));
  ASSERT_EQ(model.graph.nodes[0].outputs.size(), 2u);
  EXPECT_FALSE(model.graph.nodes[0].outputs[0].empty());
  EXPECT_EQ(model.graph.nodes[1].outputs, std::vector<std::string>{"output.1"});
}

TEST(OnnxExport, ElementsMayLieBesideTheFile) {
  const Tensor w = Ones({32, 32}), b = Ones({32});
  const Captured c = CaptureOne(
      [&](absl::Span<const Tensor> in) { return TensorList{Linear(in[0], w, b)}; }, Ones({2, 32}));
  const std::string path = testing::TempDir() + "/large.onnx";
  ExportOnnx(path, c.graph, {.external_data = true});
  const OnnxModel model = Read(path);
  ASSERT_TRUE(model.graph.initializers[0].external.has_value());
  EXPECT_EQ(model.graph.initializers[0].external->location, "large.onnx.data");
  EXPECT_FALSE(model.graph.initializers[1].external.has_value());  // 128 bytes
  internal::OnnxElements elements(model.file, model.folder);
  EXPECT_EQ(elements.Read(model.graph.initializers[0])->ToVector<float>(), w.ToVector<float>());
}

TEST(OnnxExport, SaysAtOnceWhatItCannotSay) {
  const Captured c = CaptureOne(
      [](absl::Span<const Tensor> in) {
        return TensorList{Cholesky(in[0]), Inv(in[0])};
      },
      Eye(3));
  const auto report = TryExportOnnx(testing::TempDir() + "/no.onnx", c.graph);
  ASSERT_EQ(report.status().code(), absl::StatusCode::kUnimplemented);
  const std::string message(report.status().message());
  EXPECT_NE(message.find("cholesky: ONNX has no decompositions"), std::string::npos) << message;
  EXPECT_NE(message.find("inv: ONNX has no decompositions"), std::string::npos) << message;
  EXPECT_THROW(ExportOnnx("/tmp/no.onnx", c.graph, {.opset = 12}), Error);
}

}  // namespace
}  // namespace firn::io

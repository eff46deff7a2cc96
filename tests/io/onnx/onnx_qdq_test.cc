// Networks of bytes as ONNX files: ordinary products of the results of DequantizeLinear, which come
// back as sums of bytes with the bits of the exported graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "examples/models.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/quantize.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/nn/quantized/conv.h"
#include "firn/nn/quantized/linear.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Strings = std::vector<std::string>;

struct Exported {
  Strings operators, read;  // of the file, and of the graph that is read from it
  internal::OnnxModel model;
  OnnxImport again;
};

Exported Export(const inner::Graph& graph, const OnnxExportOptions& options) {
  const std::string path = TempPath("qdq.onnx");
  ExportOnnx(path, graph, options);
  Exported e{{}, {}, *internal::ReadOnnxModel(path), ImportOnnx(path)};
  for (const internal::OnnxNode& node : e.model.graph.nodes) e.operators.push_back(node.op_type);
  for (const auto& [op, count] : e.again.report.operators) e.read.push_back(op);
  return e;
}

using Function = std::function<Tensor(const Tensor&)>;
inner::Graph GraphOf(const Function& f, const Tensor& x) {
  const NoGradScope no_grad;
  return Capture([&](absl::Span<const Tensor> in) { return TensorList{f(in[0])}; }, {&x, 1}).graph;
}

// Exports a graph with opsets of every kind, and reads it again.
Exported ExpectSameBits(const Function& f, const Tensor& x, const StateDict& names = {}) {
  const NoGradScope no_grad;
  const Tensor want = f(x);
  Exported e;
  for (const int opset : {13, 18, 21, 23}) {
    SCOPED_TRACE(opset);
    e = Export(GraphOf(f, x), {.opset = opset, .names = names});
    EXPECT_TRUE(e.again.network(x).Equals(want));
    EXPECT_THAT(e.operators, AllOf(Not(Contains("ConvInteger")), Not(Contains("MatMulInteger"))));
  }
  return e;
}

const internal::OnnxNode& Only(const Exported& e, const std::string& op) {
  const auto& nodes = e.model.graph.nodes;
  const auto at = std::find_if(nodes.begin(), nodes.end(),
                               [&](const internal::OnnxNode& node) { return node.op_type == op; });
  EXPECT_EQ(std::count(e.operators.begin(), e.operators.end(), op), 1) << op;
  return *at;
}

TEST(OnnxQdqTest, AConvertedNetworkKeepsItsBits) {
  ManualSeed(1);
  examples::Lenet net;
  const Tensor x = Randn({4, 1, 8, 8});
  net(x);
  net.Eval();
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    const absl::StatusOr<inner::Graph> graph =
        Quantize(GraphOf([&](const Tensor& in) { return net(in); }, x), {{x}}, {.dtype = dtype});
    ASSERT_TRUE(graph.ok()) << graph.status();
    StaticGraph integers = StaticGraph::Compile(*graph).value();
    const NoGradScope no_grad;
    for (const int opset : {13, 18, 23}) {
      SCOPED_TRACE(opset);
      const Exported e = Export(*graph, {.opset = opset});
      EXPECT_EQ(std::count(e.operators.begin(), e.operators.end(), "Conv"), 2);
      EXPECT_EQ(std::count(e.operators.begin(), e.operators.end(), "Gemm"), 2);
      EXPECT_EQ(std::count(e.operators.begin(), e.operators.end(), "Add"), 0);
      EXPECT_THAT(e.read, IsSupersetOf({"ConvInteger", "MatMulInteger"}));
      EXPECT_TRUE(e.again.network(x).Equals(integers(x)));
    }
    const Exported any = Export(*graph, {.dynamic_batch = true});
    const Tensor more = Randn({7, 1, 8, 8});
    EXPECT_TRUE(Narrow(any.again.network(more), 0, 0, 4).Equals(integers(Narrow(more, 0, 0, 4))));
  }
}

template <class Layer>
void Fill(Layer& layer) {
  for (auto& [name, buffer] : layer.named_buffers()) {
    Tensor b = buffer;
    if (name == "weight") b.CopyFrom(Randint(-127, 128, b.shape()).To(DType::kI8));
    if (name == "weight_scale") b.CopyFrom(Rand(b.shape(), 0.01, 0.1));
    if (name == "input_scale") b.CopyFrom(Full({}, 0.03));
    if (name == "input_zero_point") b.CopyFrom(Full({}, 7).To(b.dtype()));
    if (name == "bias") b.CopyFrom(Randn(b.shape()));
  }
}

TEST(OnnxQdqTest, LayersKeepTheirBits) {
  ManualSeed(2);
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    nn::quantized::Linear linear({.in = 9, .out = 5, .dtype = dtype});
    nn::quantized::Linear without({.in = 9, .out = 5, .bias = false, .dtype = dtype});
    nn::quantized::Conv2d conv({.in = 4,
                                .out = 6,
                                .kernel = 3,
                                .stride = {2, 1},
                                .padding = {1, 2},
                                .dilation = 2,
                                .groups = 2,
                                .dtype = dtype});
    Fill(linear);
    Fill(without);
    Fill(conv);
    const auto of = [](auto& layer) { return [&](const Tensor& x) { return layer(x); }; };
    const Exported gemm = ExpectSameBits(of(linear), Randn({3, 9}), linear.state_dict());
    EXPECT_EQ(Only(gemm, "Gemm").inputs[2], "bias");
    EXPECT_THAT(gemm.read, Contains("MatMulInteger"));
    const Exported product = ExpectSameBits(of(linear), Randn({2, 3, 9}), linear.state_dict());
    EXPECT_THAT(product.operators, AllOf(Contains("MatMul"), Not(Contains("Reshape"))));
    EXPECT_THAT(product.read, Contains("MatMulInteger"));
    ExpectSameBits(of(without), Randn({3, 9}));
    const Exported image = ExpectSameBits(of(conv), Randn({2, 4, 9, 8}), conv.state_dict());
    EXPECT_THAT(image.read, Contains("ConvInteger"));
    const internal::OnnxNode& node = Only(image, "Conv");
    EXPECT_EQ(node.inputs[2], "bias");
    // Under the layer's names: the bytes, and the scales of both.
    size_t weights = 0;
    for (const internal::OnnxNode& n : image.model.graph.nodes) {
      if (n.op_type != "DequantizeLinear" || n.inputs[0] != "weight") continue;
      EXPECT_EQ(n.inputs, (Strings{"weight", "weight_scale"}));
      EXPECT_EQ(n.attributes.size(), 1u);
      ++weights;
    }
    EXPECT_EQ(weights, 1u);
  }
}

// Quantizes x to bytes with this scale and zero point.
struct Quantized {
  Tensor scale = Full({}, 0.02), zero = Full({}, 9).To(DType::kU8);
  Tensor operator()(const Tensor& x) const {
    return QuantizeLinear(x, scale, zero, {.dtype = DType::kU8});
  }
};

// Results that are quantized again, with an integer bias and a zero point for each channel.
TEST(OnnxQdqTest, FunctionsKeepTheirBits) {
  ManualSeed(3);
  const Quantized of;
  const Tensor w = Randint(0, 256, {6, 3, 3, 3}).To(DType::kU8), s = Rand({6}, 0.01, 0.1);
  const Tensor zeros = Randint(100, 150, {6}).To(DType::kU8);
  const Tensor bias = Randint(-2000, 2000, {6}).To(DType::kI32);
  const Quantized result{Full({}, 0.5), Full({}, 100).To(DType::kU8)};
  const auto conv = [&](const Tensor& x) {
    return QuantizedConv2d(of(x), of.scale, of.zero, w, s, zeros, bias, result.scale, result.zero,
                           {.padding = 1})
        .To(DType::kF32);
  };
  const Exported image = ExpectSameBits(conv, Randn({2, 3, 6, 6}));
  EXPECT_THAT(image.operators, AllOf(Contains("Conv"), Not(Contains("Add"))));
  EXPECT_THAT(image.read, AllOf(Contains("ConvInteger"), Contains("Add")));

  const Tensor matrix = Randint(-127, 128, {5, 4}).To(DType::kI8), one = Full({}, 0.04);
  const Tensor none = Zeros({}, DType::kI8);
  const auto product = [&](const Tensor& x) {
    return QuantizedMatmul(of(x), of.scale, of.zero, matrix, one, none, result.scale, result.zero)
        .To(DType::kF32);
  };
  const Exported rows = ExpectSameBits(product, Randn({3, 5}));
  EXPECT_THAT(rows.operators, Contains("MatMul"));
  EXPECT_THAT(rows.read, Contains("MatMulInteger"));
}

// If both factors are computed, the file has no bytes of them: read again it is a product in f32,
// here of few enough bits to be exact.
TEST(OnnxQdqTest, ProductsOfComputedBytesAreProductsOfNumbers) {
  ManualSeed(4);
  const Quantized of{Full({}, 0.5), Full({}, 9).To(DType::kU8)};
  const auto f = [&](const Tensor& x) {
    const Tensor q = of(x), turned = q.Transpose(1, 2).Contiguous();
    return QuantizedMatmul(q, of.scale, of.zero, turned, of.scale, of.zero, of.scale, of.zero)
        .To(DType::kF32);
  };
  const Exported e = ExpectSameBits(f, Randn({2, 3, 4}));
  EXPECT_THAT(e.operators, Contains("MatMul"));
  EXPECT_THAT(e.read, Contains("MatMul"));
}

// Sums that something else reads stay sums.
TEST(OnnxQdqTest, SumsThemselvesAreIntegerOperators) {
  const Quantized of;
  const Tensor w = Randint(0, 256, {6, 3, 3, 3}).To(DType::kU8);
  const auto f = [&](const Tensor& x) {
    return QuantizedConv2d(of(x), {}, of.zero, w, {}, {}).To(DType::kF32);
  };
  const NoGradScope no_grad;
  const Tensor x = Randn({2, 3, 6, 6});
  const Exported e = Export(GraphOf(f, x), {});
  EXPECT_THAT(e.operators, Contains("ConvInteger"));
  EXPECT_TRUE(e.again.network(x).Equals(f(x)));
}

// A bias with more dimensions than the product gives the result more dimensions.
TEST(OnnxQdqTest, ABiasOfMoreDimensionsStaysASum) {
  nn::quantized::Linear linear({.in = 9, .out = 5, .bias = false});
  Fill(linear);
  const Tensor b = Randn({1, 1, 5});
  const auto f = [&](const Tensor& x) { return linear(x) + b; };
  const NoGradScope no_grad;
  const Tensor x = Randn({3, 9});
  EXPECT_TRUE(Export(GraphOf(f, x), {}).again.network(x).Equals(f(x)));
}

}  // namespace
}  // namespace firn::io

// Networks of bytes as ONNX files: ordinary products of what DequantizeLinear gives, which come
// back as sums of bytes with the bits that the exported graph has.
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
#include "tests/error_of.h"
#include "tests/io/onnx/onnx_builder.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Strings = std::vector<std::string>;

struct Exported {
  Strings operators, read;  // of the file, and of what it is read as
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

// Exported with every kind of opset, and read again.
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

// Bytes of x, and the scale and zero point that they have.
struct Quantized {
  Tensor scale = Full({}, 0.02), zero = Full({}, 9).To(DType::kU8);
  Tensor operator()(const Tensor& x) const {
    return QuantizeLinear(x, scale, zero, {.dtype = DType::kU8});
  }
};

// What is quantized again, with a bias of integers and zero points of channels.
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

// Of two factors that were computed no bytes stand in the file: read again it is a product in f32,
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

// --- Files of others -----------------------------------------------------------------------------

struct Numbers {
  float scale = 0.5f;
  std::vector<float> scales = {0.25f, 0.5f};
  int64_t axis = 0;
  DType zero = DType::kU8;
  Tensor zeros = {};  // of the weights
};

// A convolution of one channel to two.
internal::OnnxModel Model(const Numbers& n) {
  using internal::Node;
  const Tensor w = FromValues<int64_t>({1, -2, 3, -4, 5, 6, 7, 8}).To(DType::kI8);
  const Strings factor = n.zeros.defined() ? Strings{"w", "ws", "wz"} : Strings{"w", "ws"};
  return internal::Model(internal::Graph(
      {
          Node("QuantizeLinear", {"x", "s", "z"}, {"q"}),
          Node("DequantizeLinear", {"q", "s", "z2"}, {"d"}),
          Node("DequantizeLinear", factor, {"v"}, {internal::Int("axis", n.axis)}),
          Node("Conv", {"d", "v"}, {"y"}),
      },
      {"x"}, {"y"},
      {{"s", Full({}, n.scale)},
       {"z", Full({}, 3).To(DType::kU8)},
       {"z2", Full({}, 3).To(n.zero)},
       {"w", w.Reshape({2, 1, 2, 2})},
       {"ws", FromVector(n.scales)},
       {"wz", n.zeros.defined() ? n.zeros : Zeros({1})}}));
}

struct Read {
  bool folded = false;
  std::string problem;
  Tensor y;
};
Read ReadModel(const Numbers& n, const Tensor& x) {
  const std::string path = TempPath("model.onnx");
  EXPECT_TRUE(internal::WriteOnnxModel(path, Model(n)).ok());
  Read read;
  try {
    const NoGradScope no_grad;
    const OnnxImport import = ImportOnnx(path);
    for (const auto& [op, count] : import.report.operators) read.folded |= op == "ConvInteger";
    read.y = import.network(x);
  } catch (const Error& e) {
    read.problem = e.what();
  }
  return read;
}

TEST(OnnxQdqTest, OnlySoundFormsAreSumsOfBytes) {
  const Tensor x = Randn({1, 1, 3, 3});
  const Read plain = ReadModel({}, x);
  EXPECT_TRUE(plain.folded);
  EXPECT_EQ(plain.y.shape(), Shape({1, 2, 2, 2}));
  for (const float scale : {0.f, -1.f, NAN, INFINITY}) {
    SCOPED_TRACE(scale);
    const Read all = ReadModel({.scale = scale}, x), one = ReadModel({.scales = {0.5f, scale}}, x);
    EXPECT_FALSE(all.folded);
    EXPECT_FALSE(one.folded);
    EXPECT_EQ(one.problem, "");
    // What the first channel is does not follow from the second.
    EXPECT_TRUE(one.y.Select(1, 0).Equals(plain.y.Select(1, 0) * 2));
  }
}

TEST(OnnxQdqTest, FormsThatDoNotFitAreReadAsTheyStand) {
  const Tensor x = Randn({1, 1, 3, 3});
  EXPECT_TRUE(ReadModel({.axis = -4}, x).folded);
  // The rows of the windows, and a zero point of another type.
  for (const Numbers& n : {Numbers{.axis = 2}, Numbers{.zero = DType::kI8}}) {
    const Read read = ReadModel(n, x);
    EXPECT_FALSE(read.folded);
    EXPECT_EQ(read.problem, "");
  }
  for (const Numbers& n : {Numbers{.axis = 1}, Numbers{.axis = 9}, Numbers{.scales = {1, 1, 1}}}) {
    const Read read = ReadModel(n, x);
    EXPECT_FALSE(read.folded);
    EXPECT_NE(read.problem.find("DequantizeLinear"), std::string::npos) << read.problem;
  }
}

// As ONNX Runtime 1.32 has them, with its optimizations and without.
TEST(OnnxQdqTest, ChannelsHaveZeroPointsOfTheirOwn) {
  const Tensor x = Randn({1, 1, 3, 3});
  const Tensor d = (Clamp(Round(x / 0.5) + 3, 0, 255) - 3) * 0.5;
  const auto channels = [](std::initializer_list<int64_t> numbers) {
    return FromValues(numbers).To(DType::kI8);
  };
  const Tensor w = FromValues<float>({1, -2, 3, -4, 5, 6, 7, 8}).Reshape({2, 1, 2, 2});
  const Tensor scales = FromValues({0.25f, 0.5f}).Reshape({2, 1, 1, 1});
  for (const Tensor& zeros : {channels({0, 0}), channels({0, 3}), channels({-7, 0})}) {
    SCOPED_TRACE(zeros.ToString());
    const Read read = ReadModel({.zeros = zeros}, x);
    ASSERT_EQ(read.problem, "");
    const Tensor v = (w - zeros.To(DType::kF32).Reshape({2, 1, 1, 1})) * scales;
    EXPECT_TRUE(Allclose(read.y, Conv2d(d, v, {}), {.rtol = 1e-6, .atol = 1e-6}));
  }
}

// ONNX has as many zero points as scales; ONNX Runtime refuses another number of them.
TEST(OnnxQdqTest, AZeroPointOfOtherChannelsIsRefused) {
  const Tensor x = Randn({1, 1, 3, 3});
  for (const Shape& shape : {Shape({}), Shape({1}), Shape({3})}) {
    SCOPED_TRACE(shape.ToString());
    const Read read = ReadModel({.zeros = Full(shape, 3).To(DType::kI8)}, x);
    EXPECT_NE(read.problem.find("DequantizeLinear"), std::string::npos) << read.problem;
  }
}

TEST(OnnxQdqTest, ANodeThatMakesNothingIsNoOneElsesFactor) {
  internal::OnnxModel model = Model({});
  model.graph.nodes.push_back(internal::Node("DequantizeLinear", {"q", "s", "z"}, {}));
  const std::string path = TempPath("no_output.onnx");
  ASSERT_TRUE(internal::WriteOnnxModel(path, model).ok());
  const Tensor x = Randn({1, 1, 3, 3});
  const NoGradScope no_grad;
  try {
    EXPECT_TRUE(ImportOnnx(path).network(x).Equals(ReadModel({}, x).y));
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("DequantizeLinear"), std::string::npos) << e.what();
  }
}

// As PyTorch writes linear layers.
TEST(OnnxQdqTest, TakesGemmsThatSayWhatIsSoAnyway) {
  using internal::Node;
  const Tensor x = Randn({3, 4});
  for (const float alpha : {1.f, 2.f}) {
    SCOPED_TRACE(alpha);
    const internal::OnnxModel model = internal::Model(internal::Graph(
        {
            Node("QuantizeLinear", {"x", "s", "z"}, {"q"}),
            Node("DequantizeLinear", {"q", "s", "z"}, {"d"}),
            Node("DequantizeLinear", {"w", "s"}, {"v"}),
            Node("Gemm", {"d", "v"}, {"y"},
                 {internal::Float("alpha", alpha), internal::Float("beta", 1),
                  internal::Int("transA", 0), internal::Int("transB", 1)}),
        },
        {"x"}, {"y"},
        {{"s", Full({}, 0.5f)},
         {"z", Full({}, 3).To(DType::kU8)},
         {"w", Randint(-9, 9, {2, 4}).To(DType::kI8)}}));
    const std::string path = TempPath("gemm.onnx");
    ASSERT_TRUE(internal::WriteOnnxModel(path, model).ok());
    const NoGradScope no_grad;
    const OnnxImport import = ImportOnnx(path);
    bool folded = false;
    for (const auto& [op, count] : import.report.operators) folded |= op == "MatMulInteger";
    EXPECT_EQ(folded, alpha == 1);
    EXPECT_EQ(import.network(x).shape(), Shape({3, 2}));
  }
}

// A sum would take any bias; a product has one number for a channel.
TEST(OnnxQdqTest, ABiasOfOtherChannelsIsRefused) {
  const Tensor x = Randn({1, 1, 3, 3});
  internal::OnnxModel model = Model({});
  model.graph.nodes.back().inputs.push_back("b");
  for (const int64_t channels : {1, 2, 3}) {
    SCOPED_TRACE(channels);
    internal::OnnxModel with = model;
    with.graph.initializers.push_back(internal::OnnxTensorOf("b", Ones({channels})));
    const std::string path = TempPath("bias.onnx");
    ASSERT_TRUE(internal::WriteOnnxModel(path, with).ok());
    const NoGradScope no_grad;
    const OnnxImport import = ImportOnnx(path);
    if (channels == 2) {
      EXPECT_TRUE(import.network(x).Equals(ReadModel({}, x).y + 1));
    } else {
      EXPECT_THAT(ErrorOf([&] { import.network(x); }), ::testing::HasSubstr("(Conv"));
    }
  }
}

TEST(OnnxQdqTest, AttributesOfOtherTypesAreRefused) {
  const Tensor x = Randn({1, 1, 3, 3});
  internal::OnnxModel model = Model({});
  model.graph.nodes[2].attributes = {internal::Float("axis", 0)};
  const std::string path = TempPath("axis.onnx");
  ASSERT_TRUE(internal::WriteOnnxModel(path, model).ok());
  const NoGradScope no_grad;
  EXPECT_THAT(ErrorOf([&] { ImportOnnx(path).network(x); }),
              ::testing::HasSubstr("attribute \"axis\" is expected to be an integer"));
}

// A bias of more dimensions than the product has makes more of them.
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

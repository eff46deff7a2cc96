// Networks of bytes in ONNX files of other programs: which nodes are read as sums of bytes, which
// stay unchanged, and which are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/onnx/onnx.h"
#include "firn/tensor/dispatch.h"
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
using Strings = std::vector<std::string>;

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

TEST(OnnxQdqReadTest, OnlySoundFormsAreSumsOfBytes) {
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
    // The first channel does not depend on the second.
    EXPECT_TRUE(one.y.Select(1, 0).Equals(plain.y.Select(1, 0) * 2));
  }
}

TEST(OnnxQdqReadTest, FormsThatDoNotFitAreReadAsTheyStand) {
  const Tensor x = Randn({1, 1, 3, 3});
  EXPECT_TRUE(ReadModel({.axis = -4}, x).folded);
  // An axis along the rows of the windows, and a zero point of another type.
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

// Results of ONNX Runtime 1.32, with its optimizations and without.
TEST(OnnxQdqReadTest, ChannelsHaveZeroPointsOfTheirOwn) {
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
TEST(OnnxQdqReadTest, AZeroPointOfOtherChannelsIsRefused) {
  const Tensor x = Randn({1, 1, 3, 3});
  for (const Shape& shape : {Shape({}), Shape({1}), Shape({3})}) {
    SCOPED_TRACE(shape.ToString());
    const Read read = ReadModel({.zeros = Full(shape, 3).To(DType::kI8)}, x);
    EXPECT_NE(read.problem.find("DequantizeLinear"), std::string::npos) << read.problem;
  }
}

TEST(OnnxQdqReadTest, ANodeThatMakesNothingIsNoOneElsesFactor) {
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

// Gemm nodes as PyTorch writes them for linear layers.
TEST(OnnxQdqReadTest, TakesGemmsThatSayWhatIsSoAnyway) {
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
TEST(OnnxQdqReadTest, ABiasOfOtherChannelsIsRefused) {
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

TEST(OnnxQdqReadTest, AttributesOfOtherTypesAreRefused) {
  const Tensor x = Randn({1, 1, 3, 3});
  internal::OnnxModel model = Model({});
  model.graph.nodes[2].attributes = {internal::Float("axis", 0)};
  const std::string path = TempPath("axis.onnx");
  ASSERT_TRUE(internal::WriteOnnxModel(path, model).ok());
  const NoGradScope no_grad;
  EXPECT_THAT(ErrorOf([&] { ImportOnnx(path).network(x); }),
              ::testing::HasSubstr("attribute \"axis\" is expected to be an integer"));
}

// A scale in the file is a parameter: the result of DequantizeLinear is linear in it. No gradient
// flows through QuantizeLinear, whose results are integers.
TEST(OnnxQdqReadTest, ScalesOfTheFileAreParameters) {
  using internal::Node;
  const std::string path = TempPath("scales.onnx");
  const internal::OnnxModel model = internal::Model(internal::Graph(
      {
          Node("QuantizeLinear", {"x", "s"}, {"q"}),
          Node("DequantizeLinear", {"q", "t"}, {"y"}),
      },
      {"x"}, {"y"}, {{"s", Full({}, 0.5)}, {"t", Full({}, 0.25)}}));
  ASSERT_TRUE(internal::WriteOnnxModel(path, model).ok());
  const OnnxImport import = ImportOnnx(path);
  Tensor s = import.state["s"], t = import.state["t"];
  s.SetRequiresGrad();
  t.SetRequiresGrad();
  const Tensor y = import.network(FromValues({1.f, 2.f, 3.f}));
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{0.5f, 1, 1.5f}));
  Sum(y).Backward();
  EXPECT_EQ(t.grad().Item<float>(), 2 + 4 + 6);
  EXPECT_FALSE(s.grad().defined());
}

// A product that is a sum of bytes has one scale, which replaces those of both factors.
TEST(OnnxQdqReadTest, ScalesOfSumsAreOneParameter) {
  const std::string path = TempPath("folded.onnx");
  ASSERT_TRUE(internal::WriteOnnxModel(path, Model({})).ok());
  const OnnxImport import = ImportOnnx(path);
  Strings names;
  for (const auto& [name, tensor] : import.state) names.push_back(name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("s", "scale_of_sums"));
  EXPECT_EQ(import.state["scale_of_sums"].ToVector<float>(), (std::vector<float>{0.125f, 0.25f}));
}

}  // namespace
}  // namespace firn::io

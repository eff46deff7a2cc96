// Invalid models: each is refused, and the error gives the file, the node, its operator and opset,
// the field, what was expected and what was found.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/onnx/onnx_builder.h"

namespace firn::io::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Bad {
  OnnxNode node;
  std::string expected;
  int64_t opset = 18;
};

// The error of a node "n" on x, f32 [2, 3], and the constant w, i64 [2], at the import or the first
// call.
std::string ErrorOf(const Bad& bad) {
  OnnxNode node = bad.node;
  node.name = "n";
  const std::vector<std::string> outputs = {node.outputs[0]};
  OnnxGraph graph = Graph({std::move(node)}, {"x"}, outputs,
                          {{"w", FromVector(std::vector<int64_t>{1, 7})},
                           {"m", FromVector(std::vector<int64_t>{1, INT64_MIN})},
                           {"r", FromVector(std::vector<float>{1, 2, 3}, {1, 3})},
                           {"c", FromVector(std::vector<float>{1, 2}, {2, 1})},
                           {"k", FromVector(std::vector<float>{1, 2}, {1, 1, 2})}});
  const absl::StatusOr<OnnxImport> net = Import(Model(std::move(graph), bad.opset));
  if (!net.ok()) return std::string(net.status().message());
  try {
    net->network(Ones({2, 3}));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

void ExpectErrors(const std::vector<Bad>& all) {
  for (const Bad& bad : all) {
    EXPECT_THAT(ErrorOf(bad), AllOf(HasSubstr("net.onnx: node 0 \"n\" (" + bad.node.op_type +
                                              ", opset " + std::to_string(bad.opset) + "): "),
                                    HasSubstr(bad.expected)));
  }
}

TEST(OnnxBadModelsTest, AttributesThatAreWrong) {
  ExpectErrors({
      {Node("Concat", {"x"}, {"y"}), "attribute \"axis\" is missing"},
      {Node("Concat", {"x"}, {"y"}, {Float("axis", 1)}),
       "attribute \"axis\" is expected to be an integer, it is of type 1"},
      {Node("Concat", {"x"}, {"y"}, {Int("axis", 2)}), "axis 2 is expected in [-2, 1]"},
      {Node("Softmax", {"x"}, {"y"}, {Ints("axis", {1})}),
       "attribute \"axis\" is expected to be an integer, it is of type 7"},
      {Node("LeakyRelu", {"x"}, {"y"}, {Int("alpha", 1)}),
       "attribute \"alpha\" is expected to be a number, it is of type 2"},
      {Node("ReduceSum", {"x"}, {"y"}, {Int("keepdims", 17)}),
       "attribute \"keepdims\" is expected to be 0 or 1, it is 17"},
      {Node("Gemm", {"x", "x"}, {"y"}, {Int("transB", -1)}),
       "attribute \"transB\" is expected to be 0 or 1, it is -1"},
      {Node("Transpose", {"x"}, {"y"}, {Ints("perm", {0, 0})}), "axis 0 comes twice"},
      {Node("Transpose", {"x"}, {"y"}, {Ints("perm", {0})}),
       "attribute \"perm\" is expected to have 2 entries, got 1"},
      {Node("Pad", {"x", "w"}, {"y"}, {Text("mode", "odd")}),
       "\"pads\" is expected to have 4 numbers, got 2"},
      {Node("Gelu", {"x"}, {"y"}, {Text("approximate", "odd")}),
       "attribute \"approximate\" is expected to be one of none, tanh, got \"odd\"", 20},
      {Node("BitShift", {"x", "x"}, {"y"}), "attribute \"direction\" is missing"},
  });
}

// Attributes that only other versions have are refused, too, as by ONNX's checker.
TEST(OnnxBadModelsTest, AttributesThatTheOperatorDoesNotHave) {
  ExpectErrors({
      {Node("Relu", {"x"}, {"y"}, {Float("slope", 1)}),
       "attribute \"slope\": expected one that the operator has (none)"},
      {Node("ReduceSum", {"x"}, {"y"}, {Ints("axes", {1})}),
       "attribute \"axes\": expected one that the operator has (keepdims, noop_with_empty_axes)"},
      {Node("Add", {"x", "x"}, {"y"}, {Int("broadcast", 1)}),
       "attribute \"broadcast\": expected one that the operator has (none)", 7},
      {Node("Softmax", {"x"}, {"y"}, {Int("axes", 1)}),
       "attribute \"axes\": expected one that the operator has (axis)"},
  });
  const Bad own{Node("Relu", {"x"}, {"y"}, {Int("__profile", 1)}), ""};
  EXPECT_EQ(ErrorOf(own), "nothing");
}

TEST(OnnxBadModelsTest, InputsThatAreWrong) {
  ExpectErrors({
      {Node("Add", {"x"}, {"y"}), "input 1 is expected to be a tensor, it is absent"},
      {Node("Relu", {""}, {"y"}), "input 0 is expected to be a tensor, it is absent"},
      {Node("Conv", {"x", "k"}, {"y"}), "input 0"},
      {Node("Gemm", {"k", "x"}, {"y"}), "input 0 is expected to be a matrix, it is f32 [1, 1, 2]"},
      {Node("Gemm", {"x", "x", "x"}, {"y"}, {Int("transB", 1)}),
       "input 2 is expected to be broadcast to [2, 2], it is f32 [2, 3]"},
      {Node("Gemm", {"r", "x", "c"}, {"y"}, {Int("transB", 1)}),
       "input 2 is expected to be broadcast to [1, 2], it is f32 [2, 1]"},
      {Node("MatMul", {"x", "x"}, {"y"}), "[2, 3]"},
      {Node("Reshape", {"x", "w"}, {"y"}), "[1, 7]"},
      {Node("Reshape", {"x", "k"}, {"y"}), "integer"},
      {Node("Squeeze", {"x", "w"}, {"y"}), "axis 7 is expected in [-2, 1]"},
      {Node("Split", {"x", "w"}, {"y"}, {Int("axis", 0)}), "[2, 3]"},
      {Node("Expand", {"x", "w"}, {"y"}), "[2, 3]"},
      {Node("Tile", {"k", "w"}, {"y"}), "input 1 is expected to have 3 elements, it has 2"},
      {Node("Gather", {"x", "w"}, {"y"}), "7"},
      {Node("CenterCropPad", {"x", "m"}, {"y"}),
       "shape is expected to have numbers from 0 to 2147483647, got -9223372036854775808"},
      {Node("MaxPool", {"k"}, {"y"}, {Ints("kernel_shape", {1}), Ints("pads", {0, 1LL << 40})}),
       "pads is expected to have numbers from 0 to 2147483647, got 1099511627776"},
  });
}

// Every operator with fewer and with more inputs and outputs than it has: it is refused or runs,
// and never reads behind the last one.
TEST(OnnxBadModelsTest, AnyNumberOfInputsAndOutputs) {
  int refused = 0, run = 0;
  const auto expect_no_crash = [&](const OnnxOp& op, const std::string& input, size_t inputs,
                                   const std::vector<std::string>& outputs) {
    OnnxModel model =
        Model(Graph({Node(std::string(op.name), std::vector<std::string>(inputs, input), outputs,
                          {}, std::string(op.options.domain))},
                    {"x"}, {outputs.empty() ? "x" : outputs[0]},
                    {{"w", FromVector(std::vector<int64_t>{1, 0})}}),
              op.options.domain.empty() ? op.since : 18);
    if (!op.options.domain.empty())
      model.opsets.push_back({std::string(op.options.domain), op.since});
    const absl::StatusOr<OnnxImport> net = Import(std::move(model));
    try {
      if (net.ok()) net->network.Call(TensorList{Ones({2, 3})});
      ++(net.ok() ? run : refused);
    } catch (const Error&) {
      ++refused;
    }
  };
  ForEachOnnxOp([&](const OnnxOp& op) {
    SCOPED_TRACE(op.name);
    for (const char* input : {"x", "w", ""}) {
      for (size_t inputs = 0; inputs < 10; ++inputs) {
        expect_no_crash(op, input, inputs, {});
        expect_no_crash(op, input, inputs, {"y"});
        expect_no_crash(op, input, inputs, {"y", "a", "b", "c", "d"});
      }
    }
  });
  EXPECT_GT(refused, 5000);
  EXPECT_GT(run, 500);
}

TEST(OnnxBadModelsTest, InputsThatAreMissing) {
  ExpectErrors({
      {Node("SoftmaxCrossEntropyLoss", {"x"}, {"y"}), "input 1: expected a tensor, got 1 inputs"},
      {Node("NegativeLogLikelihoodLoss", {"x"}, {"y"}), "input 1: expected a tensor, got 1 inputs"},
  });
}

}  // namespace
}  // namespace firn::io::internal

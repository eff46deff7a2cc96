// What an ONNX file has and Firn does not is listed at once, when the file is imported.
#include <string>
#include <utility>
#include <vector>

#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/onnx/onnx_builder.h"

namespace firn::io::internal {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ErrorOfImport(OnnxModel model) { return Import(std::move(model)).status().ToString(); }

TEST(OnnxUnsupportedTest, ListsAllThatIsMissing) {
  OnnxModel model = Model(Graph({Node("Nonsense", {"x"}, {"a"}), Node("Gelu", {"a"}, {"b"}),
                                 Node("Relu", {"b"}, {"y"})},
                                {"x"}, {"y"}),
                          18);
  model.graph.nodes[1].name = "act";
  model.graph.inputs[0].type.kind = OnnxType::Kind::kTensor;
  model.graph.inputs[0].type.element = 4;
  EXPECT_THAT(ErrorOfImport(std::move(model)),
              AllOf(HasSubstr("UNIMPLEMENTED: net.onnx: Firn does not have "),
                    HasSubstr("input \"x\": element type UINT16"),
                    HasSubstr("node 0 \"\" (Nonsense, opset 18)"),
                    HasSubstr("node 1 \"act\" (Gelu, opset 18)"), Not(HasSubstr("Relu"))));
}

// Every operator once, however many there are of each.
TEST(OnnxUnsupportedTest, ListsEveryKindOfWhatIsMissing) {
  std::vector<OnnxNode> nodes;
  for (int i = 0; i < 30; ++i) nodes.push_back(Node("Rare" + std::to_string(i), {"x"}, {"y"}));
  for (int i = 0; i < 100; ++i) nodes.push_back(Node("Often", {"x"}, {"y"}));
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i].outputs[0] = "y" + std::to_string(i);
  const std::string error = ErrorOfImport(Model(Graph(nodes, {"x"}, {"y0"})));
  for (int i = 0; i < 30; ++i) {
    EXPECT_THAT(error, HasSubstr("node " + std::to_string(i) + " \"\" (Rare" + std::to_string(i) +
                                 ", opset 18); "));
  }
  EXPECT_THAT(error, HasSubstr("; node 30 \"\" (Often, opset 18), node 31 \"\" (Often, opset 18),"
                               " node 32 \"\" (Often, opset 18) and 97 more like these"));
}

// A file cannot make the message as long as it likes; what is cut says so.
TEST(OnnxUnsupportedTest, BoundsTheListOfWhatIsMissing) {
  std::vector<OnnxNode> nodes;
  for (int i = 0; i < 600; ++i) {
    nodes.push_back(Node("Op" + std::to_string(i), {"x"}, {"y" + std::to_string(i)}));
    nodes.back().name = std::string(5000, 'n') + "\u00e4";
  }
  const std::string error = ErrorOfImport(Model(Graph(nodes, {"x"}, {"y0"})));
  EXPECT_LT(error.size(), 500u * 420);
  EXPECT_THAT(error, HasSubstr("node 0 \"nnn"));
  EXPECT_THAT(error, HasSubstr("nn\u00e4\" (Op499, opset 18); and 100 of further kinds"));
}

std::string ErrorOfNode(int64_t opset, OnnxNode node) {
  return ErrorOfImport(Model(Graph({std::move(node)}, {"x"}, {"y"}), opset));
}

TEST(OnnxUnsupportedTest, ListsOptionsThatItDoesNotHave) {
  const OnnxModel model = Model(Graph(
      {Node("RoiAlign", {"x", "x", "x"}, {"a"}, {Text("mode", "max")}),
       Node("Resize", {"x", "", "x"}, {"b"},
            {Text("mode", "linear"),
             Text("coordinate_transformation_mode", "tf_half_pixel_for_nn")}),
       Node("LSTM", {"x", "x", "x"}, {"c"},
            {Attribute("activations", OnnxAttributeType::kStrings,
                       std::vector<std::string>{"Sigmoid", "Tanh", "Swish"})}),
       Node("Constant", {}, {"d"}, {Text("value_string", "word")}),
       Node("Cast", {"x"}, {"e"}, {Int("to", 4)}), Node("Cast", {"x"}, {"f"}, {Int("to", 99)}),
       Node("EyeLike", {"x"}, {"g"}, {Int("dtype", 5)}),
       Node("RandomNormalLike", {"x"}, {"h"}, {Int("dtype", 8)}),
       Node("HannWindow", {"x"}, {"i"}, {Int("output_datatype", 12)}), Node("Relu", {"x"}, {"y"})},
      {"x"}, {"y"}));
  const std::string error = ErrorOfImport(model);
  for (const char* why :
       {"node 0 \"\" (RoiAlign, opset 18): mode max is not supported; ",
        "(Resize, opset 18): tf_half_pixel_for_nn is supported with nearest_mode floor alone; ",
        "(LSTM, opset 18): activation Swish is not supported; ",
        "(Constant, opset 18): a constant is expected to be a tensor, numbers or a number, not"
        " strings or a sparse tensor; ",
        "(Cast, opset 18): element type UINT16; ", "(Cast, opset 18): element type 99; ",
        "(EyeLike, opset 18): element type INT16; ",
        "(RandomNormalLike, opset 18): element type STRING; ",
        "(HannWindow, opset 18): element type UINT32"}) {
    EXPECT_THAT(error, HasSubstr(why));
  }
  EXPECT_THAT(error, Not(HasSubstr("Relu")));
}

TEST(OnnxUnsupportedTest, ListsOptionsOfOtherOpsets) {
  EXPECT_THAT(ErrorOfNode(8, Node("BatchNormalization", {"x", "x", "x", "x", "x"}, {"y"},
                                  {Int("spatial", 0)})),
              HasSubstr("(BatchNormalization, opset 8): spatial = 0 is not supported"));
  EXPECT_THAT(ErrorOfNode(6, Node("Dropout", {"x"}, {"y"}, {Int("is_test", 0)})),
              HasSubstr("(Dropout, opset 6): is_test = 0 is not supported"));
  EXPECT_THAT(ErrorOfNode(5, Node("Cast", {"x"}, {"y"}, {Text("to", "UINT16")})),
              HasSubstr("(Cast, opset 5): element type UINT16"));
  EXPECT_THAT(ErrorOfNode(23, Node("QuantizeLinear", {"x", "x"}, {"y"},
                                   {Int("block_size", 2), Int("output_dtype", 6)})),
              HasSubstr("blocks are supported of 8-bit integers alone"));
  EXPECT_THAT(
      ErrorOfNode(23, Node("DequantizeLinear", {"x", "x"}, {"y"}, {Int("output_dtype", 17)})),
      HasSubstr("(DequantizeLinear, opset 23): element type FLOAT8E4M3FN"));
  EXPECT_EQ(ErrorOfNode(6, Node("Dropout", {"x"}, {"y"}, {Int("is_test", 1)})), "OK");
}

// What is wrong with an option is told by its node's call, also where only some values are refused.
TEST(OnnxUnsupportedTest, OptionsThatAreWrongComeAtTheFirstCall) {
  const OnnxImport net = Import(Model(Graph({Node("BatchNormalization", {"x", "w", "w", "w", "w"},
                                                  {"y"}, {Int("spatial", 2)})},
                                            {"x"}, {"y"}, {{"w", Ones({3})}}),
                                      8))
                             .value();
  EXPECT_THAT(ErrorOf([&] {
                net.network(Ones({2, 3}));
              }),
              HasSubstr("net.onnx: node 0 \"\" (BatchNormalization, opset 8): attribute \"spatial\""
                        " is expected to be 0 or 1, it is 2"));
}

TEST(OnnxUnsupportedTest, ListsOutputsThatAreLists) {
  OnnxModel model = Model(Graph({Node("SplitToSequence", {"x"}, {"y"})}, {"x"}, {"y"}));
  EXPECT_EQ(ErrorOfImport(model), "OK");  // the file need not say it
  model.graph.outputs[0].type.kind = OnnxType::Kind::kSequence;
  EXPECT_THAT(ErrorOfImport(model), HasSubstr("output \"y\", which is no tensor"));
}

}  // namespace
}  // namespace firn::io::internal

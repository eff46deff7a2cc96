#include "firn/io/onnx/internal/onnx_check.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io::internal {
namespace {

using ::testing::HasSubstr;

OnnxNode Node(std::vector<std::string> inputs, std::vector<std::string> outputs,
              const std::string& op_type = "Op", const std::string& domain = "") {
  OnnxNode node;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.op_type = op_type;
  node.domain = domain;
  return node;
}

OnnxNode WithGraph(OnnxNode node, OnnxGraph graph) {
  OnnxAttribute attribute;
  attribute.name = "body";
  attribute.type = OnnxAttributeType::kGraph;
  attribute.value = std::vector<OnnxGraph>{std::move(graph)};
  node.attributes.push_back(std::move(attribute));
  return node;
}

std::vector<OnnxValueInfo> Values(const std::vector<std::string>& names) {
  std::vector<OnnxValueInfo> values(names.size());
  for (size_t i = 0; i < names.size(); ++i) values[i].name = names[i];
  return values;
}

OnnxGraph Graph(std::vector<OnnxNode> nodes, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs) {
  OnnxGraph graph;
  graph.nodes = std::move(nodes);
  graph.inputs = Values(inputs);
  graph.outputs = Values(outputs);
  return graph;
}

OnnxModel Model(OnnxGraph graph) {
  OnnxModel model;
  model.file = "x";
  model.graph = std::move(graph);
  return model;
}

std::string ErrorOf(OnnxModel model) { return CheckOnnxModel(&model).ToString(); }
std::string ErrorOf(OnnxGraph graph) { return ErrorOf(Model(std::move(graph))); }

TEST(OnnxCheckTest, SortsNodes) {
  OnnxModel model = Model(Graph({Node({"b"}, {"c"}, "Third"), Node({"x"}, {"a"}, "First"),
                                 Node({"a", ""}, {"b"}, "Second"), Node({"x"}, {"d"}, "Last")},
                                {"x"}, {"c", "d", "x"}));
  ASSERT_TRUE(CheckOnnxModel(&model).ok());
  std::vector<std::string> order;
  for (const OnnxNode& node : model.graph.nodes) order.push_back(node.op_type);
  EXPECT_THAT(order, ::testing::ElementsAre("First", "Second", "Third", "Last"));
}

// Values that a graph within a node uses from around it must come before the node.
TEST(OnnxCheckTest, SortsByWhatGraphsWithinUse) {
  OnnxGraph deep = Graph({Node({"a"}, {"z"})}, {}, {"z"});
  OnnxGraph body = Graph({WithGraph(Node({}, {"y"}, "If"), deep)}, {}, {"y"});
  OnnxModel model =
      Model(Graph({WithGraph(Node({}, {"b"}, "If"), body), Node({"x"}, {"a"})}, {"x"}, {"b"}));
  ASSERT_EQ(CheckOnnxModel(&model).ToString(), "OK");
  EXPECT_EQ(model.graph.nodes[1].op_type, "If");
}

TEST(OnnxCheckTest, RefusesNamesThatAreWrong) {
  OnnxGraph twice = Graph({}, {"x"}, {});
  twice.initializers.resize(2);
  twice.initializers[0].name = twice.initializers[1].name = "w";
  OnnxGraph shadows = Graph({Node({}, {"x"})}, {}, {"x"});
  for (const auto& [graph, expected] : std::vector<std::pair<OnnxGraph, std::string>>{
           {Graph({Node({"b"}, {"a"}), Node({"a"}, {"b"})}, {}, {}),
            "node 0 \"\" (Op): its inputs"},
           {Graph({Node({"a"}, {"a"})}, {}, {}), "its inputs need its outputs"},
           {Graph({Node({"a"}, {"b"})}, {}, {}), "input \"a\" is made by nothing"},
           {Graph({}, {}, {"a"}), "output \"a\" is made by nothing"},
           {Graph({Node({}, {"a"}), Node({}, {"a"})}, {}, {}), "(Op): output \"a\" is the name"},
           {Graph({Node({}, {"a", "a"})}, {}, {}), "is the name of another value"},
           {Graph({Node({}, {"x"})}, {"x"}, {}), "is the name of another value"},
           {Graph({}, {"x", "x"}, {}), "got input \"x\" twice"},
           {twice, "got initializer \"w\" twice"},
           {Graph({WithGraph(Node({}, {"y"}), shadows)}, {"x"}, {}),
            "x: graph, node 0 \"\" (Op), \"body\", node 0 \"\" (Op): output \"x\" is the name"}}) {
    EXPECT_THAT(ErrorOf(graph), HasSubstr(expected));
    EXPECT_THAT(ErrorOf(graph), HasSubstr("DATA_LOSS: x: graph, "));
  }
  OnnxGraph default_of_input = Graph({}, {"w"}, {"w"});
  default_of_input.initializers.resize(1);
  default_of_input.initializers[0].name = "w";
  EXPECT_EQ(ErrorOf(default_of_input), "OK");
}

OnnxFunction Function(const std::string& name, std::vector<OnnxNode> nodes) {
  OnnxFunction function;
  function.name = name;
  function.domain = "d";
  function.inputs = {"p"};
  function.outputs = {nodes.empty() ? "p" : nodes.back().outputs[0]};
  function.nodes = std::move(nodes);
  return function;
}

TEST(OnnxCheckTest, RefusesFunctionsThatAreWrong) {
  OnnxModel model = Model({});
  model.functions = {Function("F", {Node({"p"}, {"q"}, "G", "d")}),
                     Function("G", {Node({"p"}, {"q"}, "F", "d")})};
  EXPECT_THAT(ErrorOf(model), HasSubstr("x: function \"d\".\"F\": it calls itself"));
  model.functions = {Function("F", {}), Function("F", {})};
  EXPECT_THAT(ErrorOf(model), HasSubstr("there is another one of this name"));
  model.functions = {Function("F", {Node({"x"}, {"q"})})};
  EXPECT_THAT(ErrorOf(model),
              HasSubstr("function \"F\", node 0 \"\" (Op): input \"x\" is made by"));
}

// Each calls the next twice: 2^30 nodes, of which none is made here.
TEST(OnnxCheckTest, CountsTheNodesOfCalls) {
  const auto chain = [](int n) {
    OnnxModel model = Model({});
    for (int i = 0; i < n; ++i) {
      const std::string next = absl::StrCat("F", i + 1);
      model.functions.push_back(Function(
          absl::StrCat("F", i), {Node({"p"}, {"q"}, next, "d"), Node({"q"}, {"r"}, next, "d")}));
    }
    model.functions.push_back(Function(absl::StrCat("F", n), {Node({"p"}, {"q"})}));
    return model;
  };
  EXPECT_EQ(ErrorOf(chain(8)), "OK");
  EXPECT_THAT(ErrorOf(chain(30)), HasSubstr("expected at most 10000000 nodes in its calls"));
  EXPECT_THAT(ErrorOf(chain(102)), HasSubstr("expected at most 100 calls in each other"));
}

}  // namespace
}  // namespace firn::io::internal

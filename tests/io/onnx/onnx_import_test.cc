#include <limits>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/network/definition.h"
#include "firn/io/image/image.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/nn/graph_module.h"
#include "firn/nn/static_module.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/onnx/onnx_builder.h"

namespace firn::io::internal {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Floats(std::vector<float> values, const Shape& shape) {
  return FromVector(std::move(values), shape);
}
Tensor Numbers(std::vector<int64_t> values) { return FromVector(std::move(values)); }
Tensor Number(int64_t value) { return FromVector(std::vector<int64_t>{value}, Shape{}); }

std::string ErrorOfImport(OnnxModel model, const OnnxImportOptions& options = {}) {
  return Import(std::move(model), options).status().ToString();
}

// y = x w + b, through shapes that the network computes itself.
OnnxModel LinearModel() {
  return Model(Graph({Node("Shape", {"x"}, {"sizes"}),
                      Node("Gather", {"sizes", "zero"}, {"rows"}, {Int("axis", 0)}),
                      Node("Unsqueeze", {"rows", "axes"}, {"rows_1d"}),
                      Node("Concat", {"rows_1d", "rest"}, {"shape"}, {Int("axis", 0)}),
                      Node("Reshape", {"x", "shape"}, {"flat"}),
                      Node("MatMul", {"flat", "fc.weight"}, {"product"}),
                      Node("Add", {"product", "fc.bias"}, {"y"})},
                     {"x"}, {"y"},
                     {{"zero", Number(0)},
                      {"axes", Numbers({0})},
                      {"rest", Numbers({-1})},
                      {"fc.weight", Floats({1, 2, 3, 4}, {4, 1})},
                      {"fc.bias", Floats({10}, {1})}}));
}

TEST(OnnxImportTest, RunsANetwork) {
  const OnnxImport net = Import(LinearModel()).value();
  EXPECT_EQ(net.state.size(), 2u);
  EXPECT_TRUE(net.state.Contains("fc.weight"));
  const Tensor x = Floats({1, 1, 1, 1, 0, 0, 0, 1}, {2, 2, 2});
  EXPECT_THAT(net.network(x).ToVector<float>(), ElementsAre(20, 14));
  // Another shape, and the first again.
  EXPECT_THAT(net.network(Floats({1, 0, 0, 0}, {1, 2, 2})).ToVector<float>(), ElementsAre(11));
  EXPECT_THAT(net.network(x).ToVector<float>(), ElementsAre(20, 14));
}

// A captured graph contains none of the nodes about shapes.
TEST(OnnxImportTest, IsCaptured) {
  const OnnxImport net = Import(LinearModel()).value();
  const Tensor x = Floats({1, 1, 1, 1, 0, 0, 0, 1}, {2, 2, 2});
  const NoGradScope no_grad;
  StaticGraph graph = Freeze([&](const Tensor& in) { return net.network(in); }, x);
  EXPECT_THAT(graph(x).ToVector<float>(), ElementsAre(20, 14));
  EXPECT_THAT(graph(Neg(x)).ToVector<float>(), ElementsAre(0, 6));
}

// Each shape has a graph, which is used again when the shape comes again, and which follows writes
// into parameters.
TEST(OnnxImportTest, SeveralShapesInTurnRunGraphsOfTheirOwn) {
  nn::GraphModule net(Import(LinearModel()).value());
  nn::StaticModule fast(net);
  const NoGradScope no_grad;
  const std::vector<Tensor> batches = {Floats({1, 1, 1, 1, 0, 0, 0, 1}, {2, 2, 2}),
                                       Floats({1, 0, 0, 0}, {1, 2, 2}),
                                       Floats({0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}, {3, 4})};
  const std::vector<std::vector<float>> want = {{20, 14}, {11}, {14, 13, 12}};
  for (int turn = 0; turn < 3; ++turn) {
    for (size_t i = 0; i < batches.size(); ++i) {
      EXPECT_EQ(fast(batches[i]).ToVector<float>(), want[i]) << turn << ", " << i;
    }
  }
  EXPECT_EQ(fast.size(), 3u);
  EXPECT_EQ(fast.misses(), 3);
  EXPECT_EQ(fast.hits(), 6);
  Tensor(net.parameters()[1]).CopyFrom(Floats({20}, {1}));
  for (size_t i = 0; i < batches.size(); ++i) {
    EXPECT_EQ(fast(batches[i]).ToVector<float>()[0], want[i][0] + 10);
  }
  EXPECT_EQ(fast.misses(), 3);
}

TEST(OnnxImportTest, IsTrainedAsAModule) {
  nn::GraphModule net(Import(LinearModel()).value().network);
  ASSERT_EQ(net.named_parameters().size(), 2u);
  EXPECT_EQ(net.named_parameters()[0].name, "fc.weight");
  const Tensor x = Floats({1, 2, 3, 4}, {1, 2, 2});
  Sum(net(x)).Backward();
  EXPECT_THAT(net.parameters()[0].grad().ToVector<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(net.parameters()[1].grad().ToVector<float>(), ElementsAre(1));
}

// Constants that only configure a node are no parameters; running statistics are buffers.
TEST(OnnxImportTest, TellsParametersFromSettings) {
  const OnnxImport net =
      Import(Model(Graph(
                 {Node("Clip", {"x", "low", "high"}, {"c"}), Node("Mul", {"c", "w"}, {"y"})}, {"x"},
                 {"y"},
                 {{"low", Floats({0}, {})}, {"high", Floats({1}, {})}, {"w", Floats({2}, {})}})))
          .value();
  ASSERT_EQ(net.state.size(), 1u);
  EXPECT_TRUE(net.state.Contains("w"));
  EXPECT_THAT(net.network(Floats({-1, 0.5, 3}, {3})).ToVector<float>(), ElementsAre(0, 1, 2));
}

// An unknown operator, one of a later opset and an element type, in one message.
TEST(OnnxImportTest, RefusesOpsetsThatItDoesNotKnow) {
  const OnnxGraph graph = Graph({Node("Relu", {"x"}, {"y"})}, {"x"}, {"y"});
  EXPECT_THAT(ErrorOfImport(Model(graph, 0)), HasSubstr("opset 0 of ONNX's operators (1 to 28"));
  EXPECT_THAT(ErrorOfImport(Model(graph, 29)), HasSubstr("opset 29"));
  EXPECT_EQ(ErrorOfImport(Model(graph, 28)), "OK");
}

TEST(OnnxImportTest, NamesTheNodeThatDoesNotFit) {
  const OnnxImport net =
      Import(Model(Graph({Node("Flatten", {"x"}, {"y"}, {Int("axis", 5)})}, {"x"}, {"y"}))).value();
  EXPECT_THAT(ErrorOf([&] { net.network(Floats({1}, {1})); }),
              HasSubstr("net.onnx: node 0 \"\" (Flatten, opset 18): axis 5 is"
                        " expected in [-1, 1]"));
}

TEST(OnnxImportTest, ChecksInputs) {
  OnnxModel model = Model(Graph({Node("Add", {"x", "y"}, {"z"})}, {"x", "y"}, {"z"}));
  for (OnnxValueInfo& input : model.graph.inputs) {
    input.type.kind = OnnxType::Kind::kTensor;
    input.type.element = 1;
    input.type.shape.emplace(2);
    (*input.type.shape)[0].name = "n";
    (*input.type.shape)[1].value = 2;
  }
  const OnnxImport net = Import(model).value();
  const auto call = [&](const Tensor& x, const Tensor& y) {
    return ErrorOf([&] { net.network(x, y); });
  };
  EXPECT_EQ(call(Ones({3, 2}), Ones({3, 2})), "");
  EXPECT_THAT(call(Ones({3, 2}), Ones({1, 2})),
              HasSubstr("input \"y\" is expected to be f32 [n, 2], got f32 [1, 2] on cpu, n = 3"));
  EXPECT_THAT(call(Ones({3, 2}, DType::kF64), Ones({3, 2})), HasSubstr("input \"x\" is expected"));
  EXPECT_THAT(ErrorOf([&] { net.network(Ones({3, 2})); }), HasSubstr("takes 2 inputs, got 1"));
  const OnnxImport fixed = Import(model, {.dims = {{"n", 4}}}).value();
  EXPECT_THAT(ErrorOf([&] {
                fixed.network(Ones({3, 2}), Ones({3, 2}));
              }),
              HasSubstr("is expected to be f32 [4, 2]"));
}

// Two calls of a function, one within another, with an attribute of the caller and a default.
TEST(OnnxImportTest, WritesFunctionsOut) {
  OnnxFunction scale;
  scale.name = "Scale";
  scale.domain = "mine";
  scale.inputs = {"a"};
  scale.outputs = {"b"};
  scale.opsets = {{"", 18}};
  scale.defaults = {Float("by", 2)};
  scale.nodes = {
      Node("Constant", {}, {"c"}, {Reference("value_float", "by", OnnxAttributeType::kFloat)}),
      Node("Mul", {"a", "c"}, {"b"})};
  OnnxFunction twice;
  twice.name = "Twice";
  twice.domain = "mine";
  twice.inputs = {"a"};
  twice.outputs = {"c"};
  twice.opsets = {{"mine", 1}};
  twice.nodes = {Node("Scale", {"a"}, {"b"}, {}, "mine"),
                 Node("Scale", {"b"}, {"c"}, {Float("by", 5)}, "mine")};
  OnnxModel model = Model(Graph({Node("Twice", {"x"}, {"y"}, {}, "mine")}, {"x"}, {"y"}));
  model.opsets.push_back({"mine", 1});
  model.functions = {scale, twice};
  EXPECT_THAT(Import(model).value().network(Floats({3}, {1})).ToVector<float>(), ElementsAre(30));
  EXPECT_THAT(ErrorOfImport(model, {.max_nodes = 5}), HasSubstr("max_nodes"));
}

// --- Control flow -------------------------------------------------------------------------------

OnnxModel IfModel() {
  const OnnxGraph yes = Graph({Node("Add", {"x", "x"}, {"t"})}, {}, {"t"});
  const OnnxGraph no = Graph({Node("Neg", {"x"}, {"e"})}, {}, {"e"});
  return Model(
      Graph({Node("If", {"c"}, {"y"}, {Body("then_branch", yes), Body("else_branch", no)})},
            {"x", "c"}, {"y"}));
}

TEST(OnnxImportTest, RunsBothBranchesInAGraph) {
  const OnnxImport net = Import(IfModel()).value();
  const Tensor x = Floats({1, 2}, {2});
  const Tensor yes = Full({}, true, DType::kBool), no = Full({}, false, DType::kBool);
  EXPECT_THAT(net.network(x, yes).ToVector<float>(), ElementsAre(2, 4));
  EXPECT_THAT(net.network(x, no).ToVector<float>(), ElementsAre(-1, -2));
  const NoGradScope no_grad;
  StaticGraph graph =
      Freeze([&](const Tensor& a, const Tensor& b) { return net.network(a, b); }, x, yes);
  EXPECT_THAT(graph(x, yes).ToVector<float>(), ElementsAre(2, 4));
  EXPECT_THAT(graph(x, no).ToVector<float>(), ElementsAre(-1, -2));
}

TEST(OnnxImportTest, RunsOneBranchOfAConditionThatItKnows) {
  OnnxModel model = IfModel();
  model.graph.inputs.pop_back();
  // The other branch could not run.
  std::get<std::vector<OnnxGraph>>(model.graph.nodes[0].attributes[1].value)[0].nodes[0].inputs = {
      "c"};
  model.graph.initializers.push_back(OnnxTensorOf("c", Full({}, true, DType::kBool)));
  EXPECT_THAT(Import(model).value().network(Floats({1, 2}, {2})).ToVector<float>(),
              ElementsAre(2, 4));
}

// v doubles n times; the values on the way are stacked. The body sees x from around it.
OnnxModel LoopModel() {
  const OnnxGraph body = Graph({Node("Identity", {"go"}, {"go_on"}), Node("Add", {"v", "v"}, {"w"}),
                                Node("Add", {"w", "x"}, {"sum"})},
                               {"i", "go", "v"}, {"go_on", "w", "sum"});
  return Model(Graph({Node("Loop", {"n", "", "x"}, {"y", "all"}, {Body("body", body)})}, {"x"},
                     {"y", "all"}, {{"n", Number(3)}}));
}

TEST(OnnxImportTest, UnrollsLoops) {
  const OnnxImport net = Import(LoopModel()).value();
  const TensorList out = net.network.Call({Floats({1}, {1})});
  EXPECT_THAT(out[0].ToVector<float>(), ElementsAre(8));
  EXPECT_THAT(out[1].ToVector<float>(), ElementsAre(3, 5, 9));
  EXPECT_EQ(out[1].shape(), Shape({3, 1}));
  OnnxModel endless = LoopModel();
  endless.graph.initializers[0] = OnnxTensorOf("n", Number(int64_t{1} << 40));
  const OnnxImport bad = Import(endless, {.max_nodes = 1000}).value();
  EXPECT_THAT(ErrorOf([&] { bad.network.Call({Floats({1}, {1})}); }), HasSubstr("max_nodes"));
}

// A length that is an input gives another program for each value, so a graph cannot have it.
TEST(OnnxImportTest, LooksAtElementsThatSayWhatIsComputed) {
  OnnxModel model = LoopModel();
  model.graph.initializers.clear();
  model.graph.inputs.push_back(Values({"n"})[0]);
  const OnnxImport net = Import(model).value();
  const auto run = [&](int64_t n) {
    return net.network.Call({Floats({1}, {1}), Number(n)})[0].ToVector<float>();
  };
  EXPECT_THAT(run(3), ElementsAre(8));
  EXPECT_THAT(run(5), ElementsAre(32));
  EXPECT_THAT(run(3), ElementsAre(8));
  const Tensor x = Floats({1}, {1}), n = Number(3);
  EXPECT_THAT(
      ErrorOf([&] {
        Freeze([&](const Tensor& a, const Tensor& b) { return net.network.Call({a, b})[0]; }, x, n);
      }),
      HasSubstr("input 0 (M) depends on elements of input \"n\""));
}

TEST(OnnxImportTest, UnrollsScans) {
  const OnnxGraph body = Graph({Node("Add", {"s", "v"}, {"t"}), Node("Identity", {"t"}, {"u"})},
                               {"s", "v"}, {"t", "u"});
  const OnnxImport net = Import(Model(Graph({Node("Scan", {"s0", "x"}, {"s1", "sums"},
                                                  {Body("body", body), Int("num_scan_inputs", 1),
                                                   Ints("scan_input_directions", {1})})},
                                            {"s0", "x"}, {"s1", "sums"})))
                             .value();
  const TensorList out = net.network.Call({Floats({0}, {1}), Floats({1, 2, 3}, {3, 1})});
  EXPECT_THAT(out[0].ToVector<float>(), ElementsAre(6));
  EXPECT_THAT(out[1].ToVector<float>(), ElementsAre(3, 5, 6));
}

// Opset 8 has a batch in front, and lengths before all other inputs.
TEST(OnnxImportTest, UnrollsScansOfBatches) {
  const OnnxGraph body = Graph({Node("Add", {"s", "v"}, {"t"}), Node("Identity", {"t"}, {"u"})},
                               {"s", "v"}, {"t", "u"});
  const auto model = [&](const std::string& lengths) {
    return Model(
        Graph({Node("Scan", {lengths, "s0", "x"}, {"s1", "sums"},
                    {Body("body", body), Int("num_scan_inputs", 1), Ints("directions", {1})})},
              {"s0", "x"}, {"s1", "sums"}),
        8);
  };
  const TensorList in = {Floats({0, 10}, {2, 1}), Floats({1, 2, 3, 4, 5, 6}, {2, 3, 1})};
  const TensorList out = Import(model("")).value().network.Call(in);
  EXPECT_EQ(out[0].shape(), Shape({2, 1}));
  EXPECT_THAT(out[0].ToVector<float>(), ElementsAre(6, 25));
  EXPECT_EQ(out[1].shape(), Shape({2, 3, 1}));
  EXPECT_THAT(out[1].ToVector<float>(), ElementsAre(3, 5, 6, 16, 21, 25));
  const OnnxImport net = Import(model("s0")).value();
  EXPECT_THAT(ErrorOf([&] { net.network.Call(in); }),
              HasSubstr("input 0 (sequence_lens) is not supported"));
  EXPECT_THAT(ErrorOf([&] {
                Import(model("")).value().network.Call({in[0], Ones({3, 3, 1})});
              }),
              HasSubstr("inputs are expected to begin with one batch"));
}

TEST(OnnxImportTest, MovesSequencesAbout) {
  const OnnxImport net =
      Import(Model(Graph({Node("SplitToSequence", {"x"}, {"s"}, {Int("axis", 0)}),
                          Node("SequenceAt", {"s", "last"}, {"a"}),
                          Node("SequenceInsert", {"s", "a", "first"}, {"t"}),
                          Node("ConcatFromSequence", {"t"}, {"y"}, {Int("axis", 0)})},
                         {"x"}, {"y"}, {{"last", Number(-1)}, {"first", Number(0)}})))
          .value();
  EXPECT_THAT(net.network(Floats({1, 2, 3}, {3})).ToVector<float>(), ElementsAre(3, 1, 2, 3));
}

// Parameters whose names contain no module stand at the root.
TEST(OnnxImportTest, KeepsNamesOfParameters) {
  const nn::GraphModule net(
      Import(Model(Graph(
                 {Node("Mul", {"x", "a.w"}, {"p"}), Node("Mul", {"p", "a"}, {"q"}),
                  Node("Mul", {"q", "b..c"}, {"y"})},
                 {"x"}, {"y"},
                 {{"a.w", Floats({2}, {1})}, {"a", Floats({3}, {1})}, {"b..c", Floats({5}, {1})}})))
          .value()
          .network);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : net.state_dict()) names.push_back(name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("a.w", "a/", "b//c"));
}

// The sign of a remainder is the divisor's, a zero's too.
TEST(OnnxImportTest, HasRemaindersWithTheSignOfTheDivisor) {
  const OnnxModel model = Model(
      Graph({Node("Mod", {"x", "y"}, {"r"}), Node("Reciprocal", {"r"}, {"z"})}, {"x", "y"}, {"z"}),
      28);
  const Tensor z =
      Import(model).value().network(Floats({0, 4, -4, 4}, {4}), Floats({-2, -2, 2, 2}, {4}));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(z.ToVector<float>(), ElementsAre(-inf, -inf, inf, inf));
}

// Pillow makes grey from the colours of a JPEG, not from its brightness.
TEST(OnnxImportTest, DecodesGreyPicturesFromColours) {
  std::vector<uint8_t> picture(3 * 16 * 16);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = i * i % 11 < 5 ? 255 : 0;
  const std::string jpeg = EncodeJpeg(FromVector(std::move(picture), {3, 16, 16}));
  const Tensor bytes = FromVector(std::vector<uint8_t>(jpeg.begin(), jpeg.end()));
  const OnnxModel model =
      Model(Graph({Node("ImageDecoder", {"b"}, {"y"}, {Text("pixel_format", "Grayscale")})}, {},
                  {"y"}, {{"b", bytes}}),
            20);
  const std::vector<uint8_t> y = Import(model).value().network.Call({})[0].ToVector<uint8_t>();
  const std::vector<uint8_t> c = DecodeImage(jpeg, {.color = ImageColor::kRgb}).ToVector<uint8_t>();
  ASSERT_EQ(y.size(), 256u);
  for (size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(y[i], (c[i] * 19595 + c[i + 256] * 38470 + c[i + 512] * 7471 + 32768) >> 16);
  }
}

}  // namespace
}  // namespace firn::io::internal

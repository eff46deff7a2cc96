// Operators as they were up to opset 6, which old exporters used.
#include <string>
#include <vector>

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

// The result of a node for x and initializers.
Tensor Made(int64_t opset, OnnxNode node, const Tensor& x,
            std::vector<std::pair<std::string, Tensor>> rest = {}) {
  const std::string y = node.outputs[0];
  const OnnxModel model = Model(Graph({std::move(node)}, {"x"}, {y}, std::move(rest)), opset);
  return Import(model).value().network(x);
}
std::vector<float> Numbers(const Tensor& t) { return t.To(DType::kF32).ToVector<float>(); }

TEST(OnnxOldOpsetsTest, LayTheSecondOperandOnAnAxis) {
  const Tensor x = Floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto sum = [&](std::vector<OnnxAttribute> attributes, const Tensor& y) {
    return Numbers(Made(6, Node("Add", {"x", "y"}, {"z"}, std::move(attributes)), x, {{"y", y}}));
  };
  EXPECT_THAT(sum({Int("broadcast", 1), Int("axis", 0)}, Floats({10, 20}, {2})),
              ElementsAre(11, 12, 13, 24, 25, 26));
  EXPECT_THAT(sum({Int("broadcast", 1)}, Floats({10, 20, 30}, {3})),
              ElementsAre(11, 22, 33, 14, 25, 36));
  EXPECT_THAT(sum({Int("broadcast", 1)}, Floats({10}, {})), ElementsAre(11, 12, 13, 14, 15, 16));
  EXPECT_THAT(sum({}, x), ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_THAT(ErrorOf([&] {
                sum({}, Floats({1, 1, 1}, {3}));
              }),
              HasSubstr("(Add, opset 6): inputs are expected to have one shape without"
                        " attribute \"broadcast\", got [2, 3] and [3]"));
  EXPECT_THAT(ErrorOf([&] {
                sum({Int("broadcast", 1), Int("axis", 2)}, Floats({1}, {1}));
              }),
              HasSubstr("input 1, [1], is expected to lie within the dimensions of input 0, [2, 3],"
                        " from axis 2 on"));
}

TEST(OnnxOldOpsetsTest, KeepTheShapeOfTheFirst) {
  const Tensor x = Floats({1, 2}, {2, 1});
  const auto error = [&](int64_t opset, const char* op, std::vector<OnnxAttribute> attributes) {
    return ErrorOf([&] {
      Made(opset, Node(op, {"x", "y"}, {"z"}, std::move(attributes)), x,
           {{"y", Floats({1, 2, 3}, {3})}});
    });
  };
  EXPECT_THAT(
      error(6, "Mul", {Int("broadcast", 1)}),
      HasSubstr("input 1, [3], is expected to lie within the dimensions of input 0, [2, 1]"));
  for (const char* op : {"Sum", "Mean", "Max", "Min"}) {
    EXPECT_THAT(error(7, op, {}),
                HasSubstr("inputs are expected to have one shape, got [2, 1] and [3]"));
    EXPECT_EQ(error(8, op, {}), "");
  }
}

// The other binary operators, and comparisons: x is [2, 2], y is broadcast along its rows.
TEST(OnnxOldOpsetsTest, LayEveryBinaryOperator) {
  const Tensor x = Floats({1, 2, 3, 4}, {2, 2});
  const std::vector<OnnxAttribute> laid = {Int("broadcast", 1), Int("axis", 0)};
  const auto made = [&](const char* op) {
    return Numbers(Made(1, Node(op, {"x", "y"}, {"z"}, laid), x, {{"y", Floats({2, 3}, {2})}}));
  };
  EXPECT_THAT(made("Sub"), ElementsAre(-1, 0, 0, 1));
  EXPECT_THAT(made("Mul"), ElementsAre(2, 4, 9, 12));
  EXPECT_THAT(made("Div"), ElementsAre(0.5, 1, 1, 4.f / 3));
  EXPECT_THAT(made("Pow"), ElementsAre(1, 4, 27, 64));
  EXPECT_THAT(made("Greater"), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(made("Less"), ElementsAre(1, 0, 0, 0));
}

TEST(OnnxOldOpsetsTest, HaveSizesAsAttributes) {
  const Tensor x = Floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor reshaped = Made(1, Node("Reshape", {"x"}, {"y"}, {Ints("shape", {0, -1, 1})}), x);
  EXPECT_EQ(reshaped.shape(), Shape({2, 3, 1}));
  const Tensor padded = Made(1, Node("Pad", {"x"}, {"y"}, {Ints("paddings", {0, 1, 0, 0})}), x);
  EXPECT_THAT(Numbers(padded), ElementsAre(0, 1, 2, 3, 0, 4, 5, 6));
  const Tensor top = Made(1, Node("TopK", {"x"}, {"y", "at"}, {Int("k", 1)}), x);
  EXPECT_THAT(Numbers(top), ElementsAre(3, 6));
  const Tensor tiled = Made(1, Node("Tile", {"x", "n", "axis"}, {"y"}), Floats({1, 2}, {1, 2}),
                            {{"n", Floats({2}, {})}, {"axis", Floats({1}, {})}});
  EXPECT_THAT(Numbers(tiled), ElementsAre(1, 2, 1, 2));
  const Tensor wide =
      Made(1, Node("Upsample", {"x"}, {"y"}, {Float("height_scale", 1), Float("width_scale", 2)}),
           Floats({1, 2}, {1, 1, 1, 2}));
  EXPECT_THAT(Numbers(wide), ElementsAre(1, 1, 2, 2));
}

TEST(OnnxOldOpsetsTest, CastToWords) {
  const Tensor y =
      Made(1, Node("Cast", {"x"}, {"y"}, {Text("to", "INT64")}), Floats({1.5, -2}, {2}));
  EXPECT_EQ(y.dtype(), DType::kI64);
  EXPECT_THAT(y.ToVector<int64_t>(), ElementsAre(1, -2));
  EXPECT_THAT(
      ErrorOf([] { Made(1, Node("Cast", {"x"}, {"y"}, {Text("to", "int")}), Floats({1}, {1})); }),
      HasSubstr("attribute \"to\" is expected to be a type, got \"int\""));
}

// [3] is a slope for each channel, not for each column.
TEST(OnnxOldOpsetsTest, HaveSlopesOfChannels) {
  const Tensor x = Floats({-1, -1, -1, -1, -1, -1, -1, -1, -1}, {1, 3, 3});
  const Tensor y = Made(6, Node("PRelu", {"x", "s"}, {"y"}), x, {{"s", Floats({1, 2, 3}, {3})}});
  EXPECT_THAT(Numbers(y), ElementsAre(-1, -1, -1, -2, -2, -2, -3, -3, -3));
}

TEST(OnnxOldOpsetsTest, SayThatTheyAreNotTraining) {
  const Tensor x = Floats({1, 2, 3, 4}, {2, 2}), one = Floats({1, 1}, {2});
  const Tensor y = Made(6,
                        Node("BatchNormalization", {"x", "one", "mean", "mean", "one"}, {"y"},
                             {Int("is_test", 1), Float("epsilon", 0)}),
                        x, {{"one", one}, {"mean", Floats({1, 1}, {2})}});
  EXPECT_THAT(Numbers(y), ElementsAre(1, 2, 3, 4));
  const Tensor trained = Made(6,
                              Node("BatchNormalization", {"x", "one", "mean", "mean", "one"}, {"y"},
                                   {Int("is_test", 0), Float("epsilon", 0)}),
                              x, {{"one", one}, {"mean", Floats({1, 1}, {2})}});
  EXPECT_THAT(Numbers(trained), ElementsAre(0, 0, 2, 2));  // -1 and 1 of its batch, plus 1
  EXPECT_THAT(Numbers(Made(6, Node("Dropout", {"x"}, {"y"}, {Int("is_test", 1)}), x)),
              ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace firn::io::internal

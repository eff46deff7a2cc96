// Networks by hand, with results that follow from what NNabla documents of its functions.
#include "firn/io/nnabla_network/nnabla_network.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/network/definition.h"
#include "firn/io/nnabla_model/internal/nnabla_functions.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tests/error_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io {
namespace {

using ::testing::HasSubstr;

nnabla::Model ModelOf(const std::string& text) {
  auto model = TryParseNnabla(text, "x.nntxt");
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : nnabla::Model();
}

std::string Buffer(const std::string& name, const std::string& dims) {
  return absl::StrCat("variable { name: '", name, "' type: 'Buffer' shape { dim: [", dims,
                      "] } }\n");
}

std::string Function(const std::string& type, const std::string& in, const std::string& out,
                     const std::string& more = "") {
  return absl::StrCat("function { name: '", type, "' type: '", type, "' input: [", in,
                      "] output: [", out, "] ", more, " }\n");
}

const char* const kParameters =
    "parameter { variable_name: 'fc/W' shape { dim: [2, 3] } data: [1, 2, 3, 4, 5, 6] need_grad: "
    "true }\n"
    "parameter { variable_name: 'fc/b' shape { dim: 3 } data: [1, 0, -1] }\n";

std::string Affine(const std::string& shape_of_w = "2, 3") {
  return absl::StrCat(
      "network { name: 'n' batch_size: 1 ", Buffer("x", "-1, 2"), Buffer("h", "-1, 3"),
      Buffer("y", "-1, 3"), Buffer("t", "-1, 1"), Buffer("l", "-1, 1"),
      "variable { name: 'fc/W' type: 'Parameter' shape { dim: [", shape_of_w, "] } }\n",
      "variable { name: 'fc/b' type: 'Parameter' shape { dim: 3 } }\n",
      Function("Affine", "'x', 'fc/W', 'fc/b'", "'h'", "affine_param { base_axis: 1 }"),
      Function("ReLU", "'h'", "'y'", "relu_param { }"),
      Function("SoftmaxCrossEntropy", "'y', 't'", "'l'", "softmax_cross_entropy_param { axis: 1 }"),
      "}\n",
      "executor { name: 'run' network_name: 'n' data_variable { variable_name: 'x' } "
      "output_variable { variable_name: 'y' } }\n");
}

void ExpectEqual(const Tensor& got, const std::vector<float>& want, const Shape& shape) {
  ASSERT_EQ(got.shape(), shape);
  const Tensor flat = Flatten(got);
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(Select(flat, 0, static_cast<int64_t>(i)).Item<float>(), want[i]) << i;
  }
}

TEST(NnablaNetworkTest, AnExecutorTakesItsPartOfANetwork) {
  const NnablaImport model =
      ImportNnablaModel(ModelOf(Affine() + kParameters), "x.nntxt", {.batch_size = 2});
  ASSERT_EQ(model.executors.size(), 1u);
  const Network& run = model.executors[0].network;
  ASSERT_EQ(run.inputs().size(), 1u);
  EXPECT_EQ(run.inputs()[0].name, "x");
  // [1, -1] W + b = [-3, -3, -3] + [1, 0, -1]; [0, 1] W + b = [5, 5, 5].
  ExpectEqual(run(FromVector<float>({1, -1, 0, 1}, {2, 2})), {0, 0, 0, 5, 5, 5}, {2, 3});
  EXPECT_TRUE(model.state["fc.W"].requires_grad());
  EXPECT_FALSE(model.state["fc.b"].requires_grad());
  EXPECT_EQ(run.parameters()["fc.W"].impl(), model.state["fc.W"].impl());
}

TEST(NnablaNetworkTest, ANetworkHasTheEndsThatItsFunctionsLeave) {
  const NnablaImport model =
      ImportNnablaModel(ModelOf(Affine() + kParameters), "x.nntxt", {.batch_size = 1});
  const Network& n = model.networks[0].network;
  ASSERT_EQ(n.inputs().size(), 2u);
  EXPECT_EQ(n.inputs()[1].name, "t");
  ASSERT_EQ(n.outputs().size(), 1u);
  EXPECT_EQ(n.outputs()[0].name, "l");
  // Equal scores: log 3. A label below 0 counts nothing.
  const auto loss = [&](float label) {
    const std::vector<Tensor> in = {FromVector<float>({0, 1}, {1, 2}), Full({1, 1}, label)};
    return n.Call(in)[0].Item<float>();
  };
  // h = [0, 1] W + b = [5, 5, 5].
  EXPECT_NEAR(loss(2), 1.0986123f, 1e-6);
  EXPECT_EQ(loss(-1), 0);
}

// Each is computed, or refused for a reason: 209 and 19.
TEST(NnablaNetworkTest, EveryFunctionOfNnablaIsOnAPage) {
  int computed = 0;
  for (const internal::NnablaKind& kind : internal::NnablaFunctions()) {
    const internal::NnablaOp* const op = internal::FindNnablaOp(kind.type);
    ASSERT_NE(op, nullptr) << kind.type;
    EXPECT_NE(op->run == nullptr, op->options.refused.empty()) << kind.type;
    computed += op->run != nullptr ? 1 : 0;
  }
  EXPECT_EQ(computed, 209);
}

TEST(NnablaNetworkTest, NamesAllThatIsWrong) {
  const auto error = [](const std::string& text) {
    return firn::testing::ErrorOf([&] { ImportNnablaModel(ModelOf(text), "x.nntxt", {}); });
  };
  EXPECT_THAT(error(Affine()), HasSubstr("x.nntxt: network \"n\": expected the parameters "
                                         "\"fc/W\", \"fc/b\" in the file"));
  EXPECT_THAT(error(Affine("2, 4") + kParameters),
              HasSubstr("parameter \"fc/W\", shape: expected [2, 4], got [2, 3]"));
  EXPECT_THAT(error("network { name: 'n' batch_size: 1 " + Buffer("x", "2") + Buffer("y", "2") +
                    Buffer("z", "2") + Function("Assign", "'x', 'x'", "'y'") +
                    Function("NonZero", "'y'", "'z'") + "}"),
              HasSubstr("x.nntxt: network \"n\": these functions are not supported: \"Assign\" "
                        "(Assign: it writes its input), \"NonZero\" (NonZero: elements decide"));
  EXPECT_THAT(error("network { name: 'n' batch_size: 1 " + Buffer("x", "2") + Buffer("y", "2") +
                    Function("Add2", "'x'", "'y'") + "}"),
              HasSubstr("function 0 \"Add2\" (Add2), input: expected 2 to 2, got 1"));
  EXPECT_THAT(
      error("executor { name: 'run' network_name: 'm' }"),
      HasSubstr("executor \"run\", network_name: expected a network of the file, got \"m\""));
}

}  // namespace
}  // namespace firn::io

// Reads the training in a file, and the parameters that it begins with. Numbers of
// numpy.random.RandomState(0) are those that NumPy documents and gives.
#include "firn/io/nnabla_training/nnabla_training.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "firn/autograd/backward.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/nnabla_training/nnabla_initial.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tests/error_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

nnabla::Model ModelOf(const std::string& text) {
  auto model = TryParseNnabla(text, "x.nntxt");
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : nnabla::Model();
}

std::string Parameter(const std::string& name, const std::string& dims, const std::string& type,
                      double multiplier = 1) {
  return absl::StrCat("variable { name: '", name, "' type: 'Parameter' shape { dim: [", dims,
                      "] } initializer { type: '", type, "' multiplier: ", multiplier, " } }\n");
}

std::string Buffer(const std::string& name, const std::string& dims) {
  return absl::StrCat("variable { name: '", name, "' type: 'Buffer' shape { dim: [", dims,
                      "] } }\n");
}

std::string Affine(const std::string& in, const std::string& w, const std::string& out) {
  return absl::StrCat("function { name: '", out, "' type: 'Affine' input: ['", in, "', '", w,
                      "'] output: '", out, "' affine_param { base_axis: 1 } }\n");
}

// y = x A B, of which the loss is the mean of the squares' distance to t.
const std::string kText = absl::StrCat(
    "training_config { max_epoch: 2 iter_per_epoch: 3 }\n", "network { name: 'n' batch_size: 2\n",
    Buffer("x", "-1, 2"), Buffer("t", "-1, 2"), Buffer("h", "-1, 2"), Buffer("y", "-1, 2"),
    Buffer("loss", "-1, 2"), Parameter("B", "2, 2", "Normal", 0.5),
    Parameter("A", "2, 2", "Uniform"), Affine("x", "A", "h"), Affine("h", "B", "y"),
    "function { name: 'l' type: 'SquaredError' input: ['y', 't'] output: 'loss' }\n}\n",
    "dataset { name: 'd' uri: 'd.csv' batch_size: 2 }\n",
    "optimizer { name: 'o' network_name: 'n' dataset_name: 'd' update_interval: 0\n",
    "  solver { type: 'Sgd' sgd_param { lr: 0.5 } }\n",
    "  data_variable { variable_name: 't' data_name: '%epoch' }\n",
    "  data_variable { variable_name: 'x' data_name: 'input' }\n",
    "  loss_variable { variable_name: 'loss' }\n",
    "  parameter_variable { variable_name: 'A' learning_rate_multiplier: 0 }\n",
    "  parameter_variable { variable_name: 'B' learning_rate_multiplier: 0.5 } }\n",
    "monitor { name: 'm' network_name: 'n' dataset_name: 'd'\n",
    "  data_variable { variable_name: 'x' data_name: 'input' }\n",
    "  data_variable { variable_name: 't' data_name: 'input' }\n",
    "  monitor_variable { variable_name: 'loss' } }\n");

NnablaTraining TrainingOf(nnabla::Model model) {
  model.parameters = InitialNnablaParameters(model, "x.nntxt");
  return ImportNnablaTraining(model, "x.nntxt");
}

TEST(NnablaTrainingTest, AnOptimizerIsANetworkOfDataAndLosses) {
  const NnablaTraining training = TrainingOf(ModelOf(kText));
  EXPECT_EQ(training.config.max_epoch, 2);
  EXPECT_EQ(training.config.monitor_interval, 10);
  ASSERT_EQ(training.optimizers.size(), 1u);
  const NnablaOptimizer& o = training.optimizers[0];
  EXPECT_THAT(o.data, ElementsAre("%epoch", "input"));
  EXPECT_THAT(o.datasets, ElementsAre("d"));
  EXPECT_THAT(o.parameters, ElementsAre("B"));
  EXPECT_EQ(o.update_interval, 1);
  EXPECT_EQ(o.solver.type, "Sgd");
  EXPECT_FALSE(training.state["A"].requires_grad());
  EXPECT_TRUE(training.state["B"].requires_grad());
  // d mean((x A B - t)^2) / d B = 2 / 4 (x A)^T (x A B - t).
  const Tensor x = FromVector<float>({1, 2, 3, -1}, {2, 2}), t = Zeros({2, 2});
  const std::vector<Tensor> in = {t, x};
  Mean(o.network.Call(in)[0]).Backward();
  const Tensor h = Matmul(x, training.state["A"]), b = training.state["B"].Detach();
  const Tensor want = Mul(Matmul(Transpose(h, 0, 1), Sub(Matmul(h, b), t)), Tensor(0.5));
  const auto got = training.state["B"].grad().ToVector<float>(), wanted = want.ToVector<float>();
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-5);
  ASSERT_EQ(training.monitors.size(), 1u);
  EXPECT_THAT(training.monitors[0].data, ElementsAre("input", "input"));
}

TEST(NnablaTrainingTest, ParametersBeginAsNnablasDo) {
  const nnabla::Model model = ModelOf(kText);
  const StateDict state = InitialNnablaParameters(model, "x.nntxt");
  // RandomState(0).uniform(-1, 1, 4), then randn(4) * 0.5: A is met before B.
  const auto a = state["A"].ToVector<float>();
  EXPECT_EQ(a[0], static_cast<float>(2 * 0.5488135039273248 - 1));
  EXPECT_EQ(a[3], static_cast<float>(2 * 0.5448831829968969 - 1));
  // Given parameters do not change the others.
  const StateDict given =
      InitialNnablaParameters(model, "x.nntxt", {{"A", Full({2, 2}, 7)}, {"other", Zeros({1})}});
  EXPECT_EQ(given.size(), 2u);
  EXPECT_EQ(given["A"].ToVector<float>()[1], 7);
  EXPECT_TRUE(given["B"].Equals(state["B"]));
}

TEST(NnablaTrainingTest, InitializersHaveNnablasDeviations) {
  // The first of randn() is 1.764052345967664.
  const auto first = [](const std::string& type, const std::string& dims) {
    std::string text = absl::StrReplaceAll(
        kText, {{Parameter("A", "2, 2", "Uniform"), Parameter("A", dims, type, 3)}});
    const StateDict state = InitialNnablaParameters(ModelOf(text), "x.nntxt");
    return state["A"].ToVector<float>()[0] / 1.764052345967664 / 3;
  };
  EXPECT_NEAR(first("Normal", "2, 3"), 1, 1e-6);
  EXPECT_NEAR(first("NormalAffineHeForward", "2, 3"), std::sqrt(2. / 2), 1e-6);
  EXPECT_NEAR(first("NormalAffineHeBackward", "2, 3"), std::sqrt(2. / 3), 1e-6);
  EXPECT_NEAR(first("NormalAffineGlorot", "2, 3"), std::sqrt(2. / 5), 1e-6);
  EXPECT_NEAR(first("NormalConvolutionHe", "4, 3, 5, 2"), std::sqrt(2. / 30), 1e-6);
  EXPECT_NEAR(first("NormalConvolutionHeBackward", "4, 3, 5, 2"), std::sqrt(2. / 40), 1e-6);
  EXPECT_NEAR(first("NormalCLConvGlorot", "4, 5, 2, 3"), std::sqrt(2. / 70), 1e-6);
}

TEST(NnablaTrainingTest, LoopsHaveTheirCopiesMoved) {
  const std::string text = absl::StrReplaceAll(
      kText,
      {{"{ variable_name: 'B' learning", "{ variable_name: 'B{loop}' learning"},
       {Parameter("B", "2, 2", "Normal", 0.5),
        absl::StrCat(Parameter("B[0]", "2, 2", "Constant"), Parameter("B[10]", "2, 2", "Constant"),
                     Parameter("B[1]x", "2, 2", "Constant"), Buffer("k", "-1, 2"),
                     Buffer("j", "-1, 2"))},
       {Affine("h", "B", "y"), absl::StrCat(Affine("h", "B[0]", "k"), Affine("k", "B[10]", "j"),
                                            Affine("j", "B[1]x", "y"))}});
  EXPECT_THAT(TrainingOf(ModelOf(text)).optimizers[0].parameters, ElementsAre("B[0]", "B[10]"));
}

TEST(NnablaTrainingTest, RefusesWhatAFileShouldNotSay) {
  const auto error = [](const std::string& from, const std::string& to) {
    const std::string text = absl::StrReplaceAll(kText, {{from, to}});
    EXPECT_NE(text, kText) << from;
    return testing::ErrorOf([&] { TrainingOf(ModelOf(text)); });
  };
  EXPECT_THAT(error("solver { type: 'Sgd' sgd_param { lr: 0.5 } }", ""),
              HasSubstr("x.nntxt: optimizer \"o\", solver: expected one, got none"));
  EXPECT_THAT(error("type: 'SquaredError'", "type: 'Quaternion'"),
              HasSubstr("optimizer \"o\", network \"n\": these functions are not supported: "));
  EXPECT_THAT(error("update_interval: 0", "update_interval: -1"),
              HasSubstr("update_interval: expected no number below 0, got -1"));
  EXPECT_THAT(error("variable_name: 'B' learning", "variable_name: 'B{' learning"),
              HasSubstr("parameter_variable: expected a parameter of network \"n\", got \"B{\""));
  EXPECT_THAT(error("multiplier: 0.5 } }", "multiplier: 0 } }"),
              HasSubstr("with a learning_rate_multiplier above 0, got none"));
  EXPECT_THAT(error("'t' data_name: 'input'", "'t' data_name: '%iter'"),
              HasSubstr("monitor \"m\", data_variable \"t\", data_name: expected a variable of a "
                        "data set, as monitors know no iterations, got \"%iter\""));
  EXPECT_THAT(error("monitor_variable { variable_name: 'loss' }", ""),
              HasSubstr("monitor \"m\", monitor_variable: expected at least one, got none"));
  EXPECT_THAT(error("dim: [2, 2] } initializer { type: 'Uniform'",
                    "dim: [1099511627776, 1048576] } initializer { type: 'Uniform'"),
              HasSubstr("variable \"A\", shape: "));
  EXPECT_THAT(error("type: 'Uniform'", "type: 'UniformConvolutionGlorot'"),
              HasSubstr("variable \"A\", shape: expected at least 3 dimensions"));
  const nnabla::Model model = ModelOf(kText);
  EXPECT_THAT(
      testing::ErrorOf([&] {
        InitialNnablaParameters(model, "x.nntxt", {{"A", Zeros({3, 2})}});
      }),
      HasSubstr("variable \"A\", shape: expected that of the parameter, [3, 2], got [2, 2]"));
}

}  // namespace
}  // namespace firn::io

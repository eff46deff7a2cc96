// Captured graphs as NNabla's files: what their functions, names and sizes are, and that networks
// of the examples come back, also for batches of another size. nnabla_export_python_test.py
// compares results with NNabla's.
#include "firn/io/nnabla_network/nnabla_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "examples/models.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/evaluation.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/network/definition.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/nnabla_network/nnabla_export_status.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Captured CaptureOne(CaptureFn fn, const Tensor& x) {
  const NoGradScope no_grad;
  const Tensor in[] = {x};
  return Capture(fn, in);
}

std::vector<std::string> Types(const nnabla::Network& network) {
  std::vector<std::string> types;
  for (const nnabla::Function& function : network.functions) types.push_back(function.type);
  return types;
}

nnabla::Model Export(nn::Layer& net, const Tensor& x, const std::string& path,
                     NnablaExportOptions options = {}) {
  const NoGradScope no_grad;
  net.Eval();
  net(x);  // layers learn the sizes of their inputs
  const StaticGraph graph = Freeze([&](const Tensor& in) { return net(in); }, x);
  options.names = net.state_dict();
  EXPECT_TRUE(ExportNnabla(path, graph, options).warnings.empty());
  return LoadNnabla(path);
}

void ExpectNear(nn::Layer& net, const std::string& path, const Tensor& x) {
  const NoGradScope no_grad;
  const NnablaImport again = ImportNnabla(path, {.batch_size = x.size(0)});
  const Tensor got = again.executors.at(0).network(x);
  EXPECT_TRUE(Allclose(got, net(x), {.rtol = 1e-6, .atol = 1e-6}));
}

// Sets running statistics that differ from those of a new network.
void Train(nn::Layer& net, const Tensor& x) {
  net.Train();
  net(x);
  net(x * 2 + 1);
}

TEST(NnablaExport, ExamplesComeBack) {
  ManualSeed(1);
  for (const char* name : {"lenet", "mlp", "resnet", "deep_cnn"}) {
    SCOPED_TRACE(name);
    const std::unique_ptr<nn::Layer> net = *examples::MakeModel(name, 1);
    const Tensor x = Randn({3, 1, 8, 8});
    Train(*net, x);
    const std::string path = TempPath("net.nnp");
    EXPECT_EQ(Export(*net, x, path).networks[0].variables[0].shape[0], 3);
    ExpectNear(*net, path, x);
    const nnabla::Model model = Export(*net, x, path, {.dynamic_batch = true});
    EXPECT_EQ(model.networks[0].variables[0].shape[0], -1);
    ExpectNear(*net, path, x);
    ExpectNear(*net, path, Randn({5, 1, 8, 8}));
    ExpectNear(*net, path, Randn({1, 1, 8, 8}));
  }
}

// A state and its transpose share one memory, and states without names are numbered.
TEST(NnablaExport, StatesOfOneNameRemainTwo) {
  ManualSeed(1);
  const Tensor w = Randn({4, 4}), turned = w.T(), x = Randn({3, 4});
  const Tensor base = Randn({3, 4, 4}), a = base.Select(0, 0), b = base.Select(0, 1),
               c = Randn({4, 4});
  const NoGradScope no_grad;
  const auto check = [&](const auto& f, const NnablaExportOptions& options) {
    const std::string path = TempPath("states.nnp");
    ExportNnabla(path, Freeze(f, x), options);
    const Tensor got = ImportNnabla(path, {.batch_size = 3}).executors.at(0).network(x);
    EXPECT_TRUE(Allclose(got, f(x), {.rtol = 1e-5, .atol = 1e-5}));
  };
  StateDict names;
  names.Insert("w", w);
  check([&](const Tensor& in) { return Matmul(Matmul(in, w), turned); }, {.names = names});
  check([&](const Tensor& in) { return Matmul(Matmul(Matmul(in, a), b), c); }, {});
}

TEST(NnablaExport, LayersAreFunctionsUnderTheirModulesNames) {
  examples::Lenet net;
  const Tensor x = Ones({3, 1, 8, 8});
  Train(net, x);
  const nnabla::Model model = Export(net, x, TempPath("lenet.nnp"), {.dynamic_batch = true});
  const nnabla::Network& network = model.networks[0];
  EXPECT_THAT(Types(network), ElementsAre("Convolution", "BatchNormalization", "ReLU", "MaxPooling",
                                          "Convolution", "BatchNormalization", "ReLU", "MaxPooling",
                                          "Reshape", "Affine", "ReLU", "Affine"));
  EXPECT_EQ(network.functions[1].name, "lenet.bn1/BatchNormalization");
  EXPECT_EQ(network.functions[1].input[1], "bn1/bias");
  // NNabla's weights are [in, out], and those of norms have as many dimensions as images.
  EXPECT_EQ(model.parameters["fc2.weight"].shape(), Shape({128, 10}));
  EXPECT_EQ(model.parameters["fc2.weight"].ToVector<float>(),
            net.state_dict()["fc2.weight"].T().ToVector<float>());
  EXPECT_TRUE(model.parameters["fc2.weight"].requires_grad());
  EXPECT_EQ(model.parameters["bn1.running_mean"].shape(), Shape({1, 16, 1, 1}));
  EXPECT_FALSE(model.parameters["bn1.running_mean"].requires_grad());
  const nnabla::Executor& executor = model.executors.at(0);
  EXPECT_EQ(executor.network_name, "firn");
  EXPECT_EQ(executor.data_variable.at(0).variable_name, "input.0");
  EXPECT_EQ(executor.output_variable.at(0).variable_name, "output.0");
  EXPECT_EQ(executor.parameter_variable.size(), model.parameters.size());
}

TEST(NnablaExport, NumbersAreArguments) {
  const Captured c = CaptureOne(
      [](absl::Span<const Tensor> in) {
        return TensorList{(in[0] * 2 - 1) / 4, 3 - in[0]};
      },
      Ones({2}));
  const std::string path = TempPath("numbers.nnp");
  const NnablaExportReport report =
      ExportNnabla(path, c.graph, {.inputs = {"x"}, .outputs = {"y", "z"}});
  EXPECT_THAT(report.outputs, ElementsAre("y", "z"));
  const NnablaImport again = ImportNnabla(path);
  const Tensor in[] = {FromVector<float>({1, 2.5})};
  const TensorList got = again.executors.at(0).network.Call(in);
  EXPECT_THAT(got[0].ToVector<float>(), ElementsAre(0.25f, 1.f));
  EXPECT_THAT(got[1].ToVector<float>(), ElementsAre(2.f, 0.5f));
  EXPECT_EQ(again.executors.at(0).network.inputs()[0].name, "x");
}

// An input that is also an output, and one value that is two outputs.
TEST(NnablaExport, OutputsHaveTheirNames) {
  const Captured c = CaptureOne(
      [](absl::Span<const Tensor> in) {
        const Tensor y = Exp(in[0]);
        return TensorList{in[0], y, y};
      },
      Ones({2}));
  const std::string path = TempPath("outputs.nntxt");
  ExportNnabla(path, c.graph);
  const nnabla::Model model = LoadNnabla(path);
  EXPECT_THAT(Types(model.networks[0]), ElementsAre("Exp", "Identity", "Identity"));
  EXPECT_EQ(model.networks[0].functions[0].output[0], "output.1");
}

TEST(NnablaExport, StatesThatTheRunChangesAreOutputs) {
  Tensor count = Zeros({2});
  const Captured c = CaptureOne(
      [&](absl::Span<const Tensor> in) {
        count.CopyFrom(count + in[0]);
        return TensorList{count * 2};
      },
      Ones({2}));
  count.CopyFrom(FromVector<float>({1, 2}));
  const std::string path = TempPath("counter.nnp");
  const NnablaExportReport report = ExportNnabla(path, c.graph, {.names = {{"count", count}}});
  EXPECT_THAT(report.outputs, ElementsAre("output.0", "count.next"));
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_THAT(report.warnings[0], HasSubstr("changes count"));
  const Tensor in[] = {FromVector<float>({10, 20})};
  const TensorList got = ImportNnabla(path).executors.at(0).network.Call(in);
  EXPECT_THAT(got[0].ToVector<float>(), ElementsAre(22.f, 44.f));
  EXPECT_THAT(got[1].ToVector<float>(), ElementsAre(11.f, 22.f));
}

std::string RefusalOf(const Captured& c, const NnablaExportOptions& options = {}) {
  const auto report = TryExportNnabla(TempPath("refused.nnp"), c.graph, options);
  EXPECT_FALSE(report.ok());
  return std::string(report.status().message());
}

TEST(NnablaExport, RefusesByNameWhatFilesDoNotSay) {
  const Tensor x = Ones({3, 3});
  const std::string why = RefusalOf(CaptureOne(
      [](absl::Span<const Tensor> in) {
        return TensorList{Lgamma(in[0]), Qr(in[0]).q, Exp(in[0])};
      },
      x));
  EXPECT_THAT(why, HasSubstr("2 operations have no form in NNabla: lgamma: NNabla has no gamma "
                             "function; qr: NNabla has no such decompositions"));
  EXPECT_THAT(
      RefusalOf(
          CaptureOne(
              [](absl::Span<const Tensor> in) { return TensorList{Reshape(in[0], {-1}) * 2}; }, x),
          {.dynamic_batch = true}),
      HasSubstr("a size that follows the batch and is another one, 9 for 3 samples"));
  EXPECT_THAT(RefusalOf(CaptureOne([](absl::Span<const Tensor> in) { return TensorList{in[0]}; },
                                   Ones({3})),
                        {.inputs = {"a"}, .outputs = {"a"}}),
              HasSubstr("output 0: the name a is taken"));
}

TEST(NnablaExport, LeavesGradientsToNnabla) {
  examples::Mlp net;
  const Tensor x = Uniform({3, 1, 8, 8}, -1, 1);
  net(x);
  const StaticGraph step = Freeze(
      [&](const Tensor& in) {
        for (Tensor parameter : net.parameters()) parameter.ZeroGrad();
        const Tensor loss = Sum(net(in));
        loss.Backward();
        return loss;
      },
      x);
  const auto report = TryExportNnabla(TempPath("step.nnp"), step);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("leaves no gradients"));
}

// What remains of a step is the network in evaluation mode.
TEST(NnablaExport, TakesAStepTurnedIntoItsEvaluation) {
  ManualSeed(2);
  const std::unique_ptr<nn::Layer> net = *examples::MakeModel("resnet", 1);
  const Tensor x = Randn({3, 1, 8, 8});
  Train(*net, x);
  const StaticGraph step = Freeze(
      [&](const Tensor& in) {
        for (Tensor parameter : net->parameters()) parameter.ZeroGrad();
        const Tensor scores = Dropout((*net)(in), 0.5, true);
        Sum(Square(scores)).Backward();
        return scores;
      },
      x);
  const absl::StatusOr<Graph> evaluation = ToEvaluation(step.captured());
  ASSERT_TRUE(evaluation.ok()) << evaluation.status();
  const std::string path = TempPath("evaluation.nnp");
  ExportNnabla(path, *evaluation, {.names = net->state_dict()});
  net->Eval();
  ExpectNear(*net, path, x);
  ExpectNear(*net, path, Randn({3, 1, 8, 8}));
}

}  // namespace
}  // namespace firn::io

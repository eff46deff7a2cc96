// Networks of files with several inputs and outputs, trained by several targets.
#include <filesystem>
#include <string>
#include <vector>

#include "firn/firn.h"
#include "firn/io/npy/npy.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "tests/tools/firn/train/training.h"

namespace firn::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// From a vector and the number of a word to scores of classes, and to a number.
struct TwoHeads : nn::Module {
  nn::Linear& body = Add<nn::Linear>("body", {.in = 3, .out = 8});
  nn::Embedding& words = Add<nn::Embedding>("words", {.count = 5, .size = 8});
  nn::Linear& kind = Add<nn::Linear>("kind", {.in = 8, .out = 4});
  nn::Linear& price = Add<nn::Linear>("price", {.in = 8, .out = 1});

  std::vector<Tensor> Forward(const Tensor& x, const Tensor& word) {
    const Tensor h = Relu(body(x) + words(word));
    return {kind(h), price(h)};
  }
};

struct Example {
  TwoHeads net;
  Tensor x, word, kind, price;
  json config;

  // 40 samples in all.npz, the network in net.onnx.
  explicit Example(const std::string& name) {
    ManualSeed(6);
    x = Randn({40, 3});
    word = Randint(0, 5, {40});
    kind = (word + Gt(x[{kAll, 0}], 0).To(DType::kI64)) % 4;
    price = Sum(x, 1) + word.To(DType::kF32);
    config = {{"data",
               {{"kind", "dataset"},
                {"path", "all.npz"},
                {"inputs", {"x", "word"}},
                {"targets", {"kind", "price"}},
                {"tasks", {"classes", "numbers"}}}},
              {"validation_share", 0},
              {"model", {{"name", "file"}, {"path", "net.onnx"}}},
              {"optimizer", {{"name", "adam"}, {"lr", 0.05}}},
              {"loss_weights", {1, 0.5}},
              {"epochs", 20},
              {"batch", 10},
              {"output", "run"}};
    folder = io::TempPath(name);
    Write();
    io::WriteNpz(folder + "/all.npz", {{"x", x}, {"word", word}, {"kind", kind}, {"price", price}});
    const NoGradScope no_grad;
    const StaticGraph graph = Freeze(
        [&](const Tensor& a, const Tensor& b) { return net.Forward(a, b.Reshape({b.size(0)})); },
        x[Range(0, 7)], word[Range(0, 7)].Unsqueeze(1));
    io::ExportOnnx(folder + "/net.onnx", graph, {.dynamic_batch = true, .names = net.state_dict()});
  }
  void Write() { path = WriteConfig(folder.substr(folder.rfind('/') + 1), config); }
  // The same as Write, without the loss of the files beside it.
  std::string Configured(const json& more) {
    json changed = config;
    changed.merge_patch(more);
    std::filesystem::remove_all(folder + "/run");
    io::WriteFile(path, changed.dump());
    return path;
  }

  std::string folder, path;
};

double WholeLoss(Example& e) {
  const NoGradScope no_grad;
  const std::vector<Tensor> y = e.net.Forward(e.x, e.word);
  return (CrossEntropy(y[0], e.kind) + MseLoss(y[1], e.price.Unsqueeze(1)) * 0.5).Item();
}

TEST(SeveralTest, TheLossIsTheSumOfThoseOfTheTargets) {
  Example e("several_sum");
  const double want = WholeLoss(e);
  for (const bool frozen : {false, true}) {
    const json got = Trained(e.Configured(
        {{"optimizer", {{"name", "sgd"}, {"lr", 0}}}, {"epochs", 1}, {"frozen", frozen}}));
    EXPECT_NEAR(double(got["loss"]), want, 1e-5 * want) << frozen;
  }
}

TEST(SeveralTest, BothTargetsAreLearnt) {
  Example e("several");
  const double before = WholeLoss(e);
  const json got = Trained(e.Configured({{"validation_share", 0.2}, {"frozen", true}}));
  EXPECT_LT(got["loss"], before / 4);
  EXPECT_GT(got["metric"], 0.3);  // of classes

  // The output is the network with both results, for one sample.
  e.net.LoadStateDict(io::Load(e.folder + "/run/parameters.h5"));
  StaticGraph graph = io::LoadGraph(e.folder + "/run/model.firn");
  const Tensor x = e.x[Range(0, 1)], word = e.word[Range(0, 1)];
  const NoGradScope no_grad;
  const std::vector<Tensor> in = {x, word.Unsqueeze(1)};
  const auto out = graph.Call(in);
  const std::vector<Tensor> want = e.net.Forward(x, word);
  ASSERT_EQ(out.size(), 2u);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_LT(Max(Abs(out[k] - want[k])).Item(), 1e-5) << out[k] << want[k];
  }
}

TEST(SeveralTest, HalfTypesTrainToo) {
  Example e("several_bf16");
  const double before = WholeLoss(e);
  EXPECT_LT(Trained(e.Configured({{"precision", "bf16"}}))["loss"], before / 2);
}

TEST(SeveralTest, ASavedStepTakesAllOfThem) {
  Example e("several_step");
  optim::Adam adam(e.net.named_parameters(), {.lr = 0.05});
  const double before = WholeLoss(e);
  const StaticGraph step = Freeze(
      [&](const Tensor& x, const Tensor& word, const Tensor& kind, const Tensor& price) {
        adam.ZeroGrad();
        const std::vector<Tensor> y = e.net.Forward(x, word.Reshape({word.size(0)}));
        const Tensor loss = CrossEntropy(y[0], kind) + MseLoss(y[1], price) * 0.5;
        loss.Backward();
        adam.Step();
        return loss;
      },
      Zeros({10, 3}), Zeros({10, 1}, DType::kI64), Zeros({10}, DType::kI64), Zeros({10, 1}));
  StateDict names = e.net.state_dict();
  names.InsertAll("optimizer", adam.state_dict());
  io::SaveGraph(e.folder + "/step.firn", step, {.names = names, .drop_gradients = true});
  json config = {{"data", e.config["data"]},
                 {"model", {{"graph", "step.firn"}}},
                 {"epochs", 20},
                 {"output", "run"}};
  io::WriteFile(e.path, config.dump());
  EXPECT_LT(Trained(e.path)["loss"], before / 4);
}

TEST(SeveralTest, RefusesWhatDoesNotFit) {
  Example e("several_wrong");
  const auto error = [&](const json& more) {
    return Firn({"train", e.Configured(more), "--quiet"}).err;
  };
  EXPECT_THAT(error({{"data", {{"inputs", {"x"}}}}}),
              HasSubstr("expected a network of one input and 2 outputs, got 2 and 2"));
  EXPECT_THAT(error({{"data", {{"inputs", {"word", "x"}}}}}),
              HasSubstr("net.onnx takes batches [N, 3] as input.0, a sample is [1]"));
  EXPECT_THAT(
      error({{"data", {{"targets", {"price", "kind"}}, {"tasks", {"numbers", "numbers"}}}}}),
      HasSubstr("net.onnx gives [N, 4] as output.0, the data want 1 numbers for a sample"));
  EXPECT_THAT(error({{"data", {{"tasks", {"classes"}}}}}),
              HasSubstr("$.data.tasks: expected one for each of 2 targets"));
  EXPECT_THAT(error({{"data", {{"targets", {"kind", "x"}}}}}),
              HasSubstr("$.data.targets: expected each variable once, got x twice"));
  EXPECT_THAT(error({{"data", {{"scale", 2}}}}),
              HasSubstr("$.data.scale: goes with one input and one target"));
  EXPECT_THAT(error({{"model", {{"name", "mlp"}, {"path", nullptr}}}}),
              HasSubstr("$.model: expected a \"file\" or a \"graph\""));
  const auto validation = [&](const json& more) {
    json data = e.config["data"];
    data.merge_patch(more);
    return error({{"validation_share", nullptr}, {"validation", data}});
  };
  EXPECT_THAT(validation({{"inputs", {"x"}}}),
              HasSubstr("the validation names 1 of the inputs, the data 2"));
  EXPECT_THAT(validation({{"targets", {"kind"}}, {"tasks", {"classes"}}}),
              HasSubstr("$.validation: expected a list of 2 targets, as the data have"));
  EXPECT_THAT(validation({{"tasks", {"numbers", "numbers"}}}),
              HasSubstr("the validation has 1 numbers as targets, the data 4 classes"));
  EXPECT_THAT(error({{"loss", "mse"}}), HasSubstr("$.loss: expected \"losses\""));
  EXPECT_THAT(error({{"losses", {"mse", "mse"}}}),
              HasSubstr("the loss 'mse' is for numbers, the targets are classes"));
  EXPECT_THAT(error({{"losses", {"", "hinge"}}}), HasSubstr("$.losses: expected some of"));
  EXPECT_THAT(error({{"losses", {"", "smoth_l1"}}}), HasSubstr("(did you mean 'smooth_l1'?)"));
  EXPECT_THAT(error({{"loss_weights", {1}}}),
              HasSubstr("$.loss_weights: expected one for each of 2 targets"));
}

}  // namespace
}  // namespace firn::cli

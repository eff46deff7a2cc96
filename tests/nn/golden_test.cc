// Every layer against PyTorch's: results, gradients and running statistics. Each file of
// tests/golden/layers must have a factory here, and each factory a file.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nn/activation.h"
#include "nn/batch_norm.h"
#include "nn/conv.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/loss.h"
#include "nn/pooling.h"
#include "nn/shape_layers.h"
#include "tests/golden/vectors.h"

namespace firn::nn {
namespace {

using testing::GoldenCase;

struct Made {
  std::unique_ptr<Module> module;
  std::function<Tensor(const Tensor& x, const Tensor& target)> call;
};

template <class L>
Made Make(const typename L::Options& options = {}) {
  auto layer = std::make_unique<L>(options);
  L* raw = layer.get();
  return {std::move(layer), [raw](const Tensor& x, const Tensor& target) {
            if constexpr (requires { (*raw)(x, target); }) {
              return (*raw)(x, target);
            } else {
              return (*raw)(x);
            }
          }};
}

Size2 SizeOf(const GoldenCase& c, const char* attr, Size2 otherwise) {
  const std::vector<int64_t> v = c.Ints(attr, {otherwise.h, otherwise.w});
  return {v[0], v[v.size() - 1]};
}

Reduction ReductionOf(const GoldenCase& c) {
  return c.Text("reduction", "mean") == "sum" ? Reduction::kSum : Reduction::kMean;
}

PadMode PadModeOf(const GoldenCase& c) {
  const std::map<std::string, PadMode> modes = {{"zeros", PadMode::kConstant},
                                                {"reflect", PadMode::kReflect},
                                                {"replicate", PadMode::kReplicate},
                                                {"circular", PadMode::kCircular}};
  return modes.at(c.Text("padding_mode", "zeros"));
}

template <class Pool>
Made MakePool(const GoldenCase& c, bool) {
  typename Pool::Options o;
  o.kernel = SizeOf(c, "kernel", 1);
  if (c.Has("stride")) o.stride = SizeOf(c, "stride", 1);
  o.padding = SizeOf(c, "padding", 0);
  return Make<Pool>(o);
}

template <class Norm>
Made MakeBatchNorm(const GoldenCase& c, bool deferred) {
  return Make<Norm>({.channels = deferred ? kDeferred : c.Int("channels", 0),
                     .eps = c.Number("eps", 1e-5),
                     .momentum = c.Number("momentum", 0.1),
                     .affine = c.Flag("affine", true),
                     .track_running_stats = c.Flag("track_running_stats", true)});
}

template <class L>
Made MakePlain(const GoldenCase&, bool) {
  return Make<L>();
}

// Makes the layer of a case; `deferred`: without the sizes that its input tells.
using Factory = std::function<Made(const GoldenCase& c, bool deferred)>;

const std::map<std::string, Factory>& Factories() {
  static const auto* factories = new std::map<std::string, Factory>{
      {"adaptive_avg_pool2d",
       [](const GoldenCase& c, bool) {
         return Make<AdaptiveAvgPool2d>({.output_size = SizeOf(c, "output_size", 1)});
       }},
      {"avg_pool2d", MakePool<AvgPool2d>},
      {"batch_norm1d", MakeBatchNorm<BatchNorm1d>},
      {"batch_norm2d", MakeBatchNorm<BatchNorm2d>},
      {"batch_norm3d", MakeBatchNorm<BatchNorm3d>},
      {"conv2d",
       [](const GoldenCase& c, bool deferred) {
         return Make<Conv2d>({.in = deferred ? kDeferred : c.Int("in", 0),
                              .out = c.Int("out", 0),
                              .kernel = SizeOf(c, "kernel", 1),
                              .stride = SizeOf(c, "stride", 1),
                              .padding = SizeOf(c, "padding", 0),
                              .groups = c.Int("groups", 1),
                              .bias = c.Flag("bias", true),
                              .padding_mode = PadModeOf(c)});
       }},
      {"cross_entropy_loss",
       [](const GoldenCase& c, bool) {
         return Make<CrossEntropyLoss>(
             {.reduction = ReductionOf(c), .label_smoothing = c.Number("label_smoothing", 0)});
       }},
      {"dropout", [](const GoldenCase& c, bool) { return Make<Dropout>({.p = c.Number("p", 0)}); }},
      {"embedding",
       [](const GoldenCase& c, bool) {
         EmbeddingOptions o = {.count = c.Int("count", 0), .size = c.Int("size", 0)};
         if (c.Has("padding_idx")) o.padding_idx = c.Int("padding_idx", 0);
         return Make<Embedding>(o);
       }},
      {"flatten",
       [](const GoldenCase& c, bool) {
         return Make<Flatten>({.start_dim = static_cast<int>(c.Int("start_dim", 1))});
       }},
      {"identity", MakePlain<Identity>},
      {"leaky_relu",
       [](const GoldenCase& c, bool) {
         return c.Has("alpha") ? Make<LeakyRelu>({.alpha = c.Number("alpha", 0)})
                               : Make<LeakyRelu>();
       }},
      {"linear",
       [](const GoldenCase& c, bool deferred) {
         return Make<Linear>({.in = deferred ? kDeferred : c.Int("in", 0),
                              .out = c.Int("out", 0),
                              .bias = c.Flag("bias", true)});
       }},
      {"log_softmax",
       [](const GoldenCase& c, bool) { return Make<LogSoftmax>({.dim = c.Int("dim", -1)}); }},
      {"max_pool2d", MakePool<MaxPool2d>},
      {"mse_loss",
       [](const GoldenCase& c, bool) { return Make<MseLoss>({.reduction = ReductionOf(c)}); }},
      {"nll_loss",
       [](const GoldenCase& c, bool) { return Make<NllLoss>({.reduction = ReductionOf(c)}); }},
      {"relu", MakePlain<Relu>},
      {"sigmoid", MakePlain<Sigmoid>},
      {"softmax",
       [](const GoldenCase& c, bool) { return Make<Softmax>({.dim = c.Int("dim", -1)}); }},
      {"tanh", MakePlain<Tanh>},
  };
  return *factories;
}

bool IsX(const std::string& name) { return name == "x" || absl::StartsWith(name, "x."); }

// Parameters come from the case; what is left over are running statistics.
void LoadParameters(const GoldenCase& c, Module& module) {
  StateDict state;
  for (const auto& [name, tensor] : c.inputs) {
    if (!IsX(name) && name != "target") state.Insert(name, tensor);
  }
  const LoadReport report = module.LoadStateDict(state, {.strict = false});
  EXPECT_TRUE(report.unexpected.empty() && report.misshaped.empty()) << report;
  for (const std::string& name : report.missing) {
    EXPECT_TRUE(absl::StartsWith(name, "running_") || name == "num_batches_tracked") << report;
  }
}

// Calls the layer for y or y.0, y.1, ... (the last in eval mode, on x.0) and runs backward from
// each. Returns the inputs.
std::map<std::string, Tensor> RunSteps(const GoldenCase& c, const Made& made) {
  std::map<std::string, Tensor> xs;
  for (const auto& [name, tensor] : c.inputs) {
    if (IsX(name)) xs[name] = tensor.Detach().SetRequiresGrad(c.grads.Contains(name));
  }
  const Tensor target = c.inputs.Contains("target") ? c.inputs["target"] : Tensor();
  const size_t steps = c.inputs.Contains("x") ? 1 : xs.size() + 1;
  for (size_t step = 0; step < steps; ++step) {
    const bool single = steps == 1, last = !single && step + 1 == steps;
    if (last) made.module->Eval();
    const Tensor& x = xs.at(single ? "x" : absl::StrCat("x.", last ? 0 : step));
    const Tensor y = made.call(x, target);
    const std::string name = single ? "y" : absl::StrCat("y.", step);
    EXPECT_EQ(testing::Compare(y, c.outputs[name]), "") << c.name << " " << name;
    const auto seed = c.grad_outputs.find(static_cast<int>(step));
    if (seed != c.grad_outputs.end()) y.Backward(seed->second);
  }
  return xs;
}

void CheckCase(const GoldenCase& c, const Made& made) {
  made.module->Train(c.Flag("training", true));
  LoadParameters(c, *made.module);
  std::map<std::string, Tensor> tensors = RunSteps(c, made);
  for (const NamedTensor& p : made.module->named_parameters()) tensors[p.name] = p.tensor;
  for (const auto& [name, want] : c.grads) {
    ASSERT_TRUE(tensors.contains(name)) << c.name << " " << name;
    EXPECT_EQ(testing::Compare(tensors[name].grad(), want), "") << c.name << " grad " << name;
  }
  for (const NamedTensor& b : made.module->named_buffers()) {
    if (!c.outputs.Contains(b.name)) continue;
    EXPECT_EQ(testing::Compare(b.tensor, c.outputs[b.name]), "") << c.name << " " << b.name;
  }
}

class LayerGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LayerGoldenTest, AgreesWithPyTorch) {
  const auto factory = Factories().find(GetParam());
  ASSERT_NE(factory, Factories().end()) << "nothing here makes the layer of this file";
  for (const GoldenCase& c : testing::ReadGolden(absl::StrCat("layers/", GetParam(), ".txt"))) {
    for (bool deferred : {false, true}) CheckCase(c, factory->second(c, deferred));
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerGoldenTest,
                         ::testing::ValuesIn(testing::GoldenFiles("layers")),
                         [](const auto& file) { return file.param; });

TEST(LayerGoldenFilesTest, EveryFactoryHasAFile) {
  const std::vector<std::string> files = testing::GoldenFiles("layers");
  for (const auto& [name, factory] : Factories()) {
    EXPECT_NE(std::find(files.begin(), files.end(), name), files.end()) << name;
  }
}

}  // namespace
}  // namespace firn::nn

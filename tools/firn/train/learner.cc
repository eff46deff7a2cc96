// Layers and Fit are made for one input and one target. Networks of files may take several inputs
// and learn several targets: then Forward takes the whole batch, and its loss is the sum of the
// losses of the targets.
#include "tools/firn/train/learner.h"

#include <optional>
#include <string>
#include <utility>

#include "firn/autograd/network/definition.h"
#include "firn/device/status_macros.h"
#include "firn/firn.h"
#include "firn/nn/graph_module.h"

namespace firn::cli {
namespace {

// The loss; empty for cross entropy.
LossFunction LossOf(const std::string& name, bool classes) {
  const bool fits = name.empty() || (name == "cross_entropy") == classes;
  if (!fits) {
    RaiseStatus(InvalidArgument("the loss '", name, "' is for ", classes ? "numbers" : "classes",
                                ", the targets are ", classes ? "classes" : "numbers"),
                "loss");
  }
  if (classes) return {};
  if (name == "l1") return [](const Tensor& x, const Tensor& y) { return L1Loss(x, y); };
  if (name == "smooth_l1")
    return [](const Tensor& x, const Tensor& y) { return SmoothL1Loss(x, y); };
  return [](const Tensor& x, const Tensor& y) { return MseLoss(x, y); };
}

// Has the network compute in bf16 wherever it is called: in training, validation and model.firn.
// Its results are f32 again, for losses and metrics.
void ComputeInBf16(nn::Layer& net) {
  const auto scope = std::make_shared<std::optional<AutocastScope>>();
  net.RegisterForwardPreHook(
      [scope](nn::Module&, absl::Span<Tensor>) { scope->emplace(DType::kBF16); });
  net.RegisterForwardHook([scope](nn::Module&, absl::Span<const Tensor>, Tensor& output) {
    scope->reset();
    output = output.To(DType::kF32);
  });
}

// A network with nn::Standardize in front, fitted to its training data.
class Standardized final : public nn::Layer {
 public:
  Standardized(const io::DatasetPtr& samples, const nn::StandardizeOptions& options,
               const nn::ModuleFactory& make)
      : inputs_(Add<nn::Standardize>("inputs", options)),
        net_(static_cast<nn::Layer&>(AddMade("net", make))) {
    io::DataLoader all(samples, {.batch = 1024});
    for (auto [x, y] : all) inputs_.Update(x);
  }

 protected:
  Tensor Forward(const Tensor& x) override { return net_(inputs_(x)); }

 private:
  nn::Standardize& inputs_;
  nn::Layer& net_;
};

std::unique_ptr<nn::Layer> MakeNetwork(const TrainConfig& config, const TrainingData& data,
                                       const Shape& sample) {
  if (!data.standardize) return config.model.make(sample, data.target().result());
  return std::make_unique<Standardized>(
      data.samples, nn::StandardizeOptions{.fill_missing = data.fill_missing},
      [&](const nn::Module*) { return config.model.make(sample, data.target().result()); });
}

// The inputs of the first sample.
std::vector<Tensor> FirstSample(const TrainingData& data) {
  const int64_t first = 0;
  const io::Sample batch = data.samples->GetBatch({&first, 1});
  std::vector<Tensor> inputs;
  for (int64_t i = 0; i < data.inputs; ++i) inputs.push_back(batch[i]);
  return inputs;
}

Shape WithoutBatch(const Tensor& batch) {
  const std::vector<int64_t> sizes(batch.shape().begin() + 1, batch.shape().end());
  return Shape(sizes);
}

// Throws unless a network gives scores [classes, places...] for a sample, or with `scores_last`
// [places..., classes]. It may have more classes than the data.
void CheckScores(const Tensor& y, const TargetOfData& target, bool scores_last) {
  const Shape got = y.rank() == 0 ? Shape() : WithoutBatch(y);
  std::vector<int64_t> sizes(target.places.begin(), target.places.end());
  const int64_t at = scores_last ? target.places.rank() : 0;
  const bool fits = got.rank() == target.places.rank() + 1 && got[at] >= target.outputs;
  sizes.insert(sizes.begin() + at, fits ? got[at] : target.outputs);
  const Shape want(sizes);
  if (got == want) return;
  RaiseStatus(
      InvalidArgument(
          "the network gives ", got.ToString(), " for a sample, expected ", want.ToString(),
          ": scores of ", target.outputs, " classes",
          target.places.rank() == 0 ? "" : " for each of the places " + target.places.ToString()),
      "model");
}

// CrossEntropy and Accuracy for scores [..., classes]: places are samples of their own.
Tensor Rows(const Tensor& scores) { return Reshape(scores, {-1, scores.size(-1)}); }
Tensor LossOfRows(const Tensor& scores, const Tensor& target) {
  return CrossEntropy(Rows(scores), target.Reshape({-1}));
}
double AccuracyOfRows(const Tensor& scores, const Tensor& target) {
  io::Accuracy accuracy;
  accuracy.Update(Rows(scores), target.Reshape({-1}));
  return accuracy.Value();
}

Learner MakeForPair(const TrainConfig& config, const TrainingData& data) {
  Learner learner;
  learner.sample = FirstSample(data);
  std::unique_ptr<nn::Layer> net = MakeNetwork(config, data, WithoutBatch(learner.sample[0]));
  {
    const NoGradScope no_grad;  // a first batch tells the sizes that follow from it
    net->Eval();
    const Tensor y = (*net)(learner.sample[0]);
    if (data.classes) CheckScores(y, data.target(), config.model.scores_last);
  }
  if (config.bf16) ComputeInBf16(*net);
  learner.run = [layer = net.get()](absl::Span<const Tensor> in) {
    return TensorList{(*layer)(in[0])};
  };
  learner.loss = LossOf(config.loss, data.classes);
  if (data.classes && config.model.scores_last) {
    learner.loss = LossOfRows;
    learner.metric = AccuracyOfRows;
  }
  learner.net = std::move(net);
  return learner;
}

// A network of a file, called with all inputs of the data, each as the type that it takes.
class Several {
 public:
  Several(const TrainConfig& config, nn::GraphModule* net, const Network& network,
          const TrainingData& data)
      : net_(net), bf16_(config.bf16) {
    for (const auto& port : network.inputs()) types_.push_back(port.dtype.value_or(DType::kF32));
    for (size_t k = 0; k < data.targets.size(); ++k) {
      const LossFunction loss = LossOf(config.losses[k], data.targets[k].classes);
      losses_.push_back(loss ? loss
                             : [](const Tensor& y, const Tensor& t) { return CrossEntropy(y, t); });
      weights_.push_back(config.loss_weights[k]);
    }
  }

  TensorList Run(absl::Span<const Tensor> inputs) const {
    std::vector<Tensor> in;
    for (size_t i = 0; i < inputs.size(); ++i) in.push_back(inputs[i].To(types_[i]));
    std::optional<AutocastScope> autocast;
    if (bf16_) autocast.emplace(DType::kBF16);
    TensorList outputs = net_->Call(in);
    autocast.reset();
    for (Tensor& y : outputs) y = y.To(DType::kF32);
    return outputs;
  }

  BatchResult Forward(const io::Sample& batch) const {
    std::vector<Tensor> inputs;
    const auto number = static_cast<int64_t>(types_.size());
    for (int64_t i = 0; i < number; ++i) inputs.push_back(batch[i]);
    const TensorList outputs = Run(inputs);
    Tensor sum;
    for (size_t k = 0; k < losses_.size(); ++k) {
      const Tensor& target = batch[number + static_cast<int64_t>(k)];
      const Tensor loss = losses_[k](outputs[k], target) * weights_[k];
      sum = k == 0 ? loss : sum + loss;
    }
    return {sum, outputs[0], batch[number]};
  }

 private:
  nn::GraphModule* const net_;
  const bool bf16_;
  std::vector<DType> types_;
  std::vector<LossFunction> losses_;
  std::vector<double> weights_;
};

Learner MakeForSeveral(const TrainConfig& config, const TrainingData& data) {
  Learner learner;
  learner.sample = FirstSample(data);
  std::vector<Shape> inputs;
  for (const Tensor& x : learner.sample) inputs.push_back(WithoutBatch(x));
  std::vector<Shape> outputs;
  for (const TargetOfData& target : data.targets) outputs.push_back(target.result());
  const Network network = ReadNetworkFile(*config.file, inputs, outputs);
  auto net = std::make_unique<nn::GraphModule>(network);
  net->SetName("net");
  const auto several = std::make_shared<const Several>(config, net.get(), network, data);
  learner.run = [several](absl::Span<const Tensor> in) { return several->Run(in); };
  learner.forward = [several](const io::Sample& batch) { return several->Forward(batch); };
  if (data.classes) learner.metric = io::Accuracy();
  learner.net = std::move(net);
  return learner;
}

}  // namespace

Learner MakeLearner(const TrainConfig& config, const TrainingData& data) {
  return data.several() ? MakeForSeveral(config, data) : MakeForPair(config, data);
}

}  // namespace firn::cli

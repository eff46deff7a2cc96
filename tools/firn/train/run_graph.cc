// A saved training step knows its network, its optimizer and their states: a loop only has to give
// it batches, and to keep its states.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/firn.h"
#include "firn/io/graph/graph_file_status.h"
#include "tools/firn/train/run.h"

namespace firn::cli {
namespace {

// A loaded graph with the states that it reads and writes, as a part of checkpoints.
class GraphRun {
 public:
  explicit GraphRun(const std::string& path)
      : states_(StatesIn(path)), graph_(io::LoadGraph(path, {.states = states_})) {}

  StaticGraph& graph() { return graph_; }
  const StateDict& state_dict() const { return states_; }
  void LoadStateDict(const StateDict& state) {
    for (const auto& [name, tensor] : states_) {
      if (!state.Contains(name) || state[name].shape() != tensor.shape() ||
          state.size() != states_.size()) {
        RaiseStatus(InvalidArgument("expected the states of this graph, among them ", name, " ",
                                    tensor.shape().ToString()),
                    "graph");
      }
    }
    const NoGradScope no_grad;
    for (const auto& [name, tensor] : states_) Tensor(tensor).CopyFrom(state[name]);
  }

 private:
  static StateDict StatesIn(const std::string& path) {
    auto file = io::TryReadGraph(path);
    RaiseIfError(file.status(), "graph");
    return std::move(file->states);
  }

  const StateDict states_;
  StaticGraph graph_;
};

// A batch and its targets; if there are several, they keep their stored types, which the graph
// takes.
std::vector<Tensor> TensorsOf(const io::Sample& batch, const TrainingData& data,
                              const StaticGraph& step) {
  std::vector<Tensor> tensors;
  for (const Tensor& t : batch) tensors.push_back(t);
  const Graph& g = step.captured();
  for (size_t i = 0; data.several() && i < tensors.size(); ++i) {
    tensors[i] = tensors[i].To(g.value(g.inputs[i]).spec.dtype);
  }
  return tensors;
}

// The batches that a graph requires.
int64_t BatchOf(const StaticGraph& step, const std::string& path, const TrainingData& data) {
  const io::Dataset& samples = *data.samples;
  const Graph& g = step.captured();
  const auto refuse = [&](const auto&... what) {
    RaiseStatus(InvalidArgument(path, ": ", what...), "graph");
  };
  const size_t tensors =
      data.several() ? static_cast<size_t>(data.inputs) + data.targets.size() : 2;
  if (g.inputs.size() != tensors || g.outputs.size() != 1) {
    refuse("expected a step with ", tensors,
           " inputs, a batch and its targets, and 1 result, the loss; got ", g.inputs.size(),
           " and ", g.outputs.size());
  }
  const TensorSpec& input = g.value(g.inputs[0]).spec;
  if (input.shape.rank() == 0)
    refuse("expected a batch as the first input, got ", input.ToString());
  const TensorSpec& loss = g.value(g.outputs[0]).spec;
  if (loss.shape.num_elements() != 1)
    refuse("expected one number as the loss, got ", loss.ToString());
  const int64_t batch = input.shape[0];
  if (samples.size() < batch) {
    refuse("expected at least ", batch, " samples, a batch of this graph, got ", samples.size());
  }
  return batch;
}

}  // namespace

nlohmann::json TrainGraph(const TrainConfig& config, const Telling& telling) {
  GraphRun run(config.graph);
  const TrainingData data = config.data.read();
  if (data.standardize) {
    RaiseStatus(
        InvalidArgument("a saved graph is the whole network: \"standardize\" would change it"),
        "data");
  }
  io::DataLoader train(data.samples, {.batch = BatchOf(run.graph(), config.graph, data),
                                      .shuffle = true,
                                      .seed = config.seed,
                                      .last = io::LastBatch::kDrop,
                                      .prefetch = config.threads});
  FitEpoch now;
  io::CheckpointValues epoch;
  const io::CheckpointParts parts = {{"graph", run}, {"data", train}, {"epoch", epoch}};
  io::CheckpointManager checkpoints(config.output, {.keep_best = 1});
  int64_t resumed_at = 0;
  if (const auto found = checkpoints.LoadLatest(parts)) {
    resumed_at = found->info.step;
    now = {.epoch = epoch.GetInteger("number"),
           .step = resumed_at,
           .samples = epoch.GetInteger("samples"),
           .loss = epoch.GetReal("loss")};
  }
  io::MonitorSeries series("training loss", io::Monitor(config.output), {.resume_at = now.step});
  io::CsvWriter table(config.output + "/epochs.csv", {"epoch", "step", "loss"},
                      {.resume_at = now.epoch});
  const auto save = [&](std::optional<double> metric) {
    epoch.Set("number", now.epoch);
    epoch.Set("samples", now.samples);
    epoch.Set("loss", now.loss);
    checkpoints.Save(parts, {.step = now.step, .metric = metric});
  };

  std::optional<FitEpoch> last;
  const int64_t batch = train.options().batch;
  while (now.epoch < config.epochs) {
    for (auto bar = io::ProgressBar(train, telling.Progress()); const io::Sample& sample : bar) {
      const double loss = run.graph().Call(TensorsOf(sample, data, run.graph()))[0].Item();
      now.samples += batch;
      now.loss += (loss - now.loss) * static_cast<double>(batch) / static_cast<double>(now.samples);
      series.Add(now.step++, loss);
      bar.Note("loss " + std::to_string(now.loss));
      const bool due = config.checkpoint_every > 0 && now.step % config.checkpoint_every == 0;
      if (due && train.position().batch > 0) save({});
    }
    now.lr = std::nan("");  // the graph may have this
    table.Write({now.epoch, now.step, now.loss});
    last = std::exchange(now, {.epoch = now.epoch + 1, .step = now.step});
    save(last->loss);
    telling(*last);
  }
  checkpoints.Wait();
  io::SaveGraph(
      config.output + "/graph.firn", run.graph(),
      {.names = run.state_dict(), .drop_gradients = true, .info = io::LoadGraphInfo(config.graph)});

  nlohmann::json value = last ? JsonOf(*last) : nlohmann::json::object();
  value["output"] = config.output;
  value["resumed_at"] = resumed_at;
  value["graph"] = config.output + "/graph.firn";
  return value;
}

}  // namespace firn::cli

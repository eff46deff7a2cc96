#include "tools/firn/train/run.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/device/usable_device.h"
#include "firn/firn.h"

namespace firn::cli {

using nlohmann::json;

json JsonOf(const FitEpoch& epoch) {
  const auto number = [](double x) { return std::isfinite(x) ? json(x) : json(); };
  return {{"epoch", epoch.epoch},
          {"step", epoch.step},
          {"loss", number(epoch.loss)},
          {"lr", number(epoch.lr)},
          {"validation_loss", number(epoch.validation.loss)},
          {"metric", number(epoch.validation.metric)},
          {"validation_of", epoch.validation.samples == 0 ? json()
                            : epoch.averaged              ? json("average")
                                                          : json("weights")}};
}

void Telling::operator()(const FitEpoch& epoch) const {
  if (quiet) return;
  terminal.err << (terminal.json ? JsonOf(epoch).dump() : epoch.ToString()) << std::endl;
}

io::ProgressOptions Telling::Progress() const {
  return {
      .quiet = quiet || terminal.json, .out = &terminal.err, .log_lines = 0};  // no bars in logs
}

namespace {

struct Data {
  TrainingData train;
  io::DatasetPtr validation;  // null: none
};

Data ReadData(const TrainConfig& config) {
  Data data{config.data.read(), nullptr};
  io::DatasetPtr& all = data.train.samples;
  const auto refuse = [](const auto&... what) { RaiseStatus(InvalidArgument(what...), "data"); };
  if (all->size() == 0) refuse("there are no samples");
  if (config.validation.has_value()) {
    const TrainingData other = config.validation->read();
    if (other.samples->size() == 0) refuse("the validation has no samples");
    // The validation may lack a class; a target of numbers has as many of them or does not fit.
    const bool fits =
        other.classes ? other.outputs <= data.train.outputs : other.outputs == data.train.outputs;
    if (other.classes != data.train.classes || !fits) {
      refuse("the validation has ", other.outputs, other.classes ? " classes" : " numbers",
             " as targets, the data ", data.train.outputs,
             data.train.classes ? " classes" : " numbers");
    }
    if (other.names != data.train.names) refuse("data and validation have other classes");
    if (other.input_words != data.train.input_words ||
        other.standardize != data.train.standardize ||
        other.fill_missing != data.train.fill_missing) {
      refuse(
          "data and validation read their inputs in other ways: one_hot (also its words), "
          "standardize or missing differ");
    }
    data.validation = other.samples;
  } else if (config.validation_share > 0) {
    const int64_t n = all->size();
    const int64_t kept =
        std::max<int64_t>(1, std::llround(config.validation_share * static_cast<double>(n)));
    if (kept >= n)
      refuse("expected samples to train with beside the validation's, got ", n, " in all");
    const io::DatasetPtr mixed = io::Shuffle(all, config.seed);
    data.validation = io::Subset(mixed, 0, kept);
    all = io::Subset(mixed, kept, n);
    data.train.file_rows.clear();  // they lie in files no more
  }
  return data;
}

LossFunction LossOf(const std::string& name, bool classes) {
  const bool fits = name.empty() || (name == "cross_entropy") == classes;
  if (!fits) {
    RaiseStatus(InvalidArgument("the loss '", name, "' is for ", classes ? "numbers" : "classes",
                                ", the targets are ", classes ? "classes" : "numbers"),
                "loss");
  }
  if (classes) return {};  // cross entropy, and accuracy as the metric
  if (name == "l1") return [](const Tensor& x, const Tensor& y) { return L1Loss(x, y); };
  if (name == "smooth_l1")
    return [](const Tensor& x, const Tensor& y) { return SmoothL1Loss(x, y); };
  return [](const Tensor& x, const Tensor& y) { return MseLoss(x, y); };
}

// Has the network compute in bf16 wherever it is called: in training, validation and model.firn.
// What it gives is f32 again, for losses and metrics.
void ComputeInBf16(nn::Layer& net) {
  const auto scope = std::make_shared<std::optional<AutocastScope>>();
  net.RegisterForwardPreHook(
      [scope](nn::Module&, absl::Span<Tensor>) { scope->emplace(DType::kBF16); });
  net.RegisterForwardHook([scope](nn::Module&, absl::Span<const Tensor>, Tensor& output) {
    scope->reset();
    output = output.To(DType::kF32);
  });
}

// What Fit says of a run that has diverged names classes and options, of which the JSON file has
// keys.
FitResult InWordsOfTheFile(const std::function<FitResult()>& run) {
  try {
    return run();
  } catch (const Error& e) {
    const std::string said = absl::StrReplaceAll(
        e.what(), {{"warms up (optim::WarmupLr)", "warms up (\"warmup\" of \"schedule\")"},
                   {"a clip_norm", "a \"clip_grad_norm\""},
                   {"; AnomalyScope names the operation that made the first one", ""}});
    if (said == e.what()) throw;
    throw Error(e.status(), said);
  }
}

// A network behind the standardising of its inputs, by what it is trained with.
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
  if (!data.standardize) return config.model(sample, data.outputs);
  return std::make_unique<Standardized>(
      data.samples, nn::StandardizeOptions{.fill_missing = data.fill_missing},
      [&](const nn::Module*) { return config.model(sample, data.outputs); });
}

Tensor OneSample(const io::DatasetPtr& samples) {
  const int64_t first = 0;
  return samples->GetBatch({&first, 1}).input;
}

void WriteNames(const std::string& path, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  RaiseIfError(firn::inner::internal::ReplaceFile(path, text), "train");
}

// What the graph's numbers mean; classes without names are called by their numbers.
io::GraphInfo InfoOf(const TrainingData& data) {
  io::GraphInfo info = data.info;
  info.classes = data.names;
  for (int64_t k = 0; data.classes && data.names.empty() && k < data.outputs; ++k) {
    info.classes.push_back(std::to_string(k));
  }
  return info;
}

// The network as a graph for one sample, for firn infer and forward and programs without nn.
void WriteModel(nn::Layer& net, const Tensor& sample, const io::GraphInfo& info,
                const std::string& path) {
  const NoGradScope no_grad;
  net.Eval();
  const StaticGraph graph = Freeze([&](const Tensor& x) { return net(x); }, sample);
  io::SaveGraph(path, graph, {.names = net.state_dict(), .info = info});
}

// What a run leaves beside what Fit writes.
void WriteOutput(nn::Layer& net, const Tensor& sample, const TrainingData& data,
                 const std::string& folder) {
  io::Save(folder + "/parameters.h5", net.state_dict());
  WriteModel(net, sample, InfoOf(data), folder + "/model.firn");
  if (!data.names.empty()) WriteNames(folder + "/classes.txt", data.names);
}

struct Loaders {
  io::DataLoader train;
  std::optional<io::DataLoader> validation;
};

// A rank's, of its part of the batches.
Loaders MakeLoaders(const TrainConfig& config, const Data& data, Device device,
                    const Ranks& ranks) {
  const int64_t batch = ranks.PartOf(config.batch);
  const std::vector<int64_t>& files = data.train.file_rows;
  Loaders loaders = {io::DataLoader(data.train.samples,
                                    {.batch = batch,
                                     .shuffle = files.empty(),
                                     .seed = config.seed,
                                     .order = files.empty() ? io::EpochOrder()
                                                            : io::ShuffleBlocks(files, config.seed),
                                     .shard = ranks.shard(),
                                     .prefetch = config.threads,
                                     .device = device}),
                     std::nullopt};
  if (data.validation != nullptr) {
    loaders.validation.emplace(
        data.validation,
        io::DataLoaderOptions{
            .batch = batch, .shard = ranks.shard(), .prefetch = config.threads, .device = device});
  }
  return loaders;
}

// Where ranks read other data, as of folders of their own.
void AgreeOnData(const Data& data, const Ranks& ranks) {
  ranks.Agree(
      {absl::StrCat(data.train.samples->size(), " samples"),
       absl::StrCat(data.validation ? data.validation->size() : 0, " samples of the validation"),
       absl::StrCat(data.train.outputs, " outputs")});
}

}  // namespace

json TrainNetwork(const TrainConfig& config, const Telling& telling, Ranks& ranks) {
  absl::StatusOr<Device> device = UsableDevice(ranks.DeviceOf(config.device));
  RaiseIfError(device.status(), "train");
  const Data data = ReadData(config);
  AgreeOnData(data, ranks);
  if (config.frozen) ranks.CheckFrozen(data.train.samples->size(), config.batch);
  const Tensor sample = OneSample(data.train.samples);
  std::vector<int64_t> sizes(sample.shape().begin() + 1, sample.shape().end());

  ManualSeed(config.seed);
  const std::unique_ptr<nn::Layer> net = MakeNetwork(config, data.train, Shape(sizes));
  {
    const NoGradScope no_grad;  // a first batch tells the sizes that follow from it
    net->Eval();
    (*net)(sample);
  }
  net->To(*device);
  if (config.bf16) ComputeInBf16(*net);
  ranks.Share(*net, config.seed);
  const auto optimizer = config.optimizer(net->named_parameters());
  std::optional<optim::WeightAverage> average;
  if (config.ema > 0) {
    average.emplace(net->named_parameters(), optim::WeightAverageOptions{.decay = config.ema});
  }
  Loaders loaders = MakeLoaders(config, data, *device, ranks);
  io::DataLoader& train = loaders.train;
  std::optional<io::DataLoader>& validation = loaders.validation;
  const int64_t steps = (train.size() + config.accumulate - 1) / config.accumulate;
  FitOptions options = {.epochs = config.epochs,
                        .loss = LossOf(config.loss, data.train.classes),
                        .schedule = config.rates.schedule(steps, config.epochs),
                        .plateau = config.rates.plateau,
                        .accumulate = config.accumulate,
                        .frozen = config.frozen,
                        .clip_norm = config.clip_grad_norm,
                        .average = average ? &*average : nullptr,
                        .validation = validation ? &*validation : nullptr,
                        .patience = config.patience,
                        .folder = config.output,
                        .checkpoint_every = config.checkpoint_every,
                        .parts = {},
                        .ranks = ranks.communicator(),
                        .on_batch = {},
                        .progress = telling.Progress(),
                        .on_epoch = {}};
  if (ranks.several() && !config.frozen) {
    options.on_batch = [&](const io::Sample& batch) { ranks.Weigh(batch); };
  }
  if (telling.terminal.json) options.on_epoch = telling;
  const FitResult result = InWordsOfTheFile([&] { return Fit(*net, *optimizer, train, options); });
  for (const auto& damaged : result.skipped) {
    if (ranks.first())
      telling.terminal.Warn("firn: passed over a damaged checkpoint: " + damaged.reason);
  }

  if (config.keep_best && !result.best_checkpoint.empty()) {
    io::CheckpointParts parts = {{"model", *net}};
    if (average) parts.emplace_back("average", *average);
    io::LoadCheckpoint(result.best_checkpoint, parts);
  }
  if (average && (!result.epochs.empty() || result.resumed_at > 0)) average->Swap();
  json value = result.epochs.empty() ? json::object() : JsonOf(result.epochs.back());
  if (validation && (config.keep_best || result.epochs.empty())) {  // what comes out counts
    const FitEpoch out = {
        .validation = Evaluate(
            *net, *validation,
            {.loss = options.loss, .metric = {}, .forward = {}, .ranks = ranks.communicator()}),
        .averaged = average.has_value()};
    for (const char* key : {"validation_loss", "metric", "validation_of"}) {
      value[key] = JsonOf(out)[key];
    }
  }
  net->To(Device::Cpu());
  if (ranks.first()) WriteOutput(*net, sample, data.train, config.output);
  ranks.Wait();  // where that fails, all do

  value["output"] = config.output;
  value["resumed_at"] = result.resumed_at;
  value["stopped_early"] = result.stopped_early;
  value["best_checkpoint"] = result.best_checkpoint;
  value["parameters"] = config.output + "/parameters.h5";
  value["graph"] = config.output + "/model.firn";
  return value;
}

}  // namespace firn::cli

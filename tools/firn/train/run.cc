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
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/device/usable_device.h"
#include "firn/firn.h"
#include "tools/firn/train/data_prepare.h"
#include "tools/firn/train/learner.h"

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
  io::DatasetPtr validation;  // null: not used
};

std::vector<TargetOfData> TargetsOf(const TrainingData& data) {
  return data.several() ? data.targets : std::vector<TargetOfData>{data.target()};
}

// The validation may lack a class; a target of numbers has as many of them or does not fit.
void CheckTargets(const std::vector<TargetOfData>& validation,
                  const std::vector<TargetOfData>& data) {
  for (size_t k = 0; k < data.size(); ++k) {
    const TargetOfData &here = validation[k], &there = data[k];
    const bool fits = here.classes ? here.outputs <= there.outputs : here.outputs == there.outputs;
    if (here.places.rank() != there.places.rank()) {
      RaiseStatus(InvalidArgument("the validation has classes ", here.places.ToString(),
                                  " for a sample, the data ", there.places.ToString()),
                  "data");
    }
    if (here.classes == there.classes && fits) continue;
    RaiseStatus(InvalidArgument("the validation has ", here.outputs,
                                here.classes ? " classes" : " numbers", " as targets, the data ",
                                there.outputs, there.classes ? " classes" : " numbers"),
                "data");
  }
}

// For a network of ids: it has classes of its own, of which data may lack some.
void TakeIds(int64_t ids, TrainingData* data) {
  if (ids == 0) return;
  data->samples = AsIds(data->samples, ids);
  if (data->classes) data->outputs = std::max(data->outputs, ids);
}

Data ReadData(const TrainConfig& config) {
  Data data{config.data.read(), nullptr};
  io::DatasetPtr& all = data.train.samples;
  const auto refuse = [](const auto&... what) { RaiseStatus(InvalidArgument(what...), "data"); };
  if (all->size() == 0) refuse("there are no samples");
  TakeIds(config.model.ids, &data.train);
  if (config.validation.has_value()) {
    TrainingData other = config.validation->read();
    if (other.samples->size() == 0) refuse("the validation has no samples");
    TakeIds(config.model.ids, &other);
    if (other.inputs != data.train.inputs) {
      refuse("the validation names ", other.inputs, " of the inputs, the data ", data.train.inputs);
    }
    CheckTargets(TargetsOf(other), TargetsOf(data.train));
    if (other.names != data.train.names) refuse("data and validation have other classes");
    if (other.input_words != data.train.input_words ||
        other.standardize != data.train.standardize ||
        other.fill_missing != data.train.fill_missing) {
      refuse(
          "data and validation read their inputs in other ways: one_hot (also its words), "
          "standardize or missing differ");
    }
    if (!other.pictures.empty() && !data.train.pictures.empty() &&
        other.pictures != data.train.pictures) {
      refuse("pictures of the validation are ", other.pictures, ", those of the data ",
             data.train.pictures);
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

// Fit's errors for a run that has diverged, and for frozen steps of ranks, name classes and
// options; these name keys of the JSON file.
FitResult InWordsOfTheFile(const std::function<FitResult()>& run) {
  try {
    return run();
  } catch (const Error& e) {
    const std::string said = absl::StrReplaceAll(
        e.what(), {{"warms up (optim::WarmupLr)", "warms up (\"warmup\" of \"schedule\")"},
                   {"a clip_norm", "a \"clip_grad_norm\""},
                   {"fit: frozen with ", "fit: \"frozen\" with "},
                   {", LastBatch::kDrop or kWrap, or no frozen step", ", or no \"frozen\""},
                   {"; AnomalyScope names the operation that made the first one", ""}});
    if (said == e.what()) throw;
    throw Error(e.status(), said);
  }
}

void WriteNames(const std::string& path, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  RaiseIfError(firn::inner::internal::ReplaceFile(path, text), "train");
}

// The meaning of the numbers of a graph with one input and one output; classes without names get
// their numbers as names. Ids have none.
io::GraphInfo InfoOf(const TrainConfig& config, const TrainingData& data) {
  io::GraphInfo info = data.info;
  if (data.several() || config.model.ids > 0) return info;
  info.classes = data.names;
  for (int64_t k = 0; data.classes && data.names.empty() && k < data.outputs; ++k) {
    info.classes.push_back(std::to_string(k));
  }
  return info;
}

// The network as a graph for one sample, for firn infer and forward and programs without nn.
void WriteModel(const Learner& learner, const io::GraphInfo& info, const std::string& path) {
  const NoGradScope no_grad;
  learner.net->Eval();
  const StaticGraph graph =
      Freeze([&](const std::vector<Tensor>& in) { return learner.run(in); }, learner.sample);
  io::SaveGraph(path, graph, {.names = learner.net->state_dict(), .info = info});
}

// The files that a run writes beside those of Fit.
void WriteOutput(const TrainConfig& config, const Learner& learner, const TrainingData& data) {
  const std::string& folder = config.output;
  io::Save(folder + "/parameters.h5", learner.net->state_dict());
  WriteModel(learner, InfoOf(config, data), folder + "/model.firn");
  if (!data.names.empty()) WriteNames(folder + "/classes.txt", data.names);
}

struct Loaders {
  io::DataLoader train;
  std::optional<io::DataLoader> validation;
};

// The data of a rank: its part of the batches.
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

// The error if ranks read different data, as from folders of their own.
void AgreeOnData(const Data& data, const Ranks& ranks) {
  std::vector<std::string> lines = {
      absl::StrCat(data.train.samples->size(), " samples"),
      absl::StrCat(data.validation ? data.validation->size() : 0, " samples of the validation")};
  for (const TargetOfData& target : TargetsOf(data.train)) {
    lines.push_back(absl::StrCat(target.outputs, " outputs"));
  }
  ranks.Agree(lines);
}

}  // namespace

json TrainNetwork(const TrainConfig& config, const Telling& telling, Ranks& ranks) {
  absl::StatusOr<Device> device = UsableDevice(ranks.DeviceOf(config.device));
  RaiseIfError(device.status(), "train");
  const Data data = ReadData(config);
  AgreeOnData(data, ranks);
  if (!telling.quiet && !data.train.pictures.empty()) {
    telling.terminal.Warn("firn: pictures are " + data.train.pictures);
  }

  ManualSeed(config.seed);
  const Learner learner = MakeLearner(config, data.train);
  nn::Module* const net = learner.net.get();
  net->To(*device);
  ranks.Share(*net);
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
                        .loss = learner.loss,
                        .forward = learner.forward,
                        .schedule = config.rates.schedule(steps, config.epochs),
                        .plateau = config.rates.plateau,
                        .accumulate = config.accumulate,
                        .frozen = config.frozen,
                        .clip_norm = config.clip_grad_norm,
                        .average = average ? &*average : nullptr,
                        .validation = validation ? &*validation : nullptr,
                        .metric = validation ? learner.metric : io::Metric(),
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
  if (validation && (config.keep_best || result.epochs.empty())) {  // the average counts
    const FitEpoch out = {.validation = Evaluate(*net, *validation,
                                                 {.loss = learner.loss,
                                                  .metric = learner.metric,
                                                  .forward = learner.forward,
                                                  .ranks = ranks.communicator()}),
                          .averaged = average.has_value()};
    for (const char* key : {"validation_loss", "metric", "validation_of"}) {
      value[key] = JsonOf(out)[key];
    }
  }
  net->To(Device::Cpu());
  if (ranks.first()) WriteOutput(config, learner, data.train);
  ranks.Wait();  // if that fails, all ranks fail

  value["output"] = config.output;
  value["pictures"] = data.train.pictures;
  value["resumed_at"] = result.resumed_at;
  value["stopped_early"] = result.stopped_early;
  value["best_checkpoint"] = result.best_checkpoint;
  value["parameters"] = config.output + "/parameters.h5";
  value["graph"] = config.output + "/model.firn";
  return value;
}

}  // namespace firn::cli

// A training loop with what a long run needs, in the order in which it happens. Copy it to begin
// one of your own and leave out what you do not need: the lines of `step` are all that must stay.
#include <algorithm>
#include <map>
#include <optional>

#include "firn/firn.h"
#include "firn/fit_agreement.h"

namespace firn {

FitResult Fit(nn::Module& net, optim::Optimizer& optimizer, io::DataLoader& train,
              const FitOptions& given) try {
  FitOptions options = inner::internal::CheckedOptions(given, net, train, optimizer);
  FitResult result;
  FitEpoch now = {.watch = options.watch};  // the epoch in progress, as far as it is
  // The parts of checkpoints, by name.
  const bool maximize = options.watch == FitWatch::kHighestMetric;
  io::EarlyStopping stopping(
      {.maximize = maximize, .patience = options.patience, .stop_on_nan = false});
  io::CheckpointParts parts = {{"model", net}, {"optimizer", optimizer}, {"data", train}};
  parts.emplace_back("random", DefaultGenerator(train.options().device), options.ranks);
  parts.emplace_back("stopping", stopping);
  parts.emplace_back("epoch", now);
  std::optional<optim::Scheduler> rates;
  if (options.schedule) parts.emplace_back("schedule", rates.emplace(optimizer, options.schedule));
  std::optional<optim::ReduceOnPlateau> plateau;
  if (options.plateau) parts.emplace_back("plateau", plateau.emplace(optimizer, *options.plateau));
  if (options.average) parts.emplace_back("average", *options.average);
  std::optional<optim::LossScaler> scaler;
  if (options.autocast == DType::kF16)
    parts.emplace_back("scaler", scaler.emplace(inner::internal::ScalerOptions(options)));
  parts.insert(parts.end(), options.parts.begin(), options.parts.end());
  // Finds where the run begins or goes on, and opens the files that it writes.
  std::optional<io::CheckpointManager> checkpoints;
  std::optional<io::MonitorSeries> series;
  std::optional<io::CsvWriter> table;
  if (!options.folder.empty()) {
    const io::CheckpointManagerOptions keep = {
        .keep_best = 1, .maximize = maximize, .ranks = options.ranks};
    checkpoints.emplace(options.folder, keep);
    if (const auto found = checkpoints->LoadLatest(parts)) {
      result.resumed_at = now.step = found->info.step;
      result.skipped = found->skipped;
    }
  }
  if (!options.folder.empty() && inner::internal::IsFirst(options)) {
    series =
        io::MonitorSeries("training loss", io::Monitor(options.folder), {.resume_at = now.step});
    table = io::CsvWriter(options.folder + "/epochs.csv",
                          {"epoch", "step", "loss", "lr", "validation loss", "metric"},
                          {.resume_at = now.epoch});
  }

  int64_t group = 1, done = 0;  // batches that make a step together, and how many of them are over
  const auto step = [&](const io::Sample& batch) {
    if (done == 0) optimizer.ZeroGrad();
    std::optional<AutocastScope> autocast;
    if (options.autocast) autocast.emplace(*options.autocast);
    const Tensor loss = options.forward(batch).loss;
    autocast.reset();
    const Tensor share = group == 1 ? loss : loss / double(group);
    (scaler ? scaler->Scale(share) : share).Backward();  // gradients add up
    if (done + 1 < group) return loss;
    if (scaler && options.clip_norm > 0) scaler->Unscale(optimizer);
    if (options.clip_norm > 0) optim::ClipGradNorm(optimizer.parameters(), options.clip_norm);
    scaler ? scaler->Step(optimizer) : optimizer.Step();
    if (scaler) scaler->Update();
    if (options.average) options.average->Update();
    return loss;
  };
  std::map<std::string, StaticGraph> graphs;  // of frozen steps
  const auto frozen_step = [&](const io::Sample& batch) {
    std::string kind = std::to_string(group) + (done == 0 ? " first" : "");
    if (done + 1 == group) kind += " last";
    std::vector<Tensor> in;
    for (const std::string& name : batch.variables())
      kind += " " + name + in.emplace_back(batch[name]).spec().ToString();
    const auto found = graphs.find(kind);
    if (found != graphs.end() && found->second.StandsAsCaptured()) return found->second.Call(in)[0];
    const auto of_list = [&](const auto& t) { return step(io::Sample::Named(batch.names, t)); };
    return graphs.insert_or_assign(kind, Freeze(of_list, in)).first->second.TakeFirst();
  };

  while (now.epoch < options.epochs && !stopping.should_stop()) {
    if (!net.training()) net.Train();
    options.progress.label = "epoch " + std::to_string(now.epoch + 1);
    int64_t left = train.size() - train.position().batch;  // batches of the epoch
    double total = 0;                                      // of the losses of a group
    for (auto bar = io::ProgressBar(train, options.progress); const io::Sample& batch : bar) {
      if (!given.forward) inner::internal::CheckPair(batch, given.loss);
      if (options.on_batch) options.on_batch(batch);
      if (done == 0) group = std::clamp<int64_t>(left, 1, options.accumulate);
      const Tensor loss = options.frozen ? frozen_step(batch) : step(batch);
      total += inner::internal::AddLoss(loss, batch.input.size(0), now, options.ranks);
      now.lr = optimizer.lr();
      bar.Note("loss " + std::to_string(now.loss));
      if (++done < group) continue;
      const double mean = std::exchange(total, 0) / double(group);
      now.lost = inner::internal::CheckLoss(mean, now.lost, now, options);
      if (series) series->Add(now.step, mean);
      if (rates) rates->Step();
      ++now.step;
      left -= std::exchange(done, 0);
      const bool due = options.checkpoint_every > 0 && now.step % options.checkpoint_every == 0;
      if (due && left > 0) checkpoints->Save(parts, {.step = now.step});  // the last one: below
    }
    Evaluation& v = now.validation;
    if (options.validation) {
      std::optional<optim::WeightAverage::Scope> averaged;
      if (options.average) averaged.emplace(*options.average);
      v = Evaluate(net, *options.validation,
                   {given.loss, given.metric, given.forward, options.ranks});
      now.averaged = options.average != nullptr;
    }
    if (table) table->Write({now.epoch, now.step, now.loss, now.lr, v.loss, v.metric});
    stopping.Update(now.watched());
    if (plateau) plateau->Step(now.watched());
    const FitEpoch& over = result.epochs.emplace_back(now);
    now = {.epoch = over.epoch + 1, .step = over.step, .watch = options.watch, .lost = over.lost};
    if (checkpoints) checkpoints->Save(parts, {.step = now.step, .metric = over.watched()});
    if (options.on_epoch) options.on_epoch(over);
  }
  if (checkpoints) checkpoints->Wait();
  if (checkpoints && checkpoints->best()) result.best_checkpoint = checkpoints->best()->path;
  result.stopped_early = stopping.should_stop();
  return result;
} catch (...) {
  inner::internal::TellRanks(given.ranks);
}

}  // namespace firn

// A training loop with what a long run needs, in the order in which it happens. Copy it to begin
// one of your own and leave out what you do not need: the lines of `step` are all that must stay.
#include <map>
#include <optional>

#include "firn.h"

namespace firn {

FitResult Fit(nn::Layer& net, optim::Optimizer& optimizer, io::DataLoader& train,
              const FitOptions& given) {
  FitOptions options = inner::internal::CheckedOptions(given, train);
  FitResult result;
  FitEpoch now;  // the epoch in progress, as far as it is

  // All that has to outlive the process, by name.
  io::EarlyStopping stopping({.patience = options.patience, .stop_on_nan = false});
  io::CheckpointValues epoch;
  io::CheckpointParts parts = {{"model", net}, {"optimizer", optimizer}, {"data", train}};
  parts.emplace_back("random", DefaultGenerator(train.options().device));
  parts.emplace_back("stopping", stopping);
  parts.emplace_back("epoch", epoch);
  std::optional<optim::Scheduler> schedule;
  if (options.schedule) schedule.emplace(optimizer, options.schedule);
  if (schedule) parts.emplace_back("schedule", *schedule);

  // Where it begins or goes on, and what it writes from there.
  std::optional<io::CheckpointManager> checkpoints;
  std::optional<io::MonitorSeries> series;
  std::optional<io::CsvWriter> table;
  if (!options.folder.empty()) {
    checkpoints.emplace(options.folder, io::CheckpointManagerOptions{.keep_best = 1});
    if (const auto found = checkpoints->LoadLatest(parts)) {
      now = {.epoch = epoch.GetInteger("number"), .step = found->info.step};
      now.samples = epoch.GetInteger("samples");
      now.loss = epoch.GetReal("loss");
      result.resumed_at = now.step;
      result.skipped = found->skipped;
    }
    series =
        io::MonitorSeries("training loss", io::Monitor(options.folder), {.resume_at = now.step});
    table = io::CsvWriter(options.folder + "/epochs.csv",
                          {"epoch", "step", "loss", "lr", "validation loss", "metric"},
                          {.resume_at = now.epoch});
  }
  const auto save = [&](std::optional<double> metric) {
    epoch.Set("number", now.epoch);
    epoch.Set("samples", now.samples);
    epoch.Set("loss", now.loss);
    checkpoints->Save(parts, {.step = now.step, .metric = metric});
  };

  const auto step = [&](const Tensor& input, const Tensor& target) {
    optimizer.ZeroGrad();
    const Tensor loss = options.loss(net(input), target);
    loss.Backward();
    optimizer.Step();
    return loss;
  };
  std::map<std::string, StaticGraph> graphs;  // of frozen steps
  const auto frozen_step = [&](const Tensor& input, const Tensor& target) {
    const std::string kind = input.spec().ToString() + target.spec().ToString();
    if (const auto g = graphs.find(kind); g != graphs.end()) return g->second(input, target);
    return graphs.emplace(kind, Freeze(step, input, target)).first->second.TakeFirst();
  };

  while (now.epoch < options.epochs && !stopping.should_stop()) {
    net.Train();
    options.progress.label = "epoch " + std::to_string(now.epoch + 1);
    for (auto bar = io::ProgressBar(train, options.progress); auto [input, target] : bar) {
      const Tensor loss = options.frozen ? frozen_step(input, target) : step(input, target);
      now.samples += input.size(0);
      now.loss += (loss.Item() - now.loss) * static_cast<double>(input.size(0)) /
                  static_cast<double>(now.samples);
      now.lr = optimizer.lr();
      bar.Note("loss " + std::to_string(now.loss));
      if (series) series->Add(now.step, loss);
      if (schedule) schedule->Step();
      ++now.step;
      const bool due = options.checkpoint_every > 0 && now.step % options.checkpoint_every == 0;
      if (due && train.position().batch > 0) save({});  // that of the last batch is written below
    }
    Evaluation& v = now.validation;
    if (options.validation) v = Evaluate(net, *options.validation, {given.loss, given.metric});
    if (table) table->Write({now.epoch, now.step, now.loss, now.lr, v.loss, v.metric});
    stopping.Update(now.watched());
    result.epochs.push_back(now);
    now = {.epoch = now.epoch + 1, .step = now.step};
    if (checkpoints) save(result.epochs.back().watched());
    if (options.on_epoch) options.on_epoch(result.epochs.back());
  }
  if (checkpoints) checkpoints->Wait();
  if (checkpoints && checkpoints->best()) result.best_checkpoint = checkpoints->best()->path;
  result.stopped_early = stopping.should_stop();
  return result;
}

}  // namespace firn

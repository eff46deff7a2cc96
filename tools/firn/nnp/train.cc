// The loop of NNabla's command, which counts as NNabla does: an epoch is iter_per_epoch iterations,
// whatever the data sets hold, and each iteration goes through all optimizers. Each of n processes
// makes 1/n of an epoch's iterations, with batches of its own as large as the file says.
#include "tools/firn/nnp/train.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/nnabla_training/nnabla_initial.h"
#include "firn/io/nnabla_training/nnabla_training.h"
#include "firn/io/parameters.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tools/firn/nnp/results.h"
#include "tools/firn/nnp/schedules.h"
#include "tools/firn/nnp/solvers.h"
#include "tools/firn/nnp/trainer.h"

namespace firn::cli {
namespace {

namespace nnabla = io::nnabla;
using inner::internal::JsonString;

bool IsModelFile(const std::string& path) {
  return absl::EndsWithIgnoreCase(path, ".nnp") || absl::EndsWithIgnoreCase(path, ".protobuf");
}

std::vector<const io::NnablaFed*> PartsOf(const auto& list) {
  std::vector<const io::NnablaFed*> parts;
  for (const auto& part : list) parts.push_back(&part);
  return parts;
}

// Training errors name the place in the file.
std::string At(const std::string& file, const std::string& optimizer) {
  return absl::StrCat(file, ": optimizer ", JsonString(optimizer));
}

// The beginning of a training: the sources of parameters and states, and the number of finished
// epochs.
struct Beginning {
  StateDict parameters;
  std::vector<nnabla::Optimizer> states;
  std::string source;
  int64_t epochs = 0;
};

Beginning BeginningOf(const NnpTraining& training) {
  Beginning begin;
  begin.source = training.parameters;
  if (training.resume) {
    if (auto newest = Results::Newest(training.output)) {
      begin.epochs = newest->first;
      begin.source = newest->second;
    }
  }
  if (begin.source.empty()) return begin;
  if (!IsModelFile(begin.source)) {
    begin.parameters = NnpParameters(begin.source);
    return begin;
  }
  nnabla::Model model = io::LoadNnabla(begin.source);
  begin.parameters = std::move(model.parameters);
  begin.states = std::move(model.optimizers);
  return begin;
}

// A parameter has one DataParallel, which one optimizer has.
void CheckMovedOnce(const io::NnablaTraining& training, const std::string& file) {
  std::map<std::string, std::string> moved;  // the optimizer of each parameter
  for (const io::NnablaOptimizer& o : training.optimizers) {
    for (const std::string& parameter : o.parameters) {
      const auto [found, is_new] = moved.emplace(parameter, o.name);
      if (is_new) continue;
      RaiseStatus(Unimplemented(At(file, o.name), " and ", JsonString(found->second),
                                " both move parameter ", JsonString(parameter),
                                ", which several processes do not"),
                  "nnp");
    }
  }
}

// The share of one of several processes. Iterations in the file are those of all processes
// together.
io::NnablaTraining OfRanks(io::NnablaTraining training, const std::string& file,
                           const Ranks& ranks) {
  if (!ranks.several()) return training;
  const int64_t count = ranks.shard().count;
  int64_t& iterations = training.config.iter_per_epoch;
  if (iterations != 0 && iterations < count) {
    RaiseStatus(InvalidArgument(file, ": training_config.iter_per_epoch: expected at least ", count,
                                ", one for each process, got ", iterations),
                "nnp");
  }
  iterations /= count;
  CheckMovedOnce(training, file);
  for (io::NnablaOptimizer& o : training.optimizers) {
    o.solver = ScheduledForEach(std::move(o.solver), count);
    if (o.start_iter > 0) o.start_iter = (o.start_iter - 1) / count + 1;
    if (o.end_iter > 0) o.end_iter = (o.end_iter - 1) / count + 1;
  }
  return training;
}

class TrainingRun {
 public:
  TrainingRun(const NnpTraining& asked, Terminal& terminal, const Ranks& ranks)
      : asked_(asked),
        terminal_(terminal),
        ranks_(ranks),
        begin_(BeginningOf(asked)),
        model_(Loaded()),
        training_(OfRanks(io::ImportNnablaTraining(model_, asked.model), asked.model, ranks)),
        train_(model_.datasets, asked.model, asked.data, PartsOf(training_.optimizers),
               ranks.shard()),
        evaluate_(model_.datasets, asked.model, asked.data, PartsOf(training_.monitors),
                  ranks.shard()) {
    ranks.Agree(Lines());  // so no rank writes before all have looked into the folder
    fixed_.emplace(training_.state, ranks);
    for (const io::NnablaOptimizer& o : training_.optimizers) {
      trainers_.emplace_back(o, training_.state, At(asked.model, o.name), ranks);
      for (const nnabla::Optimizer& from : begin_.states) {
        if (from.name != o.name || !from.solver || from.solver->states.empty()) continue;
        LoadStates(trainers_.back().optimizer(), o.solver.type, At(begin_.source, o.name),
                   from.solver->states);
      }
    }
  }

  nlohmann::json operator()() {
    ranks_.Seed(0);
    if (ranks_.first()) results_.emplace(asked_.output, Names(), begin_.epochs);
    const nnabla::TrainingConfig& config = training_.config;
    if (results_ && config.max_epoch * config.iter_per_epoch == 0) results_->SaveBest(Model());
    for (int64_t epoch = begin_.epochs; epoch < config.max_epoch && config.iter_per_epoch > 0;
         ++epoch) {
      Epoch(epoch);
    }
    ranks_.Wait();  // if the first cannot write, all fail
    if (!results_) return value_;
    value_["output"] = asked_.output;
    value_["resumed_at"] = begin_.epochs;
    value_["parameters"] = std::filesystem::exists(results_->best()) ? results_->best() : "";
    value_["current"] = results_->current();
    return value_;
  }

 private:
  nnabla::Model Loaded() const {
    nnabla::Model model = io::LoadNnabla(asked_.model);
    io::NnablaImportOptions options;
    options.limits.max_total_bytes = asked_.max_gib << 30;
    model.parameters = io::InitialNnablaParameters(model, asked_.model, begin_.parameters, options);
    return model;
  }

  // Data of which ranks may have different files.
  std::vector<std::string> Lines() const {
    const nnabla::TrainingConfig& config = training_.config;
    std::vector<std::string> lines = {absl::StrCat(begin_.epochs, " epochs done"),
                                      absl::StrCat("max_epoch: ", config.max_epoch),
                                      absl::StrCat("iter_per_epoch: ", config.iter_per_epoch),
                                      absl::StrCat("output ", asked_.output)};
    for (const io::NnablaOptimizer& o : training_.optimizers) {
      lines.push_back(absl::StrCat("optimizer ", o.name, " of ", o.network_name, ", ",
                                   o.solver.type, ", update_interval: ", o.update_interval));
    }
    for (const Feeder* const data : {&train_, &evaluate_}) {
      for (const std::string& line : data->Describe()) lines.push_back(line);
    }
    return lines;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const io::NnablaEvaluation& m : training_.monitors) names.push_back(m.name);
    return names;
  }

  std::map<std::string, double> Numbers(int64_t iteration) const {
    const auto per_epoch = static_cast<double>(training_.config.iter_per_epoch);
    const auto epochs = static_cast<double>(training_.config.max_epoch);
    const double epoch = static_cast<double>(iteration) / per_epoch;
    return {{"%iter", static_cast<double>(iteration)},
            {"%max_iter", epochs * per_epoch},
            {"%epoch", std::floor(epoch)},
            {"%epochf", epoch},
            {"%max_epoch", epochs},
            {"%progress", epoch / epochs}};
  }

  void Iteration(int64_t iteration) {
    train_.NextRound();
    cost_.BeginIteration();
    for (Trainer& trainer : trainers_) {
      if (!trainer.Takes(iteration)) continue;
      const TensorList inputs = train_.Inputs(trainer.description(), Numbers(iteration));
      cost_.BeforeOptimizer();
      cost_.AfterOptimizer(trainer.Step(iteration, inputs));
    }
    if (cost_.IsFinite()) return;
    RaiseStatus(
        FailedPrecondition("the cost is no finite number any more at iteration ", iteration + 1,
                           "; a smaller learning rate of the solver, or a "
                           "warm-up (lr_warmup_scheduler_type), may help"),
        "nnp");
  }

  double ErrorOf(const io::NnablaEvaluation& monitor) {
    const NoGradScope no_grad;
    double sum = 0;
    const int64_t rounds = evaluate_.Rounds(monitor);
    for (int64_t i = 0; i < rounds; ++i) {
      evaluate_.NextRound();
      sum += SumOf(MeansOf(monitor.network.Call(evaluate_.Inputs(monitor, no_numbers_))));
    }
    return ranks_.MeanOf(rounds == 0 ? 0 : sum / static_cast<double>(rounds));
  }

  // Decides like NNabla, by the error of the monitor "valid_error", or by 0 if there is none.
  std::vector<double> Evaluate() {
    fixed_->Share();  // errors are those of what is saved
    std::vector<double> errors;
    double deciding = 0;
    for (const io::NnablaEvaluation& monitor : training_.monitors) {
      errors.push_back(ErrorOf(monitor));
      if (monitor.name == "valid_error") deciding = errors.back();
    }
    const bool best = !training_.config.save_best || !best_ || deciding <= *best_;
    if (!std::isnan(deciding) && best) {
      best_ = deciding;
      if (results_) results_->SaveBest(Model());
    }
    return errors;
  }

  void Epoch(int64_t epoch) {
    const nnabla::TrainingConfig& config = training_.config;
    for (int64_t i = 0; i < config.iter_per_epoch; ++i) {
      Iteration(epoch * config.iter_per_epoch + i);
    }
    const int64_t done = epoch + 1;
    const double cost = ranks_.MeanOf(cost_.EndEpoch());
    const bool evaluates = done % config.monitor_interval == 0 || done <= 5;
    const std::vector<double> errors = evaluates ? Evaluate() : std::vector<double>();
    if (!results_) return;
    results_->Report(epoch, cost, errors);
    if (results_->CurrentIsDue(done, done == config.max_epoch)) {
      results_->SaveCurrent(Model(), done);
    }
    Tell(done, cost, errors);
  }

  void Tell(int64_t epoch, double cost, const std::vector<double>& errors) {
    const auto number = [](double x) {
      return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json();
    };
    value_ = {{"epoch", epoch}, {"cost", number(cost)}};
    std::string text =
        absl::StrFormat("epoch %d of %d cost=%.6f", epoch, training_.config.max_epoch, cost);
    for (size_t i = 0; i < errors.size(); ++i) {
      const std::string& name = training_.monitors[i].name;
      value_["errors"][name] = number(errors[i]);
      absl::StrAppend(&text, " ", name, absl::StrFormat("=%.6f", errors[i]));
    }
    terminal_.Warn(terminal_.json
                       ? value_.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)
                       : text);
  }

  // The file with its trained parameters.
  nnabla::Model Model() {
    nnabla::Model model = model_;
    model.parameters = training_.state;
    for (size_t i = 0; i < trainers_.size(); ++i) {
      nnabla::Solver& solver = *model.optimizers[i].solver;
      solver.states = StatesOf(trainers_[i].optimizer(), solver.type);
    }
    return model;
  }

  const NnpTraining& asked_;
  Terminal& terminal_;
  const Ranks& ranks_;
  const Beginning begin_;
  const nnabla::Model model_;
  const io::NnablaTraining training_;
  Feeder train_, evaluate_;
  std::optional<Results> results_;  // of the first rank, once the request is valid
  std::optional<Fixed> fixed_;
  std::vector<Trainer> trainers_;
  const std::map<std::string, double> no_numbers_;
  Cost cost_;
  std::optional<double> best_;
  nlohmann::json value_ = nlohmann::json::object();
};

}  // namespace

StateDict NnpParameters(const std::string& path) {
  return IsModelFile(path) ? io::LoadNnabla(path).parameters : io::Load(path);
}

nlohmann::json TrainNnp(const NnpTraining& training, Terminal& terminal, const Ranks& ranks) {
  return TrainingRun(training, terminal, ranks)();
}

}  // namespace firn::cli

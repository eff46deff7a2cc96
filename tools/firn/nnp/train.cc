// The loop of NNabla's command, its countings included: an epoch is iter_per_epoch iterations,
// whatever the data sets hold, and each iteration goes through all optimizers. Optimizers that
// step in each iteration do it as one graph; those that sum gradients run operation by operation.
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
#include "firn/autograd/backward.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/static_graph.h"
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

namespace firn::cli {
namespace {

namespace nnabla = io::nnabla;
using inner::internal::JsonString;

bool IsModelFile(const std::string& path) {
  return absl::EndsWithIgnoreCase(path, ".nnp") || absl::EndsWithIgnoreCase(path, ".protobuf");
}

TensorList MeansOf(const TensorList& losses) {
  TensorList means;
  for (const Tensor& loss : losses) means.push_back(Mean(loss));
  return means;
}

double SumOf(const TensorList& means) {
  double sum = 0;
  for (const Tensor& mean : means) sum += mean.Item();
  return sum;
}

// An optimizer of the file with what moves its parameters.
class Trainer {
 public:
  Trainer(const io::NnablaOptimizer& description, const StateDict& state, const std::string& at)
      : description_(description) {
    std::vector<NamedTensor> moved;
    for (const auto& [name, tensor] : state) {
      if (!tensor.requires_grad()) continue;
      const bool own = std::ranges::binary_search(description.parameters, name);
      if (own) {
        moved.push_back({name, tensor});
      } else {
        others_.push_back(tensor);
      }
    }
    optimizer_ = SolverOf(description.solver, at, moved);
    rate_ = ScheduleOf(description.solver, at, optimizer_->lr());
  }

  const io::NnablaOptimizer& description() const { return description_; }
  optim::Optimizer& optimizer() { return *optimizer_; }

  bool Takes(int64_t iteration) const {
    const int64_t from_1 = iteration + 1;
    return from_1 >= description_.start_iter &&
           (description_.end_iter == 0 || from_1 <= description_.end_iter);
  }

  // The sum of the losses' means, before the step. What other optimizers move wants no gradients
  // meanwhile.
  double Step(int64_t iteration, const TensorList& inputs) {
    for (Tensor& other : others_) other.SetRequiresGrad(false);
    const double loss = StepOwn(iteration, inputs);
    for (Tensor& other : others_) other.SetRequiresGrad();
    return loss;
  }

 private:
  double StepOwn(int64_t iteration, const TensorList& inputs) {
    const int64_t place = iteration % description_.update_interval;
    const bool steps = place == description_.update_interval - 1;
    if (steps) optimizer_->SetLr(rate_(iteration));
    if (description_.update_interval > 1) return SumOf(Run(inputs, place == 0, steps));
    if (graph_) return SumOf(graph_->Call(inputs));
    Captured captured =
        Capture([&](absl::Span<const Tensor> in) { return Run(in, true, true); }, inputs);
    graph_ = io::ValueOrRaise(StaticGraph::Compile(std::move(captured.graph)), "nnp");
    return SumOf(captured.outputs);
  }

  TensorList Run(absl::Span<const Tensor> inputs, bool first, bool steps) {
    const TensorList means = MeansOf(description_.network.Call(inputs));
    if (first) optimizer_->ZeroGrad();
    Tensor loss = means[0];
    for (size_t i = 1; i < means.size(); ++i) loss = Add(loss, means[i]);
    loss.Backward();
    if (steps) optimizer_->Step();
    TensorList detached;
    for (const Tensor& mean : means) detached.push_back(mean.Detach());
    return detached;
  }

  const io::NnablaOptimizer& description_;
  std::vector<Tensor> others_;  // which other optimizers move
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::function<double(int64_t)> rate_;
  std::optional<StaticGraph> graph_;
};

// The mean of an epoch's costs as NNabla counts them: a loss is taken up when the next optimizer
// that runs begins, and added to the epoch's by the first one of an iteration, so that with several
// optimizers the first iteration counts once more.
class Cost {
 public:
  void BeforeOptimizer() {
    if (!waiting_) return;
    sum_ += *waiting_;
    if (std::exchange(first_, false)) Count();
  }
  void AfterOptimizer(double loss) { waiting_ = loss; }
  void BeginIteration() { first_ = true; }
  double EndEpoch() {
    if (waiting_) {
      sum_ += *waiting_;
      Count();
      waiting_.reset();
    }
    const double mean = count_ == 0 ? 0 : total_ / static_cast<double>(count_);
    total_ = 0;
    count_ = 0;
    return mean;
  }
  bool IsFinite() const {
    return std::isfinite(total_) && std::isfinite(sum_) && std::isfinite(waiting_.value_or(0));
  }

 private:
  void Count() {
    total_ += std::exchange(sum_, 0);
    ++count_;
  }
  std::optional<double> waiting_;
  double sum_ = 0, total_ = 0;
  int64_t count_ = 0;
  bool first_ = true;
};

std::vector<const io::NnablaFed*> PartsOf(const auto& list) {
  std::vector<const io::NnablaFed*> parts;
  for (const auto& part : list) parts.push_back(&part);
  return parts;
}

// Errors in training of the place where the file says so.
std::string At(const std::string& file, const std::string& optimizer) {
  return absl::StrCat(file, ": optimizer ", JsonString(optimizer));
}

// What a training begins with: where parameters and states come from, and how many epochs are done.
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

class TrainingRun {
 public:
  TrainingRun(const NnpTraining& asked, Terminal& terminal)
      : asked_(asked),
        terminal_(terminal),
        begin_(BeginningOf(asked)),
        model_(Loaded()),
        training_(io::ImportNnablaTraining(model_, asked.model)),
        train_(model_.datasets, asked.model, asked.data, PartsOf(training_.optimizers)),
        evaluate_(model_.datasets, asked.model, asked.data, PartsOf(training_.monitors)) {
    for (const io::NnablaOptimizer& o : training_.optimizers) {
      trainers_.emplace_back(o, training_.state, At(asked.model, o.name));
      for (const nnabla::Optimizer& from : begin_.states) {
        if (from.name != o.name || !from.solver || from.solver->states.empty()) continue;
        LoadStates(trainers_.back().optimizer(), o.solver.type, At(begin_.source, o.name),
                   from.solver->states);
      }
    }
  }

  nlohmann::json operator()() {
    ManualSeed(0);
    results_.emplace(asked_.output, Names(), begin_.epochs);
    const nnabla::TrainingConfig& config = training_.config;
    if (config.max_epoch * config.iter_per_epoch == 0) results_->SaveBest(Model());
    for (int64_t epoch = begin_.epochs; epoch < config.max_epoch && config.iter_per_epoch > 0;
         ++epoch) {
      Epoch(epoch);
    }
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
    return rounds == 0 ? 0 : sum / static_cast<double>(rounds);
  }

  // Does what NNabla does: the error that decides is that of the monitor "valid_error", 0 where
  // there is none.
  std::vector<double> Evaluate() {
    std::vector<double> errors;
    double deciding = 0;
    for (const io::NnablaEvaluation& monitor : training_.monitors) {
      errors.push_back(ErrorOf(monitor));
      if (monitor.name == "valid_error") deciding = errors.back();
    }
    const bool best = !training_.config.save_best || !best_ || deciding <= *best_;
    if (!std::isnan(deciding) && best) {
      best_ = deciding;
      results_->SaveBest(Model());
    }
    return errors;
  }

  void Epoch(int64_t epoch) {
    const nnabla::TrainingConfig& config = training_.config;
    for (int64_t i = 0; i < config.iter_per_epoch; ++i) {
      Iteration(epoch * config.iter_per_epoch + i);
    }
    const int64_t done = epoch + 1;
    const double cost = cost_.EndEpoch();
    const bool evaluates = done % config.monitor_interval == 0 || done <= 5;
    const std::vector<double> errors = evaluates ? Evaluate() : std::vector<double>();
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

  // The file with what it has become.
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
  const Beginning begin_;
  const nnabla::Model model_;
  const io::NnablaTraining training_;
  Feeder train_, evaluate_;
  std::optional<Results> results_;  // once nothing is wrong with what is asked
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

nlohmann::json TrainNnp(const NnpTraining& training, Terminal& terminal) {
  return TrainingRun(training, terminal)();
}

}  // namespace firn::cli

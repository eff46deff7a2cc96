// Each schedule is a function of its description that returns a maker, which is called when the
// length of an epoch is known.
#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/optim/scheduler.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "tools/firn/train/optimizers.h"

namespace firn::cli {
namespace {

// More steps than a run can make, and few enough to be multiplied.
constexpr int64_t kMost = int64_t{1} << 31;

// Lengths in steps.
struct Lengths {
  int64_t unit;  // steps of the optimizer in what is counted
  int64_t all;   // steps of the whole run

  // A number of the description in steps; 0: the whole run.
  int64_t operator()(int64_t count) const {
    return count == 0 ? std::max<int64_t>(all, 1) : count * unit;
  }
};
using Maker = std::function<optim::Schedule(const Lengths& steps)>;

Maker Step(const Config& c) {
  const int64_t interval = c.RequiredInteger("interval", 1, kMost);
  const double gamma = c.Number("gamma", 0.1);
  return [=](const Lengths& steps) {
    return optim::StepLr({.interval = steps(interval), .gamma = gamma});
  };
}

std::vector<int64_t> Milestones(const Config& c) {
  std::vector<int64_t> milestones = c.Integers("milestones", {});
  for (const int64_t m : milestones) {
    if (m < 1 || m > kMost) c.Refuse("milestones", "expected numbers above 0 that rise");
  }
  return milestones;
}

Maker MultiStep(const Config& c) {
  const std::vector<int64_t> milestones = Milestones(c);
  const double gamma = c.Number("gamma", 0.1);
  return [=](const Lengths& steps) {
    std::vector<int64_t> at;
    for (const int64_t m : milestones) at.push_back(steps(m));
    return optim::MultiStepLr({.milestones = at, .gamma = gamma});
  };
}

Maker Exponential(const Config& c) {
  const double gamma = c.Number("gamma", 0.1);
  const int64_t interval = c.Integer("interval", 1, 1, kMost);
  return [=](const Lengths& steps) {
    return optim::ExponentialLr({.gamma = gamma, .interval = steps(interval)});
  };
}

Maker Polynomial(const Config& c) {
  const int64_t length = c.Integer("steps", 0, 1, kMost);
  const double power = c.Number("power", 1);
  return [=](const Lengths& steps) {
    return optim::PolynomialLr({.steps = steps(length), .power = power});
  };
}

Maker Cosine(const Config& c) {
  const int64_t length = c.Integer("steps", 0, 1, kMost);
  const double min_lr = c.Number("min_lr", 0);
  return [=](const Lengths& steps) {
    return optim::CosineLr({.steps = steps(length), .min_lr = min_lr});
  };
}

Maker CosineRestarts(const Config& c) {
  const int64_t length = c.RequiredInteger("steps", 1, kMost), mult = c.Integer("mult", 1, 1, 1000);
  const double min_lr = c.Number("min_lr", 0);
  return [=](const Lengths& steps) {
    return optim::CosineRestartsLr({.steps = steps(length), .mult = mult, .min_lr = min_lr});
  };
}

Maker OneCycle(const Config& c) {
  optim::OneCycleLrOptions o;
  const int64_t length = c.Integer("steps", 0, 1, kMost);
  o.max_lr = c.Number("max_lr", o.max_lr);
  o.pct_start = c.Number("pct_start", o.pct_start);
  o.linear = c.Flag("linear", o.linear);
  o.div_factor = c.Number("div_factor", o.div_factor);
  o.final_div_factor = c.Number("final_div_factor", o.final_div_factor);
  o.three_phase = c.Flag("three_phase", o.three_phase);
  return [=](const Lengths& steps) {
    optim::OneCycleLrOptions options = o;
    options.steps = steps(length);
    return optim::OneCycleLr(options);
  };
}

Maker Constant(const Config& c) {
  const double factor = c.Number("factor", 1);
  const int64_t length = c.Integer("steps", 0, 1, kMost);
  return [=](const Lengths& steps) {
    return optim::ConstantLr({.factor = factor, .steps = steps(length)});
  };
}

Maker Linear(const Config& c) {
  optim::LinearLrOptions o;
  o.start_factor = c.Number("start_factor", o.start_factor);
  o.end_factor = c.Number("end_factor", o.end_factor);
  const int64_t length = c.Integer("steps", 0, 1, kMost);
  return [=](const Lengths& steps) {
    optim::LinearLrOptions options = o;
    options.steps = steps(length);
    return optim::LinearLr(options);
  };
}

Maker ParseOne(const Config& config);

std::vector<Maker> ParseEach(const Config& c) {
  std::vector<Maker> makers;
  for (const Config& one : c.Objects("schedules")) makers.push_back(ParseOne(one));
  if (makers.empty()) c.Refuse("schedules", "expected a list of schedules, at least one");
  return makers;
}

// A schedule without a length lasts until the next one begins, or to the end of the run.
Maker Sequential(const Config& c) {
  const std::vector<Maker> makers = ParseEach(c);
  const std::vector<int64_t> milestones = Milestones(c);
  if (milestones.size() + 1 != makers.size()) {
    c.Refuse("milestones", absl::StrCat("expected one number fewer than schedules, ",
                                        makers.size() - 1, ", got ", milestones.size()));
  }
  return [=](const Lengths& steps) {
    std::vector<optim::Schedule> schedules;
    std::vector<int64_t> ends;
    int64_t begin = 0;
    for (size_t i = 0; i < makers.size(); ++i) {
      const bool last = i == milestones.size();
      const int64_t end = last ? steps.all : steps(milestones[i]);
      schedules.push_back(makers[i]({.unit = steps.unit, .all = end - begin}));
      if (!last) ends.push_back(begin = end);
    }
    return optim::SequentialLr(std::move(schedules), std::move(ends));
  };
}

Maker Chained(const Config& c) {
  const std::vector<Maker> makers = ParseEach(c);
  return [=](const Lengths& steps) {
    std::vector<optim::Schedule> schedules;
    for (const Maker& make : makers) schedules.push_back(make(steps));
    return optim::ChainedLr(std::move(schedules));
  };
}

struct Kind {
  const char* name;
  Maker (*parse)(const Config& config);
};
constexpr Kind kKinds[] = {
    {"chained", Chained},
    {"constant", Constant},
    {"cosine", Cosine},
    {"cosine_restarts", CosineRestarts},
    {"exponential", Exponential},
    {"linear", Linear},
    {"multi_step", MultiStep},
    {"one_cycle", OneCycle},
    {"polynomial", Polynomial},
    {"sequential", Sequential},
    {"step", Step},
};

constexpr char kPlateau[] = "reduce_on_plateau";

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

// The schedule by its name, with its warm-up.
Maker ParseOne(const Config& config) {
  const std::string name = config.Choice("name", Names(), "constant");
  const int64_t warmup = config.Integer("warmup", 0, 0, kMost);
  const Maker inner = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) {
                        return name == kind.name;
                      })->parse(config);
  if (warmup == 0) return inner;
  return
      [=](const Lengths& steps) { return optim::WarmupLr({.steps = steps(warmup)}, inner(steps)); };
}

// Turns what a function throws into an error at its place in the file.
template <class F>
void Check(const Config& config, F make) {
  try {
    make();
  } catch (const Error& e) {
    config.Refuse("", e.what());
  }
}

optim::ReduceOnPlateauOptions ParsePlateau(const Config& c) {
  optim::ReduceOnPlateauOptions o;
  o.factor = c.Number("factor", o.factor);
  o.patience = c.Integer("patience", o.patience, 0, kMost);
  o.threshold = c.Number("threshold", o.threshold);
  o.absolute = c.Flag("absolute", o.absolute);
  o.cooldown = c.Integer("cooldown", o.cooldown, 0, kMost);
  o.min_lr = c.Number("min_lr", o.min_lr);
  o.eps = c.Number("eps", o.eps);
  Check(c, [&] {
    Tensor parameter = Zeros({1});
    optim::Sgd sgd({parameter.SetRequiresGrad()});
    optim::ReduceOnPlateau reduce(sgd, o);
  });
  return o;
}

}  // namespace

RateChanges ParseSchedule(const Config& config) {
  std::vector<std::string> names = Names();
  names.emplace_back(kPlateau);
  if (config.Choice("name", names, "constant") == kPlateau) {
    return {.schedule = [](int64_t, int64_t) { return optim::Schedule(); },
            .plateau = ParsePlateau(config)};
  }
  const bool by_step = config.Choice("unit", {"epoch", "step"}, "epoch") == "step";
  const Maker maker = ParseOne(config);
  const ScheduleMaker make = [=](int64_t steps_per_epoch, int64_t epochs) {
    return maker({by_step ? 1 : steps_per_epoch, steps_per_epoch * epochs});
  };
  Check(config, [&] { make(1, 1); });
  return {.schedule = make, .plateau = {}};
}

}  // namespace firn::cli

// Each schedule as a function from its description to what makes it once the length of an epoch is
// known.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tensor/error.h"
#include "tools/firn/train/optimizers.h"

namespace firn::cli {
namespace {

// More than a run can make, and few enough to be multiplied.
constexpr int64_t kMost = int64_t{1} << 31;

// How long things last.
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

Maker MultiStep(const Config& c) {
  const std::vector<int64_t> milestones = c.Integers("milestones", {});
  const double gamma = c.Number("gamma", 0.1);
  for (const int64_t m : milestones) {
    if (m < 1 || m > kMost) c.Refuse("milestones", "expected numbers above 0 that rise");
  }
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

Maker Constant(const Config&) {
  return [](const Lengths&) { return [](int64_t, double base_lr) { return base_lr; }; };
}

struct Kind {
  const char* name;
  Maker (*parse)(const Config& config);
};
constexpr Kind kKinds[] = {
    {"constant", Constant},
    {"cosine", Cosine},
    {"cosine_restarts", CosineRestarts},
    {"exponential", Exponential},
    {"multi_step", MultiStep},
    {"one_cycle", OneCycle},
    {"polynomial", Polynomial},
    {"step", Step},
};

}  // namespace

ScheduleMaker ParseSchedule(const Config& config) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  const std::string name = config.Choice("name", names, "constant");
  const bool by_step = config.Choice("unit", {"epoch", "step"}, "epoch") == "step";
  const int64_t warmup = config.Integer("warmup", 0, 0, kMost);
  const Maker inner = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) {
                        return name == kind.name;
                      })->parse(config);
  const auto make = [=](int64_t steps_per_epoch, int64_t epochs) {
    const Lengths steps{by_step ? 1 : steps_per_epoch, steps_per_epoch * epochs};
    optim::Schedule schedule = inner(steps);
    return warmup == 0 ? schedule : optim::WarmupLr({.steps = steps(warmup)}, std::move(schedule));
  };
  try {
    make(1, 1);
  } catch (const Error& e) {
    config.Refuse("", e.what());
  }
  return make;
}

}  // namespace firn::cli

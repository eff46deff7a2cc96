#include "firn/optim/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/optim/state_reader.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::optim {
namespace {

std::vector<double> RatesOf(const Optimizer& optimizer) {
  std::vector<double> rates;
  for (size_t g = 0; g < optimizer.num_groups(); ++g) rates.push_back(optimizer.lr(g));
  return rates;
}

}  // namespace

Scheduler::Scheduler(Optimizer& optimizer, Schedule schedule)
    : Scheduler(optimizer, std::vector<Schedule>(optimizer.num_groups(), std::move(schedule))) {}

Scheduler::Scheduler(Optimizer& optimizer, std::vector<Schedule> schedules)
    : optimizer_(optimizer), schedules_(std::move(schedules)), base_(RatesOf(optimizer)) {
  if (schedules_.size() != optimizer.num_groups()) {
    RaiseStatus(InvalidArgument("there are ", schedules_.size(), " schedules for ",
                                optimizer.num_groups(), " groups"),
                "Scheduler");
  }
  for (size_t g = 0; g < schedules_.size(); ++g) {
    if (schedules_[g] == nullptr) {
      RaiseStatus(InvalidArgument("the schedule of group ", g, " is empty"), "Scheduler");
    }
  }
  Apply(0, base_);
}

void Scheduler::Apply(int64_t step, const std::vector<double>& base) {
  std::vector<double> rates;
  for (size_t g = 0; g < base.size(); ++g) rates.push_back(schedules_[g](step, base[g]));
  optimizer_.SetLr(rates);
}

void Scheduler::Step() { SetStep(step_ + 1); }

void Scheduler::SetStep(Integer step) {
  if (step < 0) {
    RaiseStatus(InvalidArgument("step ", step, " must not be negative"), "Scheduler");
  }
  Apply(step, base_);
  step_ = step;
}

StateDict Scheduler::state_dict() const {
  StateDict state;
  state.Insert("step", StateCount(step_));
  state.Insert("base_lr", FromVector(base_, Shape({static_cast<int64_t>(base_.size())})));
  return state;
}

void Scheduler::LoadStateDict(const StateDict& state) {
  StateReader reader(state);
  std::vector<double> base = reader.NeedNumbers("base_lr", base_.size());
  const int64_t step = reader.NeedCount("step");
  reader.Finish("Scheduler");
  Apply(step, base);
  base_ = std::move(base);
  step_ = step;
}

ReduceOnPlateau::ReduceOnPlateau(Optimizer& optimizer, const ReduceOnPlateauOptions& o)
    : optimizer_(optimizer),
      options_(o),
      best_(o.maximize ? -std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::infinity()) {
  if (!(o.factor > 0 && o.factor < 1)) {
    RaiseStatus(InvalidArgument("factor ", o.factor, " must be in (0, 1)"), "ReduceOnPlateau");
  }
  if (!(o.patience >= 0 && o.threshold >= 0 && o.cooldown >= 0 && o.min_lr >= 0 && o.eps >= 0)) {
    RaiseStatus(InvalidArgument("patience ", o.patience, ", threshold ", o.threshold, ", cooldown ",
                                o.cooldown, ", min_lr ", o.min_lr, " and eps ", o.eps,
                                " must not be negative"),
                "ReduceOnPlateau");
  }
}

bool ReduceOnPlateau::Better(double metric) const {
  if (std::isinf(best_)) return options_.maximize ? metric > best_ : metric < best_;
  const double margin =
      options_.absolute ? options_.threshold : std::abs(best_) * options_.threshold;
  return options_.maximize ? metric > best_ + margin : metric < best_ - margin;
}

bool ReduceOnPlateau::Step(Real metric) {
  if (Better(metric)) {
    best_ = metric;
    bad_steps_ = 0;
  } else {
    ++bad_steps_;
  }
  if (cooldown_ > 0) {
    --cooldown_;
    bad_steps_ = 0;
  }
  if (bad_steps_ <= options_.patience) return false;
  std::vector<double> rates = RatesOf(optimizer_);
  bool any = false;
  for (double& rate : rates) {
    const double reduced = std::max(rate * options_.factor, options_.min_lr);
    if (!(rate - reduced > options_.eps)) continue;
    rate = reduced;
    any = true;
  }
  optimizer_.SetLr(rates);
  cooldown_ = options_.cooldown;
  bad_steps_ = 0;
  return any;
}

StateDict ReduceOnPlateau::state_dict() const {
  StateDict state;
  state.Insert("best", StateNumber(best_));
  state.Insert("bad_steps", StateCount(bad_steps_));
  state.Insert("cooldown", StateCount(cooldown_));
  return state;
}

void ReduceOnPlateau::LoadStateDict(const StateDict& state) {
  StateReader reader(state);
  const double best = reader.NeedNumber("best");
  const int64_t bad_steps = reader.NeedCount("bad_steps");
  const int64_t cooldown = reader.NeedCount("cooldown");
  reader.Finish("ReduceOnPlateau");
  best_ = best;
  bad_steps_ = bad_steps;
  cooldown_ = cooldown;
}

}  // namespace firn::optim

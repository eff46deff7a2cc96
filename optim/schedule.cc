#include "firn/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::optim {
namespace {

template <class... What>
void Require(bool good, const char* schedule, const What&... what) {
  if (!good) RaiseStatus(InvalidArgument(what...), schedule);
}

// From `high` at 0 to `low` at 1.
double HalfWave(double high, double low, double at) {
  return low + (high - low) * (1 + std::cos(std::numbers::pi * at)) / 2;
}

double Share(int64_t step, int64_t steps) {
  return static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
}

void RequireRising(const std::vector<int64_t>& milestones, const char* schedule) {
  if (std::is_sorted(milestones.begin(), milestones.end()) &&
      (milestones.empty() || milestones[0] >= 0)) {
    return;
  }
  RaiseStatus(InvalidArgument("milestones are {", absl::StrJoin(milestones, ", "),
                              "} (want numbers that rise, from 0 on)"),
              schedule);
}

int64_t NumReached(const std::vector<int64_t>& milestones, int64_t step) {
  return std::upper_bound(milestones.begin(), milestones.end(), step) - milestones.begin();
}

}  // namespace

Schedule ConstantLr(const ConstantLrOptions& o) {
  Require(o.factor >= 0 && o.factor <= 1, "ConstantLr", "factor is ", o.factor, " (want 0 to 1)");
  Require(o.steps >= 0, "ConstantLr", "steps is ", o.steps, " (want >= 0)");
  return [o](int64_t step, double base) { return step < o.steps ? base * o.factor : base; };
}

Schedule LinearLr(const LinearLrOptions& o) {
  Require(o.start_factor > 0 && o.start_factor <= 1, "LinearLr", "start_factor is ", o.start_factor,
          " (want above 0, at most 1)");
  Require(o.end_factor >= 0 && o.end_factor <= 1, "LinearLr", "end_factor is ", o.end_factor,
          " (want 0 to 1)");
  Require(o.steps > 0, "LinearLr", "steps is ", o.steps, " (want >= 1)");
  return [o](int64_t step, double base) {
    return base * std::lerp(o.start_factor, o.end_factor, Share(step, o.steps));
  };
}

Schedule StepLr(const StepLrOptions& o) {
  Require(o.interval > 0, "StepLr", "interval is ", o.interval, " (want >= 1)");
  Require(o.gamma >= 0, "StepLr", "gamma is ", o.gamma, " (want >= 0)");
  return [o](int64_t step, double base) {
    return base * std::pow(o.gamma, static_cast<double>(step / o.interval));
  };
}

Schedule MultiStepLr(const MultiStepLrOptions& o) {
  RequireRising(o.milestones, "MultiStepLr");
  Require(o.gamma >= 0, "MultiStepLr", "gamma is ", o.gamma, " (want >= 0)");
  return [o](int64_t step, double base) {
    return base * std::pow(o.gamma, static_cast<double>(NumReached(o.milestones, step)));
  };
}

Schedule ExponentialLr(const ExponentialLrOptions& o) {
  return StepLr({.interval = o.interval, .gamma = o.gamma});
}

Schedule PolynomialLr(const PolynomialLrOptions& o) {
  Require(o.steps > 0, "PolynomialLr", "steps is ", o.steps, " (want >= 1)");
  Require(o.power >= 0, "PolynomialLr", "power is ", o.power, " (want >= 0)");
  return [o](int64_t step, double base) {
    return step >= o.steps ? 0 : base * std::pow(1 - Share(step, o.steps), o.power);
  };
}

Schedule CosineLr(const CosineLrOptions& o) {
  Require(o.steps > 0, "CosineLr", "steps is ", o.steps, " (want >= 1)");
  return [o](int64_t step, double base) { return HalfWave(base, o.min_lr, Share(step, o.steps)); };
}

Schedule CosineRestartsLr(const CosineRestartsLrOptions& o) {
  Require(o.steps > 0 && o.mult > 0, "CosineRestartsLr", "steps is ", o.steps, " and mult ", o.mult,
          " (want >= 1)");
  return [o](int64_t step, double base) {
    int64_t length = o.steps;
    // Longer periods are few: their lengths grow by a factor.
    while (o.mult > 1 && step >= length) {
      step -= length;
      if (length > std::numeric_limits<int64_t>::max() / o.mult) break;
      length *= o.mult;
    }
    return HalfWave(base, o.min_lr,
                    static_cast<double>(step % length) / static_cast<double>(length));
  };
}

Schedule OneCycleLr(const OneCycleLrOptions& o) {
  Require(o.steps > 0, "OneCycleLr", "steps is ", o.steps, " (want >= 1)");
  Require(o.pct_start >= 0 && o.pct_start <= (o.three_phase ? 0.5 : 1), "OneCycleLr",
          "pct_start is ", o.pct_start,
          o.three_phase ? " (want 0 to 0.5, with three_phase)" : " (want 0 to 1)");
  Require(o.max_lr >= 0 && o.div_factor > 0 && o.final_div_factor > 0, "OneCycleLr", "max_lr is ",
          o.max_lr, " (want >= 0), div_factor ", o.div_factor, " and final_div_factor ",
          o.final_div_factor, " (want > 0)");
  return [o](int64_t step, double base) {
    const double top = o.max_lr > 0 ? o.max_lr : base, start = top / o.div_factor;
    const double end = start / o.final_div_factor, at = static_cast<double>(step);
    const double last = static_cast<double>(o.steps - 1);
    const double up = o.pct_start * static_cast<double>(o.steps) - 1;
    const double down = o.three_phase ? 2 * up : last;
    const auto between = [&](double from, double to, double first, double until) {
      const double share = until > first ? std::clamp((at - first) / (until - first), 0.0, 1.0) : 1;
      return o.linear ? std::lerp(from, to, share) : HalfWave(from, to, share);
    };
    if (at <= up) return between(start, top, 0, up);
    if (!o.three_phase) return between(top, end, up, last);
    return at <= down ? between(top, start, up, down) : between(start, end, down, last);
  };
}

Schedule WarmupLr(const WarmupLrOptions& o, Schedule inner) {
  Require(o.steps > 0, "WarmupLr", "steps is ", o.steps, " (want >= 1)");
  Require(inner != nullptr, "WarmupLr", "there is no schedule to warm up for");
  return [o, inner = std::move(inner)](int64_t step, double base) {
    return inner(step, base) * Share(std::min(step, o.steps - 1) + 1, o.steps);
  };
}

Schedule SequentialLr(std::vector<Schedule> schedules, std::vector<int64_t> milestones) {
  Require(!schedules.empty() && schedules.size() == milestones.size() + 1, "SequentialLr",
          "schedules: ", schedules.size(), ", milestones: ", milestones.size(),
          " (want one milestone fewer than schedules)");
  RequireRising(milestones, "SequentialLr");
  return [schedules = std::move(schedules), milestones = std::move(milestones)](int64_t step,
                                                                                double base) {
    const size_t at = static_cast<size_t>(NumReached(milestones, step));
    return schedules[at](at == 0 ? step : step - milestones[at - 1], base);
  };
}

Schedule ChainedLr(std::vector<Schedule> schedules) {
  Require(!schedules.empty(), "ChainedLr", "needs a schedule");
  return [schedules = std::move(schedules)](int64_t step, double base) {
    for (const Schedule& s : schedules) base = s(step, base);
    return base;
  };
}

}  // namespace firn::optim

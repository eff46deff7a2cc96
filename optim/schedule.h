#ifndef FIRN_OPTIM_SCHEDULE_H_
#define FIRN_OPTIM_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <vector>

namespace firn::optim {

// A learning rate for every step: schedule(step, base_lr), where steps count from 0 and base_lr is
// the rate that the group began with. A step is what Scheduler::Step is called after: a step of the
// optimizer or an epoch. Any function can be a schedule (torch's LambdaLR: return base_lr times a
// factor); those below are torch.optim.lr_scheduler's in closed form, and NNabla's.
//
//   optim::Scheduler scheduler(
//       sgd, optim::WarmupLr({.steps = 500}, optim::CosineLr({.steps = 10000})));
//
// All of them throw firn::Error on options that make no sense.
using Schedule = std::function<double(int64_t step, double base_lr)>;

struct ConstantLrOptions {
  double factor = 1.0 / 3;  // of the rate, in [0, 1]
  int64_t steps = 5;        // the number of steps with it; base_lr afterwards
};
// base_lr factor for `steps` steps, then base_lr.
Schedule ConstantLr(const ConstantLrOptions& options = {});

struct LinearLrOptions {
  double start_factor = 1.0 / 3, end_factor = 1;  // of base_lr, in [0, 1]; the first above 0
  int64_t steps = 5;                              // from one to the other
};
// From base_lr start_factor in a straight line to base_lr end_factor, where it stays.
Schedule LinearLr(const LinearLrOptions& options = {});

struct StepLrOptions {
  int64_t interval = 1;  // steps, after each of which the rate is multiplied by gamma
  double gamma = 0.1;
};
// base_lr gamma^(step / interval), the exponent rounded down.
Schedule StepLr(const StepLrOptions& options);

struct MultiStepLrOptions {
  std::vector<int64_t> milestones;  // rising; at each the rate is multiplied by gamma
  double gamma = 0.1;
};
// base_lr gamma^(milestones that are reached). NNabla's StepScheduler.
Schedule MultiStepLr(const MultiStepLrOptions& options);

struct ExponentialLrOptions {
  double gamma = 0.1;
  int64_t interval = 1;  // steps
};
// base_lr gamma^(step / interval), rounded down. NNabla's ExponentialScheduler.
Schedule ExponentialLr(const ExponentialLrOptions& options);

struct PolynomialLrOptions {
  int64_t steps = 5;
  double power = 1;
};
// base_lr (1 - step / steps)^power, 0 from `steps` on.
Schedule PolynomialLr(const PolynomialLrOptions& options);

struct CosineLrOptions {
  int64_t steps = 1;
  double min_lr = 0;
};
// Half a wave of the cosine, from base_lr to min_lr, where the rate stays (PyTorch's and NNabla's
// rise again; Loshchilov & Hutter, "SGDR", 2017).
Schedule CosineLr(const CosineLrOptions& options);

struct CosineRestartsLrOptions {
  int64_t steps = 1;  // of the first period
  int64_t mult = 1;   // how much longer each period is than the one before
  double min_lr = 0;
};
// Such half waves one after the other (SGDR).
Schedule CosineRestartsLr(const CosineRestartsLrOptions& options);

struct OneCycleLrOptions {
  double max_lr = 0;  // 0: base_lr
  int64_t steps = 1;  // of all
  double pct_start = 0.3;
  bool linear = false;  // in place of half waves of the cosine
  double div_factor = 25, final_div_factor = 1e4;
  bool three_phase = false;
};
// Up from max_lr / div_factor in the first pct_start of all steps, and down to that divided by
// final_div_factor (Smith & Topin, "Super-convergence", 2018); three_phase: first down to where it
// began, in as many steps. PyTorch's also moves the momentum, by default.
Schedule OneCycleLr(const OneCycleLrOptions& options);

struct WarmupLrOptions {
  int64_t steps = 1;
};
// Before `steps`, (step + 1) / steps of the rate of `inner`; from then on that rate (NNabla's
// LinearWarmupScheduler).
Schedule WarmupLr(const WarmupLrOptions& options, Schedule inner);

// schedules[0] before milestones[0], then schedules[1], which counts steps from there, and so on.
// Milestones rise, one fewer than the schedules.
Schedule SequentialLr(std::vector<Schedule> schedules, std::vector<int64_t> milestones);

// Each schedule gets the rate of the one before it as its base_lr, so factors multiply.
Schedule ChainedLr(std::vector<Schedule> schedules);

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SCHEDULE_H_

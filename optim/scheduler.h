#ifndef FIRN_OPTIM_SCHEDULER_H_
#define FIRN_OPTIM_SCHEDULER_H_

#include <cstdint>
#include <vector>

#include "firn/optim/optimizer.h"
#include "firn/optim/schedule.h"
#include "firn/tensor/state_dict.h"

namespace firn::optim {

// Sets an optimizer's learning rates by a schedule (optim/schedule.h). The rates are tensors that
// steps read, so frozen steps follow. The optimizer must live longer.
class Scheduler {
 public:
  // Takes the groups' present rates as base rates, and sets the rates of step 0. One schedule for
  // all groups, or one for each; throws kInvalidArgument for another number. Groups that are added
  // later are left alone.
  Scheduler(Optimizer& optimizer, Schedule schedule);
  Scheduler(Optimizer& optimizer, std::vector<Schedule> schedules);

  // Call it after each step of the optimizer, or each epoch. Sets the rates of the next one.
  void Step();
  // Steps so far.
  int64_t step() const { return step_; }
  // Goes to a step, backwards as well. Throws when it is negative.
  void SetStep(inner::Integer step);

  // "step" (i64, 0-d) and "base_lr" (f64, one for each group).
  StateDict state_dict() const;
  // Sets the rates of the saved step. Throws, and changes nothing, unless the groups agree.
  void LoadStateDict(const StateDict& state);

 private:
  // Throws, and changes nothing, when a rate makes no sense to the optimizer.
  void Apply(int64_t step, const std::vector<double>& base);

  Optimizer& optimizer_;
  std::vector<Schedule> schedules_;
  std::vector<double> base_;
  int64_t step_ = 0;
};

struct ReduceOnPlateauOptions {
  bool maximize = false;  // the metric: an accuracy and not a loss
  double factor = 0.1;    // of the rate
  int64_t patience = 10;  // steps without an improvement that are tolerated
  double threshold = 1e-4;
  bool absolute = false;  // threshold: a difference, not a share of the best so far
  int64_t cooldown = 0;   // steps after a reduction that do not count
  double min_lr = 0;
  double eps = 1e-8;  // smaller changes of a rate are left out
};

// Multiplies an optimizer's rates by `factor` when a metric has stopped improving
// (torch.optim.lr_scheduler.ReduceLROnPlateau). The optimizer must live longer.
class ReduceOnPlateau {
 public:
  // Throws kInvalidArgument unless 0 < factor < 1 and nothing is negative.
  explicit ReduceOnPlateau(Optimizer& optimizer, const ReduceOnPlateauOptions& options = {});

  // Call it after each validation. Returns whether the rates were reduced. A NaN is no improvement.
  bool Step(inner::Real metric);
  double best() const { return best_; }

  // "best" (f64), "bad_steps" and "cooldown" (i64), all 0-d.
  StateDict state_dict() const;
  // Throws, and changes nothing, unless all entries exist. The rates are loaded with the optimizer.
  void LoadStateDict(const StateDict& state);

 private:
  bool Better(double metric) const;

  Optimizer& optimizer_;
  ReduceOnPlateauOptions options_;
  double best_;
  int64_t bad_steps_ = 0, cooldown_ = 0;
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SCHEDULER_H_

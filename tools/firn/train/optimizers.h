#ifndef FIRN_TOOLS_FIRN_TRAIN_OPTIMIZERS_H_
#define FIRN_TOOLS_FIRN_TRAIN_OPTIMIZERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "firn/optim/registry.h"
#include "firn/optim/schedule.h"
#include "firn/optim/scheduler.h"
#include "tools/firn/train/config.h"

namespace firn::cli {

// What makes the optimizer that `config` describes: its "name", one of optim::OptimizerNames(), and
// its options by their names there. Options that make no sense are refused here.
using OptimizerMaker = optim::OptimizerMaker;
OptimizerMaker ParseOptimizer(const Config& config);

// What makes the schedule that `config` describes, a constant one without a "name": one of
// optim/schedule.h and its options. Numbers of steps are epochs, or steps of the optimizer with
// "unit": "step"; where a schedule has a length it is the whole run's unless it is given.
using ScheduleMaker = std::function<optim::Schedule(int64_t steps_per_epoch, int64_t epochs)>;

// How rates change: by a schedule, or (the schedule is then empty) on a plateau.
struct RateChanges {
  ScheduleMaker schedule;
  std::optional<optim::ReduceOnPlateauOptions> plateau;
};
RateChanges ParseSchedule(const Config& config);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_OPTIMIZERS_H_

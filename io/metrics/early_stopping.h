#ifndef FIRN_IO_METRICS_EARLY_STOPPING_H_
#define FIRN_IO_METRICS_EARLY_STOPPING_H_

#include <cstdint>

#include "firn/tensor/state_dict.h"

namespace firn::io {

struct EarlyStoppingOptions {
  bool maximize = false;  // the metric: an accuracy and not a loss
  int64_t patience = 10;  // updates in a row without an improvement after which to stop, >= 1
  double min_delta = 0;   // an improvement is more than this, >= 0
  bool stop_on_nan = true;
};

// Says when a metric has stopped improving. Thread-compatible.
//
//   io::EarlyStopping stopping({.patience = 5});
//   for (int epoch = 0; epoch < 100; ++epoch) {
//     ... train, validate ...
//     if (stopping.Update(loss)) break;
//     if (stopping.improved()) io::Save("best.h5", net.state_dict());
//   }
class EarlyStopping {
 public:
  // Throws kInvalidArgument for a patience or min_delta that makes no sense.
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});

  // Call it after each validation. Returns whether to stop; once true, it stays true. A NaN is no
  // improvement.
  bool Update(inner::Real metric);
  bool should_stop() const { return stopped_; }
  // Whether the last Update was the best so far.
  bool improved() const { return updates_ > 0 && best_update_ == updates_ - 1; }
  // The best metric so far; infinite (of the worst sign) before there was one.
  double best() const { return best_; }
  // The update that gave the best metric, counted from 0; -1 before there was one.
  int64_t best_update() const { return best_update_; }
  void Reset();

  // "best" (f64), "best_update", "updates" (i64) and "stopped" (bool), all 0-d.
  StateDict state_dict() const;
  // The patience of this object stays: a run that had stopped goes on if its patience is larger,
  // unless `stop_on_nan` may have stopped it. Throws, and changes nothing, unless all entries exist
  // and make sense.
  void LoadStateDict(const StateDict& state);

 private:
  // Updates since the best one, or since the beginning.
  int64_t without() const { return updates_ - 1 - best_update_; }

  EarlyStoppingOptions options_;
  double best_;
  int64_t best_update_ = -1, updates_ = 0;
  bool stopped_ = false;
};

}  // namespace firn::io

#endif  // FIRN_IO_METRICS_EARLY_STOPPING_H_

#include "firn/io/metrics/early_stopping.h"

#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "EarlyStopping";

template <class T>
Tensor Scalar(T value) {
  return FromVector(std::vector<T>{value}, {});
}

}  // namespace

EarlyStopping::EarlyStopping(const EarlyStoppingOptions& options) : options_(options) {
  if (options.patience < 1) {
    RaiseStatus(InvalidArgument("patience is ", options.patience, " (want >= 1)"), kWho);
  }
  if (!(options.min_delta >= 0)) {
    RaiseStatus(InvalidArgument("min_delta is ", options.min_delta, " (want >= 0)"), kWho);
  }
  Reset();
}

void EarlyStopping::Reset() {
  const double infinity = std::numeric_limits<double>::infinity();
  best_ = options_.maximize ? -infinity : infinity;
  best_update_ = -1;
  updates_ = 0;
  stopped_ = false;
}

bool EarlyStopping::Update(Real metric) {
  const bool better =
      options_.maximize ? metric > best_ + options_.min_delta : metric < best_ - options_.min_delta;
  if (better) {
    best_ = metric;
    best_update_ = updates_;
  }
  ++updates_;
  stopped_ =
      stopped_ || without() >= options_.patience || (options_.stop_on_nan && metric != metric);
  return stopped_;
}

StateDict EarlyStopping::state_dict() const {
  return {{"best", Scalar(best_)},
          {"best_update", Scalar(best_update_)},
          {"updates", Scalar(updates_)},
          {"stopped", Scalar(stopped_)}};
}

void EarlyStopping::LoadStateDict(const StateDict& state) {
  const double best = state["best"].Item<double>();
  const int64_t best_update = state["best_update"].Item<int64_t>();
  const int64_t updates = state["updates"].Item<int64_t>();
  const bool stopped = state["stopped"].Item<bool>();
  if (std::isnan(best) || updates < 0 || best_update < -1 || (best_update >= updates)) {
    RaiseStatus(
        InvalidArgument("the state's best is ", best, " of update ", best_update, " of ", updates),
        kWho);
  }
  best_ = best;
  best_update_ = best_update;
  updates_ = updates;
  stopped_ = (stopped && options_.stop_on_nan) || without() >= options_.patience;
}

}  // namespace firn::io

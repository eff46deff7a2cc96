// On a device event i stands before step i; the loss is read after the last event, so that the copy
// counts for the clock only, as in peers/torch_cuda.py.
#include "benchmarks/step_timer.h"

#include <chrono>

#include "benchmarks/call_times.h"
#include "firn/device/cuda.h"
#include "firn/device/status_macros.h"

namespace firn::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double ProcessorMilliseconds() { return ProcessorSeconds() * 1e3; }

}  // namespace

absl::StatusOr<TimedSteps> StepTimer::Run(Trainer& trainer, int64_t steps) {
  if (steps == 0) return TimedSteps();
  if (context_->device().is_cuda()) return RunOnDevice(trainer, steps);
  TimedSteps timed;
  const Clock::time_point begin = Clock::now();
  for (int64_t i = 0; i < steps; ++i) {
    const Clock::time_point start = Clock::now();
    const double processor_start = ProcessorMilliseconds();
    const Tensor loss = trainer.Step();
    if (i == steps - 1) static_cast<void>(loss.Item());
    timed.ms.push_back(clock_ == StepClock::kWall ? MillisecondsSince(start)
                                                  : ProcessorMilliseconds() - processor_start);
  }
  timed.wall_ms = MillisecondsSince(begin);
  return timed;
}

absl::StatusOr<TimedSteps> StepTimer::RunOnDevice(Trainer& trainer, int64_t steps) {
  const auto n = static_cast<size_t>(steps);
  while (events_.size() <= n) {
    FIRN_ASSIGN_OR_RETURN(events_.emplace_back(), context_->NewEvent());
  }
  Stream& stream = context_->stream();
  TimedSteps timed;
  const int64_t waits_before = CudaSynchronizations();
  const Clock::time_point begin = Clock::now();
  FIRN_RETURN_IF_ERROR(events_[0]->Record(stream));
  Tensor loss;
  for (size_t i = 1; i <= n; ++i) {
    loss = trainer.Step();
    FIRN_RETURN_IF_ERROR(events_[i]->Record(stream));
  }
  static_cast<void>(loss.Item());
  timed.wall_ms = MillisecondsSince(begin);
  timed.waits = CudaSynchronizations() - waits_before - 1;
  FIRN_RETURN_IF_ERROR(events_[n]->Synchronize());
  for (size_t i = 1; i <= n; ++i) {
    FIRN_ASSIGN_OR_RETURN(const double ms, events_[i]->MillisecondsSince(*events_[i - 1]));
    timed.ms.push_back(ms);
  }
  return timed;
}

}  // namespace firn::benchmarks

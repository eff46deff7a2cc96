#ifndef FIRN_BENCHMARKS_STEP_TIMER_H_
#define FIRN_BENCHMARKS_STEP_TIMER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/trainer.h"
#include "firn/device/context.h"

namespace firn::benchmarks {

// A block of training steps.
struct TimedSteps {
  std::vector<double> ms;  // of each step
  double wall_ms = 0;      // of all of them by the clock, until the last one's loss was read
  int64_t waits = 0;       // for a CUDA device, beside that for the last loss: should be 0
};

// By what steps on the CPU are timed: the clock, or the time that the process had its processors
// for, which other programs do not take from it.
enum class StepClock : uint8_t { kWall, kProcessor };

// Times training steps on one device: on the CPU by a clock; on a CUDA device by events between the
// steps, so that the program may run ahead of the device. Thread-compatible.
class StepTimer {
 public:
  explicit StepTimer(DeviceContext& context, StepClock clock = StepClock::kWall)
      : context_(&context), clock_(clock) {}

  // Does `steps` steps of a trainer on this device. The loss is read after the last one only, as a
  // loop that logs now and then would. Errors: the device's. Throws what training does.
  absl::StatusOr<TimedSteps> Run(Trainer& trainer, int64_t steps);

 private:
  absl::StatusOr<TimedSteps> RunOnDevice(Trainer& trainer, int64_t steps);

  DeviceContext* context_;
  StepClock clock_;
  std::vector<std::unique_ptr<Event>> events_;  // kept: making one costs more than a short step
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_STEP_TIMER_H_

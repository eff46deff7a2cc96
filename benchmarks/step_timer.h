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
  double wall_ms = 0;      // all steps by the clock, until the last loss was read
  int64_t waits = 0;       // waits for a CUDA device, without that for the last loss: should be 0
};

// How steps on the CPU are timed: by the clock, or by the processor time of the process, which
// other programs do not change.
enum class StepClock : uint8_t { kWall, kProcessor };

// Times training steps on one device: on the CPU by a clock; on a CUDA device by events between the
// steps, so that the program may run ahead of the device. Thread-compatible.
class StepTimer {
 public:
  explicit StepTimer(DeviceContext& context, StepClock clock = StepClock::kWall)
      : context_(&context), clock_(clock) {}

  // Does `steps` steps of a trainer on this device. The loss is read after the last step only, as
  // in a loop that logs now and then. Errors: those of the device. Passes exceptions of training
  // on.
  absl::StatusOr<TimedSteps> Run(Trainer& trainer, int64_t steps);

 private:
  absl::StatusOr<TimedSteps> RunOnDevice(Trainer& trainer, int64_t steps);

  DeviceContext* context_;
  StepClock clock_;
  std::vector<std::unique_ptr<Event>> events_;  // kept: making one costs more than a short step
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_STEP_TIMER_H_

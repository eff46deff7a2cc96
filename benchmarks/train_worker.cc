// Times Firn's training steps for compare.py: a JSON object a line in, one a line out; the protocol
// is in peers/README.md. Mode "dynamic" runs each step eagerly, "static" captures the first
// and runs its graph from then on. On a CUDA device memory is what its allocator handed out, on the
// CPU that of the process.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/json_line.h"
#include "benchmarks/precision.h"
#include "benchmarks/process_memory.h"
#include "benchmarks/step_timer.h"
#include "benchmarks/trainer.h"
#include "benchmarks/worker_loop.h"
#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/device/escape.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/device/usable_device.h"
#include "firn/tensor/error.h"

namespace firn::benchmarks {
namespace {

using internal::JsonString;

constexpr const char* kVersion = "dev";  // no release yet
constexpr int64_t kMaxSteps = 1000000;

// Makes VmHWM start again from the present size.
void ResetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// A small step, so that the code of the libraries is resident before memory is measured.
absl::Status Prime() {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                        Trainer::Make({.workload = "lenet", .batch = 2}));
  trainer->Step();
  return absl::OkStatus();
}

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// A JSON array whose elements f(0), ..., f(n - 1) read back exactly.
std::string Array(int64_t n, const std::function<double(int64_t)>& f) {
  std::vector<std::string> elements;
  for (int64_t i = 0; i < n; ++i) elements.push_back(absl::StrFormat("%.17g", f(i)));
  return absl::StrCat("[", absl::StrJoin(elements, ", "), "]");
}

// The state that is kept between commands.
class Worker {
 public:
  absl::StatusOr<std::string> Answer(const JsonLine& command) {
    FIRN_ASSIGN_OR_RETURN(const std::string name, command.Text("cmd"));
    if (name == "setup") return Setup(command);
    FIRN_RETURN_IF(name != "losses" && name != "block" && name != "peak",
                   InvalidArgument("unknown command '", name, "'"));
    FIRN_RETURN_IF(trainer_ == nullptr, InvalidArgument("'", name, "' comes before 'setup'"));
    if (name == "losses") return Losses(command);
    if (name == "block") return TimedBlock(command);
    return absl::StrFormat("{\"peak_mb\": %.3f}", PeakMb() - base_mb_);
  }

 private:
  absl::StatusOr<std::string> Setup(const JsonLine& command) {
    trainer_ = nullptr;
    FIRN_ASSIGN_OR_RETURN(const std::string mode, command.Text("mode"));
    FIRN_RETURN_IF(mode != "dynamic" && mode != "static",
                   InvalidArgument("there is no mode '", mode, "', only dynamic and static"));
    FIRN_ASSIGN_OR_RETURN(const std::string task, command.TextOr("task", "train"));
    FIRN_RETURN_IF(task != "train", InvalidArgument("unknown task '", task, "', only train"));
    TrainerOptions options;
    options.frozen = mode == "static";
    FIRN_ASSIGN_OR_RETURN(options.workload, command.Text("workload"));
    FIRN_ASSIGN_OR_RETURN(options.depth, command.IntegerOr("depth", options.depth));
    FIRN_ASSIGN_OR_RETURN(options.batch, command.Integer("batch"));
    FIRN_ASSIGN_OR_RETURN(options.optimizer, command.TextOr("optimizer", options.optimizer));
    FIRN_ASSIGN_OR_RETURN(const int64_t threads, command.IntegerOr("threads", 2));
    FIRN_ASSIGN_OR_RETURN(const std::string device, command.TextOr("device", "cpu"));
    FIRN_ASSIGN_OR_RETURN(options.device, UsableDevice(device));
    FIRN_ASSIGN_OR_RETURN(const std::string policy, command.TextOr("precision", "default"));
    FIRN_ASSIGN_OR_RETURN(const Precision precision, ParsePrecision(policy));
    options.autocast = AutocastDtype(precision);
    FIRN_ASSIGN_OR_RETURN(const std::string clock, command.TextOr("clock", "wall"));
    FIRN_RETURN_IF(clock != "wall" && clock != "cpu",
                   InvalidArgument("there is no clock '", clock, "', only wall and cpu"));
    SetPrecision(precision);
    SetNumThreads(static_cast<int>(std::clamp<int64_t>(threads, 1, 1024)));
    SetFlushDenormals(true);
    FIRN_ASSIGN_OR_RETURN(context_, GetDeviceContext(options.device));
    timer_.emplace(*context_, clock == "cpu" ? StepClock::kProcessor : StepClock::kWall);
    StartMemory();
    const auto start = std::chrono::steady_clock::now();
    FIRN_ASSIGN_OR_RETURN(trainer_, Trainer::Make(options));
    return absl::StrFormat(
        "{\"ok\": true, \"version\": %s, \"device\": %s, \"precision\": %s, \"setup_s\": %.6f}",
        JsonString(kVersion), JsonString(options.device.ToString()),
        JsonString(PrecisionName(precision, options.device)), MillisecondsSince(start) / 1e3);
  }

  bool on_cuda() const { return context_->device().is_cuda(); }

  void StartMemory() {
    ResetPeak();
    base_mb_ = ResidentMb("VmRSS");
    if (!on_cuda()) return;
    context_->allocator().ResetPeak();
    base_mb_ = static_cast<double>(context_->allocator().stats().live_bytes) / 0x1p20;
  }

  double PeakMb() const {
    if (!on_cuda()) return ResidentMb("VmHWM");
    return static_cast<double>(context_->allocator().stats().peak_bytes) / 0x1p20;
  }

  static absl::StatusOr<int64_t> Steps(const JsonLine& command) {
    FIRN_ASSIGN_OR_RETURN(const int64_t steps, command.Integer("steps"));
    FIRN_RETURN_IF(steps < 0 || steps > kMaxSteps,
                   InvalidArgument("steps is ", steps, " (want 0 to ", kMaxSteps, ")"));
    return steps;
  }

  absl::StatusOr<std::string> Losses(const JsonLine& command) {
    FIRN_ASSIGN_OR_RETURN(const int64_t steps, Steps(command));
    const std::string losses = Array(steps, [&](int64_t) { return trainer_->Step().Item(); });
    return absl::StrCat("{\"losses\": ", losses, "}");
  }

  absl::StatusOr<std::string> TimedBlock(const JsonLine& command) {
    FIRN_ASSIGN_OR_RETURN(const int64_t steps, Steps(command));
    FIRN_ASSIGN_OR_RETURN(const TimedSteps timed, timer_->Run(*trainer_, steps));
    const std::string times =
        Array(steps, [&](int64_t i) { return timed.ms[static_cast<size_t>(i)]; });
    return absl::StrFormat("{\"ms\": %s, \"wall_ms\": %.9g, \"waits\": %d}", times,
                           timed.wall_ms / static_cast<double>(std::max<int64_t>(steps, 1)),
                           timed.waits);
  }

  DeviceContext* context_ = nullptr;  // set with trainer_, as is timer_
  std::optional<StepTimer> timer_;
  std::unique_ptr<Trainer> trainer_;
  double base_mb_ = 0;
};

int Main() {
  SetFlushDenormals(true);
  if (const absl::Status primed = Prime(); !primed.ok()) {
    std::cerr << "train_worker: " << primed << "\n";
    return 1;
  }
  Worker worker;
  AnswerCommands([&](const JsonLine& command) { return worker.Answer(command); });
  return 0;
}

}  // namespace
}  // namespace firn::benchmarks

int main() { return firn::benchmarks::Main(); }

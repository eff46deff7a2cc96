// Prints where the time of a training step goes, by operation and by module:
//
//   bazel run //benchmarks:profile_step -- --workload=lenet --batch=64
//   bazel run //benchmarks:profile_step -- --workload=deep_cnn --frozen --trace=step.json
//   bazel run --config=cuda //benchmarks:profile_step -- --device=cuda
//
// On a CUDA device each operation is waited for, so that its time is the device's as well; a frozen
// step then runs operation by operation. The last line has the time of steps without the profiler.

#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_format.h"
#include "benchmarks/precision.h"
#include "benchmarks/step_timer.h"
#include "benchmarks/trainer.h"
#include "benchmarks/versus_stats.h"
#include "firn/autograd/observe.h"
#include "firn/autograd/profile.h"
#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/device/usable_device.h"

ABSL_FLAG(std::string, workload, "lenet", "lenet, mlp, resnet, resnet18 or deep_cnn");
ABSL_FLAG(int64_t, depth, 10, "of deep_cnn");
ABSL_FLAG(int64_t, batch, 64, "");
ABSL_FLAG(bool, frozen, false, "the frozen step instead of the dynamic one");
ABSL_FLAG(std::string, device, "cpu",
          "cpu, cuda or cuda:N; a build with --config=cuda has the latter");
ABSL_FLAG(std::string, precision, "default",
          "default (f32; TF32 in a CUDA device's convolutions), strict, tf32 or bf16");
ABSL_FLAG(int, threads, 2, "to compute with");
ABSL_FLAG(int64_t, steps, 20, "after 3 that do not count");
ABSL_FLAG(bool, explain, false, "what is known of the frozen step's graph");
ABSL_FLAG(std::string, trace, "", "file for https://ui.perfetto.dev");
ABSL_FLAG(std::string, csv, "", "file for the rows");

namespace firn::benchmarks {
namespace {

// Waits after each operation, so that its time includes the device's. It is made inside the
// profiled step, so it is nearer to the operation than the profiler.
class WaitForEach final : public OperationObserver {
 public:
  explicit WaitForEach(DeviceContext& context) : OperationObserver("wait"), context_(context) {}

 private:
  absl::Status Before(const OperationCall&) override { return absl::OkStatus(); }
  absl::Status After(const OperationCall&) override { return context_.Synchronize(); }

  DeviceContext& context_;
};

absl::Status PrintUnwatchedSteps(Trainer& trainer, DeviceContext& context, int64_t steps) {
  StepTimer timer(context);
  FIRN_RETURN_IF_ERROR(timer.Run(trainer, 3).status());
  FIRN_ASSIGN_OR_RETURN(const TimedSteps timed, timer.Run(trainer, steps));
  if (timed.ms.empty()) return absl::OkStatus();
  std::cout << absl::StreamFormat(
      "\nunwatched: a step takes %.4f ms (median) on %s, %.4f ms by the clock; %d hidden waits\n",
      Median(timed.ms), context.device().ToString(), timed.wall_ms / static_cast<double>(steps),
      timed.waits);
  return absl::OkStatus();
}

absl::Status Run() {
  SetNumThreads(absl::GetFlag(FLAGS_threads));
  SetFlushDenormals(true);
  FIRN_ASSIGN_OR_RETURN(const Precision precision, ParsePrecision(absl::GetFlag(FLAGS_precision)));
  FIRN_ASSIGN_OR_RETURN(const Device device, UsableDevice(absl::GetFlag(FLAGS_device)));
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(device));
  SetPrecision(precision);
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                        Trainer::Make({.workload = absl::GetFlag(FLAGS_workload),
                                       .depth = absl::GetFlag(FLAGS_depth),
                                       .batch = absl::GetFlag(FLAGS_batch),
                                       .frozen = absl::GetFlag(FLAGS_frozen),
                                       .device = device,
                                       .autocast = AutocastDtype(precision)}));
  std::cout << "on " << device << ", precision " << DescribePrecision(precision, device) << "\n";
  for (int i = 0; i < 3; ++i) trainer->Step();
  const int64_t steps = absl::GetFlag(FLAGS_steps);
  const auto step = [&] {
    std::optional<WaitForEach> wait;
    if (device.is_cuda()) wait.emplace(*context);
    trainer->Step();
  };
  const Profile profile = ProfileStep(step, steps);
  std::cout << profile.ByOperation() << "\n" << profile.ByModule();
  if (absl::GetFlag(FLAGS_explain) && trainer->graph() != nullptr) {
    std::cout << "\n" << trainer->graph()->Explain();
  }
  if (!absl::GetFlag(FLAGS_trace).empty()) profile.WriteTrace(absl::GetFlag(FLAGS_trace));
  if (!absl::GetFlag(FLAGS_csv).empty()) profile.WriteCsv(absl::GetFlag(FLAGS_csv));
  return device.is_cuda() ? PrintUnwatchedSteps(*trainer, *context, steps) : absl::OkStatus();
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Where the time of a training step goes.");
  absl::ParseCommandLine(argc, argv);
  std::string message;
  try {
    const absl::Status status = firn::benchmarks::Run();
    if (status.ok()) return 0;
    message = std::string(status.message());
  } catch (const std::exception& e) {  // a file that cannot be written, memory
    message = e.what();
  }
  std::cerr << "profile_step: " << message << "\n";
  return 1;
}

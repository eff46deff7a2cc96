// The peak memory of processes that train step by step or frozen, one process each, with all that
// is resident: code, parameters, the capture and whatever the allocator caches.
//
//   bazel run //benchmarks:peak_memory
//   bazel run //benchmarks:peak_memory -- --workloads=resnet,deep_cnn/d30/b16 --steps=20
//
// static_vs_dynamic measures times; this program measures memory alone, whose peak does not depend
// on what else the machine does.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_format.h"
#include "benchmarks/process_memory.h"
#include "benchmarks/trainer.h"
#include "benchmarks/versus_config.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"

ABSL_FLAG(std::string, workloads, "deep_cnn/d10/b16,deep_cnn/d10/b64,deep_cnn/d10/b256,resnet",
          "NAME[/dDEPTH][/bBATCH],...");
ABSL_FLAG(int, threads, 2, "to compute with");
ABSL_FLAG(int, steps, 5, "of training, the first of which is captured");

namespace firn::benchmarks {
namespace {

absl::Status Train(const VersusConfig& config, bool frozen) {
  SetNumThreads(absl::GetFlag(FLAGS_threads));
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                        Trainer::Make(config.Options(frozen)));
  for (int i = 0; i < absl::GetFlag(FLAGS_steps); ++i) trainer->Step();
  return absl::OkStatus();
}

absl::Status Run() {
  const int threads = absl::GetFlag(FLAGS_threads), steps = absl::GetFlag(FLAGS_steps);
  FIRN_RETURN_IF(threads < 1, InvalidArgument("--threads is ", threads, " (want >= 1)"));
  FIRN_RETURN_IF(steps < 2, InvalidArgument("--steps is ", steps, " (want >= 2)"));
  FIRN_ASSIGN_OR_RETURN(const std::vector<VersusConfig> configs,
                        ParseConfigs(absl::GetFlag(FLAGS_workloads)));
  for (const VersusConfig& config : configs) {
    FIRN_RETURN_IF(config.changes(), InvalidArgument("changing_cnn cannot be frozen"));
  }
  std::cout << absl::StreamFormat("peak of the process (VmHWM) in MiB, %d threads, %d steps\n",
                                  threads, steps)
            << absl::StreamFormat("%-20s %12s %12s %8s\n", "workload", "step by step", "frozen",
                                  "ratio");
  for (const VersusConfig& config : configs) {
    double peaks[2] = {};
    for (const bool frozen : {false, true}) {
      FIRN_ASSIGN_OR_RETURN(peaks[frozen ? 1 : 0],
                            PeakMbOfChild([&] { return Train(config, frozen); }));
    }
    std::cout << absl::StreamFormat("%-20s %12.0f %12.0f %8.2f\n", config.Label(), peaks[0],
                                    peaks[1], peaks[1] / peaks[0])
              << std::flush;
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("the peak memory of training step by step and frozen");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = firn::benchmarks::Run();
  if (status.ok()) return 0;
  std::cerr << "peak_memory: " << status.message() << "\n";
  return 1;
}

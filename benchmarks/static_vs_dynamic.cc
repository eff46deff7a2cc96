// Trains the same networks step by step and frozen, side by side in one process:
//
//   bazel run //benchmarks:static_vs_dynamic -- --plot=modes.svg --json=modes.json
//   bazel run //benchmarks:static_vs_dynamic -- --workloads=deep_cnn/d10/b64,mlp --quick
//   bazel run --config=cuda //benchmarks:static_vs_dynamic -- --device=cuda --precision=strict
//
// A workload is NAME[/dDEPTH][/bBATCH]; a bare name stands for its standard sizes. Networks for
// images of 8x8 pixels learn the bundled digits, the others numbers from a hash.
// changing_cnn leaves out each block of 128 channels with probability 0.2 in every step, which only
// the dynamic mode can run. "pays off" is the number of steps after which capturing and compiling
// have saved more time than they cost. Peaks are those of a step after the first, without the other
// mode's memory. On a CUDA device its events time the steps, and no step may wait for the device:
// the table names those that do.

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_join.h"
#include "benchmarks/precision.h"
#include "benchmarks/versus_config.h"
#include "benchmarks/versus_report.h"
#include "benchmarks/versus_run.h"
#include "firn/device/atomic_file.h"
#include "firn/device/cuda.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/device/usable_device.h"

ABSL_FLAG(std::string, workloads, firn::benchmarks::StandardConfigs(),
          "NAME[/dDEPTH][/bBATCH],...");
ABSL_FLAG(bool, quick, false, "3 short rounds: a smoke test");
ABSL_FLAG(std::string, device, "cpu",
          "cpu, cuda or cuda:N; a build with --config=cuda has the latter");
ABSL_FLAG(std::string, precision, "default",
          "default (f32; TF32 in a CUDA device's convolutions), strict, tf32 or bf16");
ABSL_FLAG(int, threads, 2, "to compute with");
ABSL_FLAG(int, rounds, 0, "a block of steps of each mode in each; 0: 12, quick 3");
ABSL_FLAG(int64_t, steps, 0, "in a block; 0: as many as take the slower mode 1 s, quick 0.1 s");
ABSL_FLAG(std::string, json, "", "file to write rows to, as compare.py does");
ABSL_FLAG(std::string, plot, "", "file to draw to (.svg)");

namespace firn::benchmarks {
namespace {

absl::StatusOr<VersusSettings> SettingsFromFlags() {
  VersusSettings settings;
  if (absl::GetFlag(FLAGS_quick)) {
    settings.rounds = 3;
    settings.block_seconds = 0.1;
    settings.captures = 1;
    settings.loss_steps = 5;
  }
  const int rounds = absl::GetFlag(FLAGS_rounds), threads = absl::GetFlag(FLAGS_threads);
  const int64_t steps = absl::GetFlag(FLAGS_steps);
  FIRN_RETURN_IF(rounds < 0, InvalidArgument("--rounds is ", rounds, " (want >= 0)"));
  FIRN_RETURN_IF(steps < 0, InvalidArgument("--steps is ", steps, " (want >= 0)"));
  FIRN_RETURN_IF(threads < 1, InvalidArgument("--threads is ", threads, " (want >= 1)"));
  if (rounds > 0) settings.rounds = rounds;
  settings.steps = steps;
  FIRN_ASSIGN_OR_RETURN(settings.precision, ParsePrecision(absl::GetFlag(FLAGS_precision)));
  FIRN_ASSIGN_OR_RETURN(settings.device, UsableDevice(absl::GetFlag(FLAGS_device)));
  return settings;
}

// An empty path means that the user does not want the file.
absl::Status WriteFile(const std::string& path, const std::string& text) {
  return path.empty() ? absl::OkStatus() : internal::ReplaceFile(path, text);
}

absl::Status Run(const std::string& command) {
  FIRN_ASSIGN_OR_RETURN(const VersusSettings settings, SettingsFromFlags());
  FIRN_ASSIGN_OR_RETURN(const std::vector<VersusConfig> configs,
                        ParseConfigs(absl::GetFlag(FLAGS_workloads)));
  SetPrecision(settings.precision);
  const VersusContext context{.machine = DescribeMachine(),
                              .command = command,
                              .threads = absl::GetFlag(FLAGS_threads),
                              .device = settings.device.ToString(),
                              .precision = PrecisionName(settings.precision, settings.device),
                              .arithmetic = DescribePrecision(settings.precision, settings.device)};
  SetNumThreads(context.threads);
  SetFlushDenormals(true);
  std::cout << TableTitle(context) << TableHead() << std::flush;
  std::vector<VersusResult> results;
  for (const VersusConfig& config : configs) {
    FIRN_ASSIGN_OR_RETURN(VersusResult result, RunVersus(config, settings));
    std::cout << TableLine(result) << std::flush;
    results.push_back(std::move(result));
    // Results are kept even if a later configuration fails.
    FIRN_RETURN_IF_ERROR(WriteFile(absl::GetFlag(FLAGS_json), VersusJson(results, context)));
    FIRN_RETURN_IF_ERROR(WriteFile(absl::GetFlag(FLAGS_plot), VersusPlot(results, context)));
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  const std::string command = absl::StrJoin(std::vector<std::string>(argv, argv + argc), " ");
  absl::SetProgramUsageMessage("times training step by step against training frozen");
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    std::cerr << "static_vs_dynamic: unexpected argument '" << rest[1] << "' (see --help)\n";
    return 2;
  }
  // `bazel run` starts the program in another folder.
  const char* const folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (folder != nullptr && chdir(folder) != 0) {
    std::cerr << "static_vs_dynamic: cannot go to " << folder << "\n";
    return 1;
  }
  std::string message;
  try {
    const absl::Status status = Run(command);
    if (status.ok()) return 0;
    message = std::string(status.message());
  } catch (const std::exception& e) {
    message = e.what();
  }
  std::cerr << "static_vs_dynamic: " << message << "\n";
  return 1;
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) { return firn::benchmarks::Main(argc, argv); }

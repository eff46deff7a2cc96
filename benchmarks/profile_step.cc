// Where the time of a training step goes, by operation and by module:
//
//   bazel run //benchmarks:profile_step -- --workload=lenet --batch=64
//   bazel run //benchmarks:profile_step -- --workload=deep_cnn --frozen --trace=step.json

#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "autograd/profile.h"
#include "benchmarks/trainer.h"
#include "device/parallel.h"

ABSL_FLAG(std::string, workload, "lenet", "lenet, mlp, resnet or deep_cnn");
ABSL_FLAG(int64_t, depth, 10, "of deep_cnn");
ABSL_FLAG(int64_t, batch, 64, "");
ABSL_FLAG(bool, frozen, false, "the frozen step instead of the dynamic one");
ABSL_FLAG(int, threads, 2, "to compute with");
ABSL_FLAG(int64_t, steps, 20, "after 3 that do not count");
ABSL_FLAG(bool, explain, false, "what is known of the frozen step's graph");
ABSL_FLAG(std::string, trace, "", "file for https://ui.perfetto.dev");
ABSL_FLAG(std::string, csv, "", "file for the rows");

namespace firn::benchmarks {
namespace {

int Run() {
  SetNumThreads(absl::GetFlag(FLAGS_threads));
  SetFlushDenormals(true);
  const absl::StatusOr<std::unique_ptr<Trainer>> trainer =
      Trainer::Make({.workload = absl::GetFlag(FLAGS_workload),
                     .depth = absl::GetFlag(FLAGS_depth),
                     .batch = absl::GetFlag(FLAGS_batch),
                     .frozen = absl::GetFlag(FLAGS_frozen)});
  if (!trainer.ok()) {
    std::cerr << trainer.status() << "\n";
    return 1;
  }
  for (int i = 0; i < 3; ++i) (*trainer)->Step();
  const Profile profile = ProfileStep([&] { (*trainer)->Step(); }, absl::GetFlag(FLAGS_steps));
  std::cout << profile.ByOperation() << "\n" << profile.ByModule();
  if (absl::GetFlag(FLAGS_explain) && (*trainer)->graph() != nullptr) {
    std::cout << "\n" << (*trainer)->graph()->Explain();
  }
  if (!absl::GetFlag(FLAGS_trace).empty()) profile.WriteTrace(absl::GetFlag(FLAGS_trace));
  if (!absl::GetFlag(FLAGS_csv).empty()) profile.WriteCsv(absl::GetFlag(FLAGS_csv));
  return 0;
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Where the time of a training step goes.");
  absl::ParseCommandLine(argc, argv);
  try {
    return firn::benchmarks::Run();
  } catch (const std::exception& e) {  // a file that cannot be written, memory
    std::cerr << "profile_step: " << e.what() << "\n";
    return 1;
  }
}

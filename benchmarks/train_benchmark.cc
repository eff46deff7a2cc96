// Times one training step of each model on synthetic data, for looking at one thing at a time:
//   train_benchmark --benchmark_filter=lenet
// compare.py compares Firn with other frameworks.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmarks/trainer.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/parallel.h"

namespace firn::benchmarks {
namespace {

void TrainStep(benchmark::State& state, const TrainerOptions& options) {
  SetFlushDenormals(true);
  absl::StatusOr<std::unique_ptr<Trainer>> trainer = Trainer::Make(options);
  if (!trainer.ok()) {
    state.SkipWithError(std::string(trainer.status().message()).c_str());
    return;
  }
  (*trainer)->Step();  // fills the allocator's cache
  CpuAllocator().ResetPeak();
  for (auto _ : state) benchmark::DoNotOptimize((*trainer)->Step());
  state.SetItemsProcessed(state.iterations() * options.batch);
  state.counters["peak_MB"] = static_cast<double>(CpuAllocator().stats().peak_bytes) / 1e6;
}

// The sizes of compare.py.
const bool registered = [] {
  for (const TrainerOptions& options : {
           TrainerOptions{.workload = "mlp", .batch = 1},
           TrainerOptions{.workload = "mlp", .batch = 64},
           TrainerOptions{.workload = "lenet", .batch = 64},
           TrainerOptions{.workload = "resnet", .batch = 64},
           TrainerOptions{.workload = "deep_cnn", .depth = 10, .batch = 16},
           TrainerOptions{.workload = "deep_cnn", .depth = 10, .batch = 64},
       }) {
    benchmark::RegisterBenchmark(absl::StrCat(options.workload, "/b", options.batch).c_str(),
                                 TrainStep, options)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  return true;
}();

}  // namespace
}  // namespace firn::benchmarks

// Compares a training step of several ranks with the same step of as many ranks that do not
// communicate, in turns, and with the reduction of its gradients alone:
//
//   bazel build //benchmarks:data_parallel
//   mpirun --oversubscribe -n 2 bazel-bin/benchmarks/data_parallel --workload=deep_cnn --batch=64
//
// "Hidden" is the share of the reduction's time that does not make the step longer. Processes that
// share a machine compute with one thread each unless --threads says otherwise.

#include "firn/nn/parallel/data_parallel.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "benchmarks/trainer.h"
#include "firn/device/parallel.h"
#include "firn/tensor/error.h"

ABSL_FLAG(std::string, workload, "deep_cnn", "what is trained (benchmarks/workload.h)");
ABSL_FLAG(int, batch, 64, "samples of each rank");
ABSL_FLAG(int, depth, 10, "of deep_cnn");
ABSL_FLAG(int, rounds, 11, "steps of each kind");
ABSL_FLAG(int, threads, 1, "of each rank");
ABSL_FLAG(int, bucket_mib, 25, "most of a bucket");
ABSL_FLAG(bool, frozen, false, "steps are captured");
ABSL_FLAG(bool, json, false, "print a JSON line with all times, for ranks_compare.py");

namespace firn::benchmarks {
namespace {

std::unique_ptr<Trainer> MakeTrainer() {
  auto made = Trainer::Make({.workload = absl::GetFlag(FLAGS_workload),
                             .depth = absl::GetFlag(FLAGS_depth),
                             .batch = absl::GetFlag(FLAGS_batch),
                             .frozen = absl::GetFlag(FLAGS_frozen)});
  RaiseIfError(made.status(), "data_parallel");
  return *std::move(made);
}

// The same bytes in pieces as large as buckets are.
void ReduceAlone(comm::Communicator& comm, std::vector<float>& elements) {
  const size_t piece = static_cast<size_t>(absl::GetFlag(FLAGS_bucket_mib)) << 18;
  for (size_t begin = 0; begin < elements.size(); begin += piece) {
    const size_t count = std::min(piece, elements.size() - begin);
    RaiseIfError(comm.AllReduce(elements.data() + begin, static_cast<int64_t>(count),
                                comm::Element::kF32, comm::Reduction::kMean),
                 "data_parallel");
  }
}

double Median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

// Times in ms: of steps alone, steps together, and the reduction alone.
using Times = std::vector<double>[3];

void PrintJson(const Times& times) {
  const auto list = [](const std::vector<double>& ms) { return absl::StrJoin(ms, ", "); };
  std::printf("{\"alone_ms\": [%s], \"together_ms\": [%s], \"reduction_ms\": [%s]}\n",
              list(times[0]).c_str(), list(times[1]).c_str(), list(times[2]).c_str());
}

void PrintText(const comm::Communicator& world, size_t elements, const Times& times,
               const Times& processor) {
  const double step = Median(times[0]), with = Median(times[1]), reduction = Median(times[2]);
  std::printf(
      "%d ranks, %.1f MB of gradients: step %.2f ms alone, %.2f ms together (%.3f of the "
      "steps a second), reduction alone %.2f ms, hidden %.2f\n",
      world.size(), static_cast<double>(elements) * 4e-6, step, with, step / with, reduction,
      world.size() == 1 ? 1.0 : 1 - (with - step) / reduction);
  std::printf("processor time of rank 0: %.2f, %.2f and %.2f ms\n", Median(processor[0]),
              Median(processor[1]), Median(processor[2]));
}

void Run(int argc, char** argv) {
  if (absl::GetFlag(FLAGS_rounds) < 1) {
    RaiseStatus(absl::InvalidArgumentError("--rounds must be 1 or more"), "data_parallel");
  }
  const auto world = Init(argc, argv);
  SetNumThreads(absl::GetFlag(FLAGS_threads));
  const std::unique_ptr<Trainer> alone = MakeTrainer(), together = MakeTrainer();
  alone->Step().Item();
  if (!absl::GetFlag(FLAGS_frozen)) together->Step().Item();  // no parameter waits for its size
  nn::parallel::DataParallel parallel(
      together->net(), world, {.bucket_bytes = int64_t{absl::GetFlag(FLAGS_bucket_mib)} << 20});
  std::vector<float> elements(static_cast<size_t>(together->net().num_parameters()));
  const std::function<void()> kinds[] = {[&] { alone->Step().Item(); },
                                         [&] { together->Step().Item(); },
                                         [&] { ReduceAlone(*world, elements); }};
  Times times, processor;
  for (int round = -2; round < absl::GetFlag(FLAGS_rounds); ++round) {
    for (size_t kind = 0; kind < 3; ++kind) {
      RaiseIfError(world->Barrier(), "data_parallel");
      const auto begin = std::chrono::steady_clock::now();
      const std::clock_t used = std::clock();
      kinds[kind]();
      const double own = 1e3 * static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
      // Returns when the slowest rank is done.
      RaiseIfError(world->Barrier(), "data_parallel");
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - begin;
      if (round < 0) continue;
      times[kind].push_back(took.count());
      processor[kind].push_back(own);
    }
  }
  if (world->rank() != 0) return;
  if (absl::GetFlag(FLAGS_json)) return PrintJson(times);
  PrintText(*world, elements.size(), times, processor);
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  try {
    firn::benchmarks::Run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}

// Measures how long all-reduces of several sizes take among the ranks of a launcher, and prints a
// JSON line for each:
//
//   bazel build //benchmarks:collectives
//   mpirun --oversubscribe -n 2 bazel-bin/benchmarks/collectives --bytes=1024,1048576
//
// For collectives_compare.py, which runs plain MPI beside it (peers/mpi_allreduce.c).

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "firn/nn/parallel/world.h"
#include "firn/tensor/error.h"

ABSL_FLAG(std::vector<std::string>, bytes, std::vector<std::string>({"1024"}),
          "sizes of f32 buffers");
ABSL_FLAG(double, seconds, 0.3, "about how long each size is repeated");

namespace firn::benchmarks {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds that a call takes: measured on `count` calls one after the other between two barriers.
double Time(comm::Communicator& world, std::vector<float>& data, int64_t count) {
  RaiseIfError(world.Barrier(), "collectives");
  const double begin = Now();
  for (int64_t i = 0; i < count; ++i) {
    RaiseIfError(world.AllReduce(data.data(), static_cast<int64_t>(data.size()),
                                 comm::Element::kF32, comm::Reduction::kSum),
                 "collectives");
  }
  RaiseIfError(world.Barrier(), "collectives");
  return (Now() - begin) / static_cast<double>(count);
}

void Run(int argc, char** argv) {
  const auto world = Init(argc, argv);
  for (const std::string& text : absl::GetFlag(FLAGS_bytes)) {
    std::vector<float> data(std::max<size_t>(1, std::stoull(text) / sizeof(float)));
    Time(*world, data, 3);
    // All ranks repeat as often as the first one thinks right.
    double count = std::max(1.0, absl::GetFlag(FLAGS_seconds) / Time(*world, data, 3));
    RaiseIfError(world->Broadcast(&count, 1, comm::Element::kF64, 0), "collectives");
    const double seconds = Time(*world, data, static_cast<int64_t>(count));
    if (world->rank() == 0) {
      std::printf("{\"bytes\": %zu, \"us\": %.3f}\n", data.size() * sizeof(float), seconds * 1e6);
    }
  }
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

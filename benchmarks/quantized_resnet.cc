// Times inference of ResNet-18 on images of 224x224 in f32 and in bytes, frozen, batch norms
// folded, in turns:
//
//   bazel run //benchmarks:quantized_resnet -- --batch=8 --threads=1
//   ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI bazel run //benchmarks:quantized_resnet    # without AMX
//
// With one thread, times are processor time; with several, times by the clock. --profile tells
// where the time goes, by operation.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "benchmarks/call_times.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/evaluation.h"
#include "firn/autograd/graph/quantize.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/profile.h"
#include "firn/device/parallel.h"
#include "firn/firn.h"
#include "firn/nn/zoo/resnet.h"

ABSL_FLAG(int, batch, 1, "images of a run");
ABSL_FLAG(int, rounds, 15, "runs of each");
ABSL_FLAG(int, threads, 1, "to compute with");
ABSL_FLAG(bool, profile, false, "prints a line for each operation, too");

namespace firn::benchmarks {
namespace {

double Milliseconds() {
  if (NumThreads() == 1) return ProcessorSeconds() * 1e3;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

void Run() {
  SetNumThreads(absl::GetFlag(FLAGS_threads));
  ManualSeed(1);
  zoo::Resnet net(zoo::ResnetOf("resnet18"));
  const Tensor x = Randn({absl::GetFlag(FLAGS_batch), 3, 224, 224});
  const NoGradScope no_grad;
  net(x);  // moves the running statistics
  net.Eval();
  const auto forward = [&](absl::Span<const Tensor> in) { return TensorList{net(in[0])}; };
  const Graph captured = Capture(forward, {&x, 1}).graph;
  StaticGraph graphs[] = {
      StaticGraph::Compile(ToEvaluation(captured).value(),
                           {.arithmetic = Arithmetic::kReordered, .constant_states = true})
          .value(),
      StaticGraph::Compile(Quantize(captured, {{x}}).value()).value()};
  std::vector<double> times[2];
  for (int round = -1; round < absl::GetFlag(FLAGS_rounds); ++round) {
    for (int i = 0; i < 2; ++i) {
      const double before = Milliseconds();
      graphs[i](x);
      if (round >= 0) times[i].push_back(Milliseconds() - before);
    }
  }
  for (std::vector<double>& t : times) std::sort(t.begin(), t.end());
  const auto middle = [](const std::vector<double>& t) { return t[t.size() / 2]; };
  std::printf("f32 %.2f ms (least %.2f), i8 %.2f ms (least %.2f): %.3f (least %.3f)\n",
              middle(times[0]), times[0][0], middle(times[1]), times[1][0],
              middle(times[1]) / middle(times[0]), times[1][0] / times[0][0]);
  if (!absl::GetFlag(FLAGS_profile)) return;
  for (StaticGraph& graph : graphs) std::cout << ProfileGraph(graph, {&x, 1}).ByOperation() << "\n";
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  if (absl::GetFlag(FLAGS_batch) < 1 || absl::GetFlag(FLAGS_rounds) < 1 ||
      absl::GetFlag(FLAGS_threads) < 1) {
    std::fprintf(stderr, "--batch, --rounds and --threads must be above 0\n");
    return 2;
  }
  try {
    firn::benchmarks::Run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

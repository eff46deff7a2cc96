// Compares inference of one frozen network by several threads, each with a replica, with inference
// by one thread, in turns: the runs per second of all threads together, and their ratio.
//
//   bazel run //benchmarks:serve_benchmark -- --networks=lenet,resnet18 --clients=2 --batch=1
//
// Every client computes on one thread of its own, so that with as many cores as clients the goal is
// their number. Runs with a separate network for each client, which share nothing but the process,
// show how much of it shared caches and memory take. The sum of the rates by the threads' own time
// shows how much other programs on the machine take.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "examples/models.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/parallel.h"
#include "firn/nn/layer.h"
#include "firn/nn/zoo/resnet.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"

ABSL_FLAG(std::string, networks, "lenet,resnet18", "lenet (28x28), resnet18 (32x32)");
ABSL_FLAG(int, clients, 2, "threads that run at once");
ABSL_FLAG(int, batch, 1, "images of a run");
ABSL_FLAG(int, rounds, 15, "of each, in turns");
ABSL_FLAG(double, seconds, 0.3, "of a round");

namespace firn::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

// A network in evaluation mode, its weights laid out once.
struct Served {
  std::unique_ptr<nn::Layer> net;
  Tensor x;
  StaticGraph graph;
};

StaticGraph Frozen(nn::Layer& net, const Tensor& x) {
  const NoGradScope no_grad;
  net(x);
  net.Eval();
  return Freeze(
      {.constant_states = true}, [&](const Tensor& in) { return net(in); }, x);
}

Served Make(const std::string& name) {
  ManualSeed(1);
  const int64_t batch = absl::GetFlag(FLAGS_batch);
  std::unique_ptr<nn::Layer> net;
  Tensor x = Randn({batch, 3, 32, 32});
  if (name == "resnet18") {
    net = std::make_unique<zoo::Resnet>(
        zoo::ResnetOf("resnet18", {.classes = 10, .small_images = true}));
  } else {
    absl::StatusOr<std::unique_ptr<nn::Layer>> made = examples::MakeModel(name, 0);
    if (!made.ok()) throw std::runtime_error(made.status().ToString());
    net = *std::move(made);
    x = Randn({batch, 1, 28, 28});
  }
  StaticGraph graph = Frozen(*net, x);
  return {std::move(net), x, std::move(graph)};
}

// Runs per second: of all threads together by the clock, and the sum of each thread's rate by its
// own time.
struct Rate {
  double by_clock = 0, by_cpu = 0;
};

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The rate of one thread for each of the first `clients` graphs, all at once.
Rate RunsASecond(std::vector<StaticGraph>& graphs, size_t clients, const Tensor& x) {
  std::atomic<size_t> ready{0};
  std::atomic<bool> go{false}, done{false};
  std::vector<int64_t> runs(clients);
  std::vector<double> cpu(clients);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      const Tensor mine = x.Clone();
      graphs[i](mine);
      ++ready;
      while (!go) std::this_thread::yield();
      const double before = ThreadSeconds();
      int64_t count = 0;
      for (; !done; ++count) graphs[i](mine);
      cpu[i] = ThreadSeconds() - before;
      runs[i] = count;
    });
  }
  while (ready != clients) std::this_thread::yield();
  const auto begin = Clock::now();
  go = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(absl::GetFlag(FLAGS_seconds)));
  done = true;
  for (std::thread& t : threads) t.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  Rate rate;
  for (size_t i = 0; i < clients; ++i) {
    rate.by_clock += static_cast<double>(runs[i]) / seconds;
    rate.by_cpu += static_cast<double>(runs[i]) / cpu[i];
  }
  return rate;
}

double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void Run(const std::string& name) {
  const auto clients = static_cast<size_t>(absl::GetFlag(FLAGS_clients));
  Served served = Make(name);
  std::vector<StaticGraph> replicas, apart;
  std::vector<Served> others;
  for (size_t i = 0; i < clients; ++i) {
    replicas.push_back(served.graph.Replica());
    others.push_back(Make(name));
    apart.push_back(std::move(others.back().graph));
  }
  std::vector<double> one, several, by_clock, by_cpu, apart_by_clock, apart_by_cpu;
  for (int round = -1; round < absl::GetFlag(FLAGS_rounds); ++round) {
    const Rate a = RunsASecond(replicas, 1, served.x);
    const Rate b = RunsASecond(replicas, clients, served.x);
    const Rate c = RunsASecond(apart, clients, served.x);
    if (round < 0) continue;
    one.push_back(a.by_clock);
    several.push_back(b.by_clock);
    by_clock.push_back(b.by_clock / a.by_clock);
    by_cpu.push_back(b.by_cpu / a.by_cpu);
    apart_by_clock.push_back(c.by_clock / a.by_clock);
    apart_by_cpu.push_back(c.by_cpu / a.by_cpu);
  }
  std::printf(
      "%s, batch %d: 1 client %.0f runs/s, %zu clients %.0f: %.2f times by the clock, %.2f by the "
      "threads' time; with networks of their own %.2f and %.2f\n",
      name.c_str(), absl::GetFlag(FLAGS_batch), Median(one), clients, Median(several),
      Median(by_clock), Median(by_cpu), Median(apart_by_clock), Median(apart_by_cpu));
  std::fflush(stdout);
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  if (absl::GetFlag(FLAGS_clients) < 1 || absl::GetFlag(FLAGS_batch) < 1 ||
      absl::GetFlag(FLAGS_rounds) < 1 || !(absl::GetFlag(FLAGS_seconds) > 0)) {
    std::fprintf(stderr, "--clients, --batch, --rounds and --seconds must be above 0\n");
    return 2;
  }
  try {
    firn::SetNumThreads(1);
    for (const auto& name : absl::StrSplit(absl::GetFlag(FLAGS_networks), ',')) {
      firn::benchmarks::Run(std::string(name));
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

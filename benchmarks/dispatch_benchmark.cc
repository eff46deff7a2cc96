// Measures what one operation on one element costs beyond its arithmetic.
//
// `--count=N` runs N recorded additions (`--count_unrecorded=N`: unrecorded) and nothing else, for
// counting instructions:
//   valgrind --tool=callgrind --toggle-collect='*CountedAdds*' dispatch_benchmark --count=10000
// or, where there is AVX-512, count_instructions.cc.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string_view>

#include "absl/status/status.h"
#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"

namespace firn {

__attribute__((noinline)) void CountedAdds(const Tensor& x, const Tensor& y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) benchmark::DoNotOptimize(Add(x, y));
}

namespace {

void AddUnrecorded(benchmark::State& state) {
  const Tensor x = FromValues({1.f}), y = FromValues({2.f});
  for (auto _ : state) benchmark::DoNotOptimize(Add(x, y));
}
BENCHMARK(AddUnrecorded);

void AddRecorded(benchmark::State& state) {
  Tensor x = FromValues({1.f}), y = FromValues({2.f});
  x.SetRequiresGrad();
  for (auto _ : state) benchmark::DoNotOptimize(Add(x, y));
}
BENCHMARK(AddRecorded);

Tensor Chain(const Tensor& x, const Tensor& y) {
  Tensor z = x;
  for (int i = 0; i < 1000; ++i) z = Add(z, y);
  return z;
}

void AddRecordedChain(benchmark::State& state) {
  Tensor x = FromValues({1.f}), y = FromValues({2.f});
  x.SetRequiresGrad();
  for (auto _ : state) benchmark::DoNotOptimize(Chain(x, y));
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(AddRecordedChain);

void AddRecordedChainAndBackward(benchmark::State& state) {
  Tensor x = FromValues({1.f}), y = FromValues({2.f});
  x.SetRequiresGrad();
  for (auto _ : state) Chain(x, y).Backward();
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(AddRecordedChainAndBackward);

// Runs the chain as a frozen graph: the time of a node, its addition included.
void AddFrozenChain(benchmark::State& state) {
  const Tensor in[] = {FromValues({1.f}), FromValues({2.f})};
  StaticGraph graph = Freeze(Chain, in[0], in[1]);
  Tensor out = graph(in[0], in[1]);
  for (auto _ : state) {
    if (!graph.Run(in, {&out, 1}).ok()) state.SkipWithError("the graph does not run");
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(AddFrozenChain);

void AddNumber(benchmark::State& state) {
  const Tensor x = FromValues({1.f});
  for (auto _ : state) benchmark::DoNotOptimize(Add(x, 1.0));
}
BENCHMARK(AddNumber);

// Runs `flag`N additions; false when the flag is not there.
bool Count(std::string_view arg, std::string_view flag, bool recorded) {
  if (!arg.starts_with(flag)) return false;
  Tensor x = FromValues({1.f}), y = FromValues({2.f});
  x.SetRequiresGrad(recorded);
  CountedAdds(x, y, std::atoll(arg.data() + flag.size()));
  return true;
}

}  // namespace
}  // namespace firn

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (firn::Count(argv[i], "--count=", true)) return 0;
    if (firn::Count(argv[i], "--count_unrecorded=", false)) return 0;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

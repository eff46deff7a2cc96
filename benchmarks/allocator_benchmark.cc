// The CPU allocator beside malloc: a pair of allocate and free, a working set as a training step
// has it, and random blocks. Another malloc is compared by LD_PRELOAD:
//
//   LD_PRELOAD=libmimalloc.so.2 bazel-bin/benchmarks/allocator_benchmark --benchmark_filter=Replace

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "firn/device/cpu_allocator.h"

namespace firn {
namespace {

void* Get(size_t bytes, Block* block) {
  *block = *CpuAllocator().Allocate(bytes, AllocTag::kActivation);
  return block->data;
}

char* DataOf(const Block& block) { return static_cast<char*>(block.data); }
char* DataOf(void* data) { return static_cast<char*>(data); }

void AllocateAndFree(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    Block block;
    benchmark::DoNotOptimize(Get(bytes, &block));
    CpuAllocator().Free(block);
  }
}
BENCHMARK(AllocateAndFree)->RangeMultiplier(16)->Range(64, 64 << 20);

void MallocAndFree(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* data = std::malloc(bytes);
    benchmark::DoNotOptimize(data);
    std::free(data);
  }
}
BENCHMARK(MallocAndFree)->RangeMultiplier(16)->Range(64, 64 << 20);

// A pass forward takes blocks of a step's sizes, a pass backward gives them back in reverse order.
void StepOfBlocks(benchmark::State& state) {
  constexpr size_t kSizes[] = {64, 4096, 400, 2 << 20, 512 << 10, 64, 8 << 20, 128 << 10};
  std::vector<Block> blocks(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    for (size_t i = 0; i < blocks.size(); ++i) Get(kSizes[i % std::size(kSizes)], &blocks[i]);
    for (size_t i = blocks.size(); i-- > 0;) CpuAllocator().Free(blocks[i]);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(StepOfBlocks)->Arg(16)->Arg(128);

// Replaces a random one of 48 live blocks and touches each page of the new one. Sizes are drawn
// evenly on a logarithmic scale, up to 64 times the least.
template <class Allocate, class Free>
void Replace(benchmark::State& state, Allocate allocate, Free free) {
  struct Turn {
    size_t block, bytes;
  };
  std::mt19937 bits(1);
  std::vector<Turn> turns(4096);
  std::uniform_real_distribution<double> octave(0, 6);
  for (Turn& turn : turns) {
    turn.block = bits() % 48;
    turn.bytes = static_cast<size_t>(static_cast<double>(state.range(0)) * std::exp2(octave(bits)));
  }
  std::vector<decltype(allocate(size_t{1}))> live(48);
  for (auto& block : live) block = allocate(64);
  size_t at = 0;
  for (auto _ : state) {
    const Turn& turn = turns[at++ % turns.size()];
    auto& block = live[turn.block];
    free(block);
    block = allocate(turn.bytes);
    char* const data = DataOf(block);
    for (size_t i = 0; i < turn.bytes; i += 4096) data[i] = 1;
  }
  for (auto& block : live) free(block);
}
void ReplaceBlocks(benchmark::State& state) {
  const auto allocate = [](size_t bytes) {
    Block block;
    Get(bytes, &block);
    return block;
  };
  Replace(state, allocate, [](const Block& block) { CpuAllocator().Free(block); });
}
BENCHMARK(ReplaceBlocks)->Arg(64)->Arg(4096)->Arg(64 << 10)->Arg(1 << 20);
// Aligned as Firn's blocks are.
void ReplaceMallocs(benchmark::State& state) {
  const auto allocate = [](size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); };
  Replace(state, allocate, [](void* data) { std::free(data); });
}
BENCHMARK(ReplaceMallocs)->Arg(64)->Arg(4096)->Arg(64 << 10)->Arg(1 << 20);

// Each thread has its own blocks; what is measured is what they do to each other.
void AllocateOnThreads(benchmark::State& state) {
  for (auto _ : state) {
    Block block;
    benchmark::DoNotOptimize(Get(256, &block));
    CpuAllocator().Free(block);
  }
}
BENCHMARK(AllocateOnThreads)->ThreadRange(1, 4)->UseRealTime();

}  // namespace
}  // namespace firn

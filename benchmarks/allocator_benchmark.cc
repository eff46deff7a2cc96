// The CPU allocator beside malloc: a pair of allocate and free, and a working set as a training
// step has it.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "firn/device/cpu_allocator.h"

namespace firn {
namespace {

void* Get(size_t bytes, Block* block) {
  *block = *CpuAllocator().Allocate(bytes, AllocTag::kActivation);
  return block->data;
}

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

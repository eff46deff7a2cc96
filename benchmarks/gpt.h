#ifndef FIRN_BENCHMARKS_GPT_H_
#define FIRN_BENCHMARKS_GPT_H_

#include <cstdint>
#include <memory>

#include "benchmarks/workload.h"

namespace firn::benchmarks {

// A GPT of 4 layers, width 256, 8 heads and 256 tokens learns sequences of 128 tokens.
std::unique_ptr<Workload> MakeGpt();
// The same network generates 256 tokens, each the likeliest after those before it, with an
// nn::KvCache for each layer, in `batch` sequences side by side.
std::unique_ptr<Workload> MakeDecode(int64_t batch);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_GPT_H_

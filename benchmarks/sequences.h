#ifndef FIRN_BENCHMARKS_SEQUENCES_H_
#define FIRN_BENCHMARKS_SEQUENCES_H_

#include <cstdint>
#include <memory>

#include "benchmarks/workload.h"

namespace firn::benchmarks {

// An LSTM of 128 inputs and 256 units over 64 steps; the loss is the mean square of its outputs.
std::unique_ptr<Workload> MakeLstm();
// The same network, written by hand as a loop of operations.
std::unique_ptr<Workload> MakeLstmLoop();
// Attention of 8 heads, 2048 queries and as many keys of width 64, all of which get gradients; the
// loss is the mean square of the result. Nothing is updated.
std::unique_ptr<Workload> MakeAttention(int64_t batch);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_SEQUENCES_H_

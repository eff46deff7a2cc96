#ifndef FIRN_AUTOGRAD_GRAPH_PLAN_H_
#define FIRN_AUTOGRAD_GRAPH_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace firn::inner {

// A piece of memory that is needed from step `first` to step `last`, both included.
struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
};

// Where each piece lies in one arena. Pieces that are needed at the same step do not overlap.
struct MemoryPlan {
  std::vector<int64_t> offsets;  // multiples of kArenaAlignment
  int64_t arena_bytes = 0;
  // The most that is needed at one step: no plan can do with less.
  int64_t lower_bound_bytes = 0;
  int64_t peak_step = 0;  // that step
};

inline constexpr int64_t kArenaAlignment = 64;

// Greedy: in some order, each piece at the lowest place where it fits (Pisarchyk and Lee,
// "Efficient Memory Management for Deep Neural Net Inference", 2020). The orders are by size, by
// time of life, and with the pieces that live at the peak first; the plan with the smallest arena
// is taken. From 1000 pieces on the order of time is tried first, and alone where it reaches the
// bound; for more than 10 000 it is the only order.
MemoryPlan PlanMemory(absl::Span<const Lifetime> pieces);

}  // namespace firn::inner

#endif  // FIRN_AUTOGRAD_GRAPH_PLAN_H_

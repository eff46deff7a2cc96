// Offsets in an arena from lifetimes.

#include "autograd/graph/plan.h"

#include <algorithm>
#include <numeric>

namespace firn {
namespace {

int64_t RoundUp(int64_t bytes) {
  return (std::max<int64_t>(bytes, 1) + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

void FindPeak(absl::Span<const Lifetime> pieces, MemoryPlan* plan) {
  int64_t steps = 0;
  for (const Lifetime& p : pieces) steps = std::max(steps, p.last + 1);
  std::vector<int64_t> change(static_cast<size_t>(steps) + 1, 0);
  for (const Lifetime& p : pieces) {
    change[static_cast<size_t>(p.first)] += RoundUp(p.bytes);
    change[static_cast<size_t>(p.last) + 1] -= RoundUp(p.bytes);
  }
  int64_t live = 0;
  for (size_t step = 0; step < change.size(); ++step) {
    live += change[step];
    if (live <= plan->lower_bound_bytes) continue;
    plan->lower_bound_bytes = live;
    plan->peak_step = static_cast<int64_t>(step);
  }
}

}  // namespace

MemoryPlan PlanMemory(absl::Span<const Lifetime> pieces) {
  MemoryPlan plan;
  plan.offsets.resize(pieces.size());
  FindPeak(pieces, &plan);
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return pieces[a].bytes > pieces[b].bytes; });
  std::vector<size_t> placed;  // by offset
  for (const size_t at : order) {
    const Lifetime& piece = pieces[at];
    const int64_t bytes = RoundUp(piece.bytes);
    int64_t offset = 0;
    for (const size_t other : placed) {
      const Lifetime& o = pieces[other];
      if (o.last < piece.first || piece.last < o.first) continue;
      if (plan.offsets[other] >= offset + bytes) break;  // fits into the gap before
      offset = std::max(offset, plan.offsets[other] + RoundUp(o.bytes));
    }
    plan.offsets[at] = offset;
    plan.arena_bytes = std::max(plan.arena_bytes, offset + bytes);
    const auto where = std::upper_bound(placed.begin(), placed.end(), offset,
                                        [&](int64_t o, size_t i) { return o < plan.offsets[i]; });
    placed.insert(where, at);
  }
  return plan;
}

}  // namespace firn

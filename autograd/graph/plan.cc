// Offsets in an arena from lifetimes: placement in several orders, of which the best counts.

#include "firn/autograd/graph/plan.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "firn/device/inner.h"

namespace firn {
namespace {

// For more pieces than this only the order of time is tried.
constexpr size_t kManyPieces = 10'000;

// Each piece is compared with all that live at the same time, which takes a time that grows with
// the square of their number: a second for five orders of kManyPieces. So an order that makes more
// than this many comparisons for each piece is given up once some plan is within a kNear-th of the
// bound, since little is left to gain.
constexpr size_t kLooksPerPiece = 1000;
constexpr int64_t kNear = 50;

// From so many pieces on it pays to list the neighbours of each, the pieces that live at the same
// time, if they are few.
constexpr size_t kPiecesToList = 1000, kFewNeighbours = 64;

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

bool LiveTogether(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

using Neighbours = std::vector<std::vector<uint32_t>>;

// For each piece the ones that live at the same time; empty where the lists do not pay.
Neighbours ListNeighbours(absl::Span<const Lifetime> pieces) {
  if (pieces.size() < kPiecesToList || pieces.size() > kManyPieces) return {};
  std::vector<uint32_t> order(pieces.size()), live;
  std::iota(order.begin(), order.end(), uint32_t{0});
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return pieces[a].first < pieces[b].first; });
  Neighbours all(pieces.size());
  size_t pairs = 0;
  for (const uint32_t at : order) {
    std::erase_if(live, [&](uint32_t other) { return pieces[other].last < pieces[at].first; });
    pairs += live.size();
    if (pairs > kFewNeighbours * pieces.size()) return {};
    for (const uint32_t other : live) {
      all[at].push_back(other);
      all[other].push_back(at);
    }
    live.push_back(at);
  }
  return all;
}

// Each piece at the lowest place where it overlaps nothing that was placed before it. Returns the
// bytes of the arena, or stops at `enough` of them; nothing when it takes more than `looks_left`.
std::optional<int64_t> Place(absl::Span<const Lifetime> pieces, absl::Span<const size_t> order,
                             const Neighbours& neighbours, int64_t enough, size_t looks_left,
                             std::vector<int64_t>& offsets) {
  int64_t arena = 0;
  std::vector<size_t> placed;  // by offset
  std::vector<bool> is_placed(pieces.size(), false);
  const auto by_offset = [&](size_t a, size_t b) { return offsets[a] < offsets[b]; };
  for (const size_t at : order) {
    const Lifetime& piece = pieces[at];
    const int64_t bytes = RoundUp(piece.bytes);
    if (!neighbours.empty()) {
      placed.clear();
      std::copy_if(neighbours[at].begin(), neighbours[at].end(), std::back_inserter(placed),
                   [&](uint32_t other) { return is_placed[other]; });
      std::sort(placed.begin(), placed.end(), by_offset);
      is_placed[at] = true;
    }
    int64_t offset = 0;
    for (const size_t other : placed) {
      if (looks_left-- == 0) return std::nullopt;
      const Lifetime& o = pieces[other];
      if (!LiveTogether(o, piece)) continue;
      if (offsets[other] >= offset + bytes) break;  // fits into the gap before
      offset = std::max(offset, offsets[other] + RoundUp(o.bytes));
    }
    offsets[at] = offset;
    arena = std::max(arena, offset + bytes);
    if (arena >= enough) return enough;
    if (!neighbours.empty()) continue;
    const auto where = std::upper_bound(placed.begin(), placed.end(), offset,
                                        [&](int64_t o, size_t i) { return offsets[i] > o; });
    placed.insert(where, at);
  }
  return arena;
}

// Places in use and free ones, as time goes on.
class Places {
 public:
  // The smallest free place that is large enough, else at the end.
  int64_t Take(int64_t bytes) {
    const auto best = by_size_.lower_bound({bytes, 0});
    if (best == by_size_.end()) return Grow(bytes);
    const auto [size, offset] = *best;
    Remove(offset);
    if (size > bytes) Add(offset + bytes, size - bytes);
    return offset;
  }
  void Give(int64_t offset, int64_t bytes) {
    const auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && after->first == offset + bytes) {
      bytes += after->second;
      Remove(after->first);
    }
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto [before, size] = *std::prev(next);
      if (before + size == offset) {
        Remove(before);
        offset = before;
        bytes += size;
      }
    }
    Add(offset, bytes);
  }
  int64_t end() const { return end_; }

 private:
  // A free place at the end becomes part of it.
  int64_t Grow(int64_t bytes) {
    int64_t offset = end_;
    if (!by_offset_.empty()) {
      const auto [last, size] = *by_offset_.rbegin();
      if (last + size == end_) {
        Remove(last);
        offset = last;
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  void Add(int64_t offset, int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void Remove(int64_t offset) {
    const auto it = by_offset_.find(offset);
    by_size_.erase({it->second, offset});
    by_offset_.erase(it);
  }

  std::map<int64_t, int64_t> by_offset_;           // free places: offset, bytes
  std::set<std::pair<int64_t, int64_t>> by_size_;  // bytes, offset
  int64_t end_ = 0;
};

// Places pieces in the order of time, in n log n steps. Where equal sizes or nested lives leave no
// gaps, as mostly in training steps, the result reaches the bound.
int64_t PlaceInOrderOfTime(absl::Span<const Lifetime> pieces, std::vector<int64_t>& offsets) {
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return pieces[a].first < pieces[b].first; });
  Places places;
  std::set<std::pair<int64_t, size_t>> live;  // last step, piece
  for (const size_t at : order) {
    while (!live.empty() && live.begin()->first < pieces[at].first) {
      const size_t over = live.begin()->second;
      places.Give(offsets[over], RoundUp(pieces[over].bytes));
      live.erase(live.begin());
    }
    offsets[at] = places.Take(RoundUp(pieces[at].bytes));
    live.emplace(pieces[at].last, at);
  }
  return places.end();
}

// The sort key of an order: pieces with large values come first.
using Rank = std::pair<int64_t, int64_t> (*)(const Lifetime& piece, const MemoryPlan& plan);

constexpr Rank kRanks[] = {
    [](const Lifetime& p, const MemoryPlan&) { return std::pair(p.bytes, int64_t{0}); },
    [](const Lifetime& p, const MemoryPlan&) { return std::pair(p.bytes, p.last - p.first); },
    [](const Lifetime& p, const MemoryPlan&) { return std::pair(p.last - p.first, p.bytes); },
    [](const Lifetime& p, const MemoryPlan& plan) {
      const bool at_peak = p.first <= plan.peak_step && plan.peak_step <= p.last;
      return std::pair(int64_t{at_peak}, p.bytes);
    },
    [](const Lifetime& p, const MemoryPlan& plan) {
      const bool at_peak = p.first <= plan.peak_step && plan.peak_step <= p.last;
      return std::pair(int64_t{at_peak}, p.last - p.first);
    },
};

}  // namespace

MemoryPlan inner::PlanMemory(absl::Span<const Lifetime> pieces) {
  MemoryPlan plan;
  FindPeak(pieces, &plan);
  plan.arena_bytes = INT64_MAX;
  std::vector<int64_t> offsets(pieces.size());
  if (pieces.size() >= kPiecesToList) {
    plan.arena_bytes = PlaceInOrderOfTime(pieces, offsets);
    plan.offsets = offsets;
    const bool best = plan.arena_bytes == plan.lower_bound_bytes;
    if (best || pieces.size() > kManyPieces) return plan;
  }
  const Neighbours neighbours = ListNeighbours(pieces);
  for (const Rank rank : kRanks) {
    std::vector<size_t> order(pieces.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return rank(pieces[a], plan) > rank(pieces[b], plan);
    });
    const bool near = plan.arena_bytes - plan.lower_bound_bytes < plan.lower_bound_bytes / kNear;
    const size_t looks = near ? kLooksPerPiece * pieces.size() : SIZE_MAX;
    const std::optional<int64_t> bytes =
        Place(pieces, order, neighbours, plan.arena_bytes, looks, offsets);
    if (!bytes) break;  // and so would the next orders
    if (*bytes < plan.arena_bytes) {
      plan.arena_bytes = *bytes;
      plan.offsets = offsets;
    }
    if (*bytes == plan.lower_bound_bytes) break;
  }
  return plan;
}

}  // namespace firn

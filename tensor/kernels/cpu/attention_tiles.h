#ifndef FIRN_TENSOR_KERNELS_CPU_ATTENTION_TILES_H_
#define FIRN_TENSOR_KERNELS_CPU_ATTENTION_TILES_H_

// Parts of both directions of attention that work on a tile of scores: some queries by some keys,
// in panels (panels.h).

#include <algorithm>
#include <cstdint>
#include <limits>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/attention.h"
#include "firn/tensor/kernels/cpu/panels.h"
#include "firn/tensor/kernels/cpu/random.h"

namespace firn::cpu {

// A tile of scores takes 64 KB, and a panel of the matrix that it is multiplied by stays in the
// first-level cache. With fewer keys sums are read and written more often: 1.05 of the time with
// half of them.
inline constexpr int64_t kTileQueries = 64, kTileKeys = 256;

template <class Acc>
inline constexpr Acc kNoScore = -std::numeric_limits<Acc>::infinity();

// Hands out pieces of scratch memory, aligned to 64 bytes; with a null base it only counts bytes.
class AttentionScratch {
 public:
  explicit AttentionScratch(void* base) : base_(static_cast<char*>(base)) {}
  template <class Acc>
  Acc* Take(int64_t n) {
    char* const p = base_ == nullptr ? nullptr : base_ + bytes_;
    bytes_ += RoundUp(n * static_cast<int64_t>(sizeof(Acc)), 64);
    return reinterpret_cast<Acc*>(p);
  }
  template <class Acc>
  Panels<Acc> TakePanels(int64_t rows, int64_t columns) {
    return {Take<Acc>(PanelsSize<Acc>(rows, columns)), rows};
  }
  size_t bytes() const { return static_cast<size_t>(bytes_); }

 private:
  char* base_;
  int64_t bytes_ = 0;
};

// How many slots pay for `units` of work, each of so many multiplications.
inline int64_t CountSlots(int64_t units, double flops_of_unit) {
  constexpr double kWorthAThread = 5e5;
  const double grain = std::max(1.0, kWorthAThread / std::max(flops_of_unit, 1.0));
  return std::max(1, NumChunks(units, static_cast<int64_t>(std::min(grain, 1e9))));
}

// Calls f(slot, begin, end) with the units of each slot.
template <class F>
void ForEachSlot(const AttentionSlots& slots, int64_t units, const F& f) {
  ParallelFor(slots.count, 1, [&](int64_t first, int64_t last) {
    for (int64_t slot = first; slot < last; ++slot) {
      f(slot, units * slot / slots.count, units * (slot + 1) / slots.count);
    }
  });
}

// Queries [query, query + queries) of a head by keys [key, key + keys).
struct ScoreTile {
  int64_t batch = 0, head = 0, query = 0, queries = 0, key = 0, keys = 0;
};

template <class Acc>
int64_t PanelsOf(const ScoreTile& t) {
  return CeilDiv(t.keys, kPanel<Acc>);
}
// How many panels have keys that `rows` queries from `row` on see, the mask aside; it grows with
// the row.
template <class Acc>
int64_t SeenPanels(const AttentionProblem& p, const ScoreTile& t, int64_t row,
                   int64_t rows = kTileRows) {
  const int64_t last = std::min(t.query + row + rows, p.queries) - 1;
  return std::clamp(CeilDiv(std::max<int64_t>(p.Seen(last) - t.key, 0), kPanel<Acc>), int64_t{0},
                    PanelsOf<Acc>(t));
}

// products = A B for the part of the tile where queries see keys: A's rows are queries, B's columns
// keys.
template <class Acc>
void MultiplyScores(const AttentionProblem& p, const ScoreTile& t, const Panels<Acc>& a,
                    int64_t first_row, const Panels<Acc>& b, int64_t first_panel, int64_t depth,
                    const Panels<Acc>& products) {
  for (int64_t panel = 0; panel < PanelsOf<Acc>(t); ++panel) {
    for (int64_t row = 0; row < t.queries; row += kTileRows) {
      if (SeenPanels<Acc>(p, t, row) <= panel) continue;
      MultiplyTile(a.At(first_row + row, 0), a.jump(), b.At(0, first_panel + panel), depth,
                   products.At(row, panel), false);
    }
  }
}

// sums (+)= A B: A's rows are queries and its columns keys, of which B has rows from `first` on.
template <class Acc>
void MultiplyByKeys(const AttentionProblem& p, const ScoreTile& t, const Panels<Acc>& a,
                    const Panels<Acc>& b, int64_t first, int64_t columns, const Panels<Acc>& sums,
                    int64_t first_row, bool accumulate) {
  for (int64_t panel = 0; panel * kPanel<Acc> < columns; ++panel) {
    for (int64_t row = 0; row < t.queries; row += kTileRows) {
      const int64_t depth = std::min(SeenPanels<Acc>(p, t, row) * kPanel<Acc>, t.keys);
      MultiplyTile(a.At(row, 0), a.jump(), b.At(first, panel), depth,
                   sums.At(first_row + row, panel), accumulate);
    }
  }
}

// sums += A^T B: A's rows are queries and its columns keys, B has rows for these queries from
// `first` on.
template <class Acc>
void MultiplyByQueries(const AttentionProblem& p, const ScoreTile& t, const Panels<Acc>& a,
                       const Panels<Acc>& b, int64_t first, int64_t columns,
                       const Panels<Acc>& sums) {
  for (int64_t panel = 0; panel * kPanel<Acc> < columns; ++panel) {
    int64_t row = 0;  // the first that sees the keys
    for (int64_t key = 0; key < t.keys; key += kTileRows) {
      const int64_t in = key / kPanel<Acc>;
      while (row < t.queries && SeenPanels<Acc>(p, t, row) <= in) row += kTileRows;
      if (row >= t.queries) break;
      MultiplyTurned(a.At(row, in) + key % kPanel<Acc>, b.At(first + row, panel), t.queries - row,
                     sums.At(key, panel), true);
    }
  }
}

// A row of scores in a tile: `panels` pieces of kPanel, `jump` apart.
template <class Acc>
struct ScoreRow {
  Acc* x = nullptr;
  int64_t jump = 0, panels = 0;

  FIRN_ALWAYS_INLINE Acc* At(int64_t panel) const { return x + panel * jump; }
};
// `rows`: queries that see the same panels.
template <class Acc>
ScoreRow<Acc> RowOf(const AttentionProblem& p, const ScoreTile& t, const Panels<Acc>& scores,
                    int64_t row, int64_t rows = kTileRows) {
  return {scores.At(row, 0), scores.jump(), SeenPanels<Acc>(p, t, row - row % rows, rows)};
}

namespace internal {

// Applies the mask to `n` scores, starting with its element `at`.
template <int64_t kCount, class Acc>
FIRN_ALWAYS_INLINE void MaskScores(const AttentionMask<Acc>& mask, int64_t at, int64_t step,
                                   int64_t n, Acc* x) {
  if (kCount != 0) n = kCount;
  if (mask.seen != nullptr) {
    const bool* const seen = mask.seen + at;
    if (step == 1) {
      for (int64_t l = 0; l < n; ++l) x[l] = seen[l] ? x[l] : kNoScore<Acc>;
    } else {
      for (int64_t l = 0; l < n; ++l) x[l] = seen[l * step] ? x[l] : kNoScore<Acc>;
    }
    return;
  }
  alignas(64) Acc tile[kPanel<Acc>];
  const Acc* added = tile;
  if (step == 1) {
    added = mask.added.At(at, n, tile);
  } else {
    mask.added.Load(at, {n, 1, step, 1}, tile);
  }
  FIRN_INDEPENDENT_STEPS
  for (int64_t l = 0; l < n; ++l) x[l] += added[l];
}

}  // namespace internal

// Masks the scores of query `row` of the tile: applies the mask, and removes the scores of keys
// beyond the query or the last key.
template <class Acc>
void MaskRow(const AttentionProblem& p, const ScoreTile& t, int64_t row,
             const AttentionMask<Acc>& mask, const ScoreRow<Acc>& scores) {
  constexpr int64_t kWidth = kPanel<Acc>;
  const int64_t seen = p.Seen(t.query + row) - t.key;
  const int64_t at = p.mask.At(t.batch, t.head, t.query + row) + t.key * p.mask.column;
  for (int64_t panel = 0, first = 0; panel < scores.panels; ++panel, first += kWidth) {
    Acc* const x = scores.At(panel);
    const int64_t n = t.keys - first, begin = at + first * p.mask.column;
    if (mask.given() && n >= kWidth) {
      internal::MaskScores<kWidth>(mask, begin, p.mask.column, n, x);
    } else if (mask.given()) {
      internal::MaskScores<0>(mask, begin, p.mask.column, n, x);
    }
    if (first + kWidth <= seen) continue;
    for (int64_t l = 0; l < kWidth; ++l) x[l] = l < seen - first ? x[l] : kNoScore<Acc>;
  }
}

// Which weights of query `row` of the tile are kept, and how much they count: 0 or `scale`.
template <class Acc>
class KeptWeights {
 public:
  KeptWeights(const AttentionProblem& p, const PhiloxState& words)
      : p_(p),
        words_(words),
        // At most 2^32 - 1, so that it fits; with a probability of 1 the scale is 0, which drops
        // all weights.
        first_kept_(static_cast<uint32_t>(std::min(p.dropout * 0x1p32, 0x1p32 - 1))),
        scale_(p.dropout < 1 ? static_cast<Acc>(1 / (1 - p.dropout)) : Acc{0}) {}

  bool all() const { return p_.dropout == 0; }
  Acc scale() const { return scale_; }
  void Choose(const ScoreTile& t, int64_t row, Acc scale, Acc* factors) const {
    const int64_t e = p_.Weight(t.batch, t.head, t.query + row) + t.key;
    const int64_t skipped = e % 4, n = t.keys + skipped;
    PhiloxLanes lanes;
    alignas(64) uint32_t ordered[RoundUp(kTileKeys + 3, kWordRow)];
    for (int64_t at = 0; at < n; at += kWordRow) {
      PhiloxBlock(words_, static_cast<uint64_t>(e / 4 + at / 4), &lanes);
      for (int i = 0; i < kPhiloxLanes; ++i) {
        for (int w = 0; w < 4; ++w) ordered[at + 4 * i + w] = lanes.v[w][i];
      }
    }
    for (int64_t j = 0; j < t.keys; ++j) {
      factors[j] = ordered[skipped + j] >= first_kept_ ? scale : Acc{0};
    }
    std::fill(factors + t.keys, factors + kTileKeys, Acc{0});
  }

 private:
  const AttentionProblem& p_;
  const PhiloxState words_;
  const uint32_t first_kept_;
  const Acc scale_;
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ATTENTION_TILES_H_

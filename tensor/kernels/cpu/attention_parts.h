#ifndef FIRN_TENSOR_KERNELS_CPU_ATTENTION_PARTS_H_
#define FIRN_TENSOR_KERNELS_CPU_ATTENTION_PARTS_H_

// The products of attention by the processor's tiles of bfloat16: queries, keys and values as sums
// of kParts of them (split_tiles.h), one part for bfloat16 and three for floats. Weights are never
// bfloat16 and have three.

#include <algorithm>
#include <cstdint>

#include "firn/tensor/kernels/cpu/attention_tiles.h"
#include "firn/tensor/kernels/cpu/gemm_tiles.h"
#include "firn/tensor/kernels/cpu/split_tiles.h"

namespace firn::cpu {

// The rows that a product by tiles computes at once; they see the same panels.
inline constexpr int64_t kPartsRows = 2 * inner::internal::kTileRows;

// Whether there are enough rows to be worth filling tiles up with zeros.
inline bool IsByParts(const AttentionProblem& p) {
  constexpr int64_t kLeastWidth = 16;
  return std::min(p.queries, p.keys) >= kPartsRows &&
         std::min(p.width, p.value_width) >= kLeastWidth && HasTileProducts();
}

class AttentionParts {
 public:
  // Takes room for three parts, if `wanted`.
  AttentionParts(const AttentionProblem& p, bool wanted, AttentionScratch& scratch) : p_(p) {
    constexpr int64_t kMost = 3;
    if (!wanted) return;
    keys_ =
        scratch.Take<uint16_t>(RoundUp(p.keys, kPartsRows) / kBlock * BlockSize<kMost>(p.width));
    values_ = scratch.Take<uint16_t>(CeilDiv(p.keys, kTileKeys) * ValueBlocks() *
                                     BlockSize<kMost>(ValueDepth()));
    q_ = scratch.Take<uint16_t>(kTileQueries / kBlock * BlockSize<kMost>(p.width));
    weights_ = scratch.Take<uint16_t>(kTileQueries / kBlock * BlockSize<kMost>(kTileKeys));
    rows_ = scratch.Take<float>(kTileKeys * std::max(p.width, p.value_width));
  }

  // Packs the keys and values of a head into tiles. Returns false if one of them is infinite or
  // NaN.
  template <int kParts>
  bool PackHead(const AttentionInputs<float>& in, int64_t batch, int64_t kv_head) const {
    bool finite = true;
    for (int64_t key = 0; key < p_.keys; key += kTileKeys) {
      const int64_t n = std::min(kTileKeys, p_.keys - key);
      finite &= SplitRows<kParts>(in.k, p_.k.At(batch, kv_head, key), p_.k, n, p_.width, false,
                                  keys_ + key / kBlock * BlockSize<kParts>(p_.width));
      const Rows rows = RowsOf(in.v, p_.v.At(batch, kv_head, key), p_.v, n, p_.value_width);
      for (int64_t c = 0; c < ValueBlocks(); c += kSplitBlocks) {
        const int64_t first = c * kBlock, blocks = std::min(kSplitBlocks, ValueBlocks() - c);
        finite &= SplitIntoTiles<kParts>({rows.data + first, 1, rows.step, false},
                                         std::min(blocks * kBlock, p_.value_width - first), blocks,
                                         n, Values<kParts>(key, c));
      }
    }
    return finite;
  }
  // The same of the queries of a tile.
  template <int kParts>
  bool PackQueries(const AttentionInputs<float>& in, const ScoreTile& t) const {
    return SplitRows<kParts>(in.q, p_.q.At(t.batch, t.head, t.query), p_.q, t.queries, p_.width,
                             true, q_);
  }

  // Computes the unscaled scores of the tile where queries see keys.
  template <int kParts>
  void MultiplyScores(const ScoreTile& t, const Panels<float>& scores) const {
    const int64_t block = BlockSize<kParts>(p_.width), steps = CeilDiv(p_.width, kDepth);
    const inner::internal::TileScope scope;
    for (int64_t panel = 0; panel < PanelsOf<float>(t); ++panel) {
      const uint16_t* const k = keys_ + (t.key + panel * kDepth) / kBlock * block;
      for (int64_t row = 0; row < t.queries; row += kPartsRows) {
        if (SeenPanels<float>(p_, t, row, kPartsRows) <= panel) continue;
        const uint16_t* const q = q_ + row / kBlock * block;
        inner::internal::MultiplyParts<2, kParts, kParts>({q, q + block}, {k, k + block}, steps,
                                                          true, scores.At(row, panel), kDepth);
      }
    }
  }

  // y = or += weights times values; weights are at the places of their scores.
  template <int kParts>
  void MultiplyValues(const ScoreTile& t, const Panels<float>& weights, bool accumulate,
                      const Panels<float>& y) const {
    constexpr int kWeightParts = 3;
    constexpr int64_t kStep = kWeightParts * inner::internal::kTileBits;
    const int64_t block = BlockSize<kWeightParts>(kTileKeys);
    const inner::internal::TileScope scope;
    for (int64_t row = 0; row < t.queries; row += kPartsRows) {
      const int64_t panels = SeenPanels<float>(p_, t, row, kPartsRows);
      if (panels == 0) continue;
      uint16_t* const left = weights_ + row / kBlock * block;
      internal::TileFloats rest = {};  // NaN stays NaN in the first part
      for (int64_t half = 0; half < 2; ++half) {
        for (int64_t panel = 0; panel < panels; ++panel) {
          internal::SplitLines<kWeightParts>(weights.At(row + half * kBlock, panel), kDepth,
                                             left + half * block + panel * kStep, rest);
        }
      }
      for (int64_t c = 0; c < ValueBlocks(); c += 2) {
        inner::internal::MultiplyParts<2, kWeightParts, kParts>(
            {left, left + block}, {Values<kParts>(t.key, c), Values<kParts>(t.key, c + 1)}, panels,
            !accumulate, y.At(row, c / 2), kDepth);
      }
    }
  }

 private:
  static constexpr int64_t kBlock = inner::internal::kTileRows;
  static constexpr int64_t kDepth = inner::internal::kTileDepth;  // and of a panel's columns

  struct Rows {
    const float* data;
    int64_t step;
  };
  // The rows themselves where they are adjacent floats, else a copy.
  Rows RowsOf(const RowsIn<float>& in, int64_t at, const AttentionStrides& s, int64_t rows,
              int64_t width) const {
    if (!in.converted() && s.column == 1) return {in.At(at, 1, rows_), s.row};
    for (int64_t i = 0; i < rows; ++i) {
      if (s.column == 1) {
        in.Load(at + i * s.row, width, rows_ + i * width);
      } else {
        in.Load(at + i * s.row, {width, 1, s.column, 1}, rows_ + i * width);
      }
    }
    return {rows_, width};
  }
  // Packs rows into lanes, 32 rows at a time.
  template <int kParts>
  bool SplitRows(const RowsIn<float>& in, int64_t at, const AttentionStrides& s, int64_t count,
                 int64_t width, bool left, uint16_t* to) const {
    const Rows rows = RowsOf(in, at, s, count, width);
    const int64_t blocks = RoundUp(count, kPartsRows) / kBlock;
    bool finite = true;
    for (int64_t i = 0; i < blocks; i += kSplitBlocks) {
      const int64_t some = std::min(kSplitBlocks, blocks - i);
      finite &= SplitIntoTiles<kParts>({rows.data + i * kBlock * rows.step, rows.step, 1, left},
                                       std::min(some * kBlock, count - i * kBlock), some, width,
                                       to + i * BlockSize<kParts>(width));
    }
    return finite;
  }

  int64_t ValueBlocks() const { return RoundUp(p_.value_width, kPartsRows) / kBlock; }
  int64_t ValueDepth() const { return std::min(p_.keys, kTileKeys); }
  template <int kParts>
  uint16_t* Values(int64_t key, int64_t c) const {
    const int64_t depth = std::min(kTileKeys, p_.keys - key);
    return values_ + key / kTileKeys * ValueBlocks() * BlockSize<kParts>(ValueDepth()) +
           c * BlockSize<kParts>(depth);
  }

  const AttentionProblem& p_;
  uint16_t *keys_ = nullptr, *values_ = nullptr, *q_ = nullptr, *weights_ = nullptr;
  float* rows_ = nullptr;
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ATTENTION_PARTS_H_

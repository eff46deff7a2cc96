#ifndef FIRN_TENSOR_KERNELS_CPU_RECURRENT_TILES_H_
#define FIRN_TENSOR_KERNELS_CPU_RECURRENT_TILES_H_

// The products of recurrent layers (recurrent_product.h) of bfloat16, by AMX. B is packed into
// tiles once; rows of A are packed into tiles at every product, for all panels of B.

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "firn/device/tiles.h"
#include "firn/tensor/kernels/cpu/gemm_tiles.h"
#include "firn/tensor/kernels/cpu/split_tiles.h"

namespace firn::cpu {

inline bool RecurrentTiles() { return HasTileProducts(); }

// How much of the inner direction is multiplied at once: the tiles of 32 rows of A, 48 KiB at most,
// stay in cache.
inline constexpr int64_t kTilesDeep = 256;
inline constexpr int64_t kDeepBits = inner::internal::kTileRows * kTilesDeep;
inline constexpr int64_t kSumsRow =
    2 * inner::internal::kTileRows;  // from one row of sums to the next

inline int64_t TileSteps(int64_t depth) {
  return (depth + inner::internal::kTileDepth - 1) / inner::internal::kTileDepth;
}
// Elements of 16 columns of B.
inline int64_t TileColumnSize(int64_t depth) {
  return TileSteps(depth) * inner::internal::kTileBits;
}

// Packs `lanes` columns of bfloat16; (k, column) lies at k * row + column * column_step, one of
// them 1.
inline void PackTiles(const float* b, int64_t row, int64_t column_step, int64_t lanes,
                      int64_t depth, uint16_t* to) {
  SplitIntoTiles<1>({b, column_step, row, false}, lanes, 1, depth, to);
}

namespace internal {

// An infinity has zeros as its parts behind the first one.
inline void ClearBehindInfinities(int parts, int64_t steps, uint16_t* tiles) {
  constexpr int64_t kBits = inner::internal::kTileBits;
  constexpr uint16_t kExponent = 0x7f80;
  for (int64_t s = 0; s < steps; ++s, tiles += parts * kBits) {
    for (int64_t i = 0; i < (parts - 1) * kBits; ++i) {
      if ((tiles[i % kBits] & kExponent) == kExponent) tiles[kBits + i] = 0;
    }
  }
}

template <int kParts, class Put>
void MultiplyTileColumns(const float* a, int64_t a_row, int64_t rows, int64_t depth,
                         const uint16_t* b, int64_t begin, int64_t end, const Put& put) {
  constexpr int64_t kRows = inner::internal::kTileRows;
  const inner::internal::TileScope scope;
  alignas(64) uint16_t left[2 * kParts * kDeepBits];
  alignas(64) float sums[2 * kRows * kSumsRow];
  for (int64_t i = 0; i < rows; i += 2 * kRows) {
    const int64_t height = std::min(2 * kRows, rows - i), blocks = height > kRows ? 2 : 1;
    for (int64_t k = 0; k < depth; k += kTilesDeep) {
      const int64_t n = std::min(kTilesDeep, depth - k), steps = TileSteps(n);
      if (!SplitIntoTiles<kParts>({a + i * a_row + k, a_row, 1, true}, height, blocks, n, left)) {
        ClearBehindInfinities(kParts, blocks * steps, left);
      }
      for (int64_t v = begin; v < end; v += 2) {
        const int64_t next = std::min(v + 1, end - 1);
        const auto column = [&](int64_t of) { return b + of * TileColumnSize(depth) + k * kRows; };
        const uint16_t* const right[2] = {column(v), column(next)};
        if (blocks == 2) {
          inner::internal::MultiplyParts<2, kParts, 1>({left, left + BlockSize<kParts>(n)}, right,
                                                       steps, true, sums, kSumsRow);
        } else {
          inner::internal::MultiplyParts<1, kParts, 1>({left}, right, steps, true, sums, kSumsRow);
        }
        for (int64_t j = 0; j < 4; ++j) {
          const int64_t of = v + j % 2, down = j / 2 * kRows, tall = std::min(kRows, height - down);
          if (of >= end || tall <= 0) continue;
          put(of, i + down, tall, k == 0, sums + down * kSumsRow + j % 2 * kRows);
        }
      }
    }
  }
}

}  // namespace internal

// A B for vectors [begin, end) of 16 columns: calls put(vector, row, rows, begins, sums) for up to
// 16 rows from `row` on; `sums` has a part of their sums, kSumsRow apart, and `begins` says that it
// is the first part. Numbers of A are multiplied in 1, 2 or 3 parts (split_tiles.h).
template <class Put>
void MultiplyTileColumns(int parts, const float* a, int64_t a_row, int64_t rows, int64_t depth,
                         const uint16_t* b, int64_t begin, int64_t end, const Put& put) {
  const auto multiply = parts == 1   ? internal::MultiplyTileColumns<1, Put>
                        : parts == 2 ? internal::MultiplyTileColumns<2, Put>
                                     : internal::MultiplyTileColumns<3, Put>;
  multiply(a, a_row, rows, depth, b, begin, end, put);
}

// A product whose sums PanelSums adds up: of `depth` numbers of each row of A and B's panels of
// four vectors of columns. `exact`: numbers of A are bfloat16; others are multiplied in two parts,
// which leave 2^-18 of them.
struct PanelFactor {
  const float* a;
  int64_t a_row, depth;
  const uint16_t* b;
  bool exact;
};

// The sums of some products that have the same rows and panels, one panel at a time, so that they
// are in cache when they are used: those of 32 rows take 8 KiB, vector by vector.
class PanelSums {
 public:
  static constexpr int64_t kVectors = 4;
  static constexpr int64_t kLanes = inner::internal::kTileRows;
  static constexpr int64_t kRows = 2 * inner::internal::kTileRows;
  static constexpr int64_t kVector = kRows * kLanes;  // from vector to vector
  static constexpr int64_t kMostDepth = 512;
  static constexpr size_t kMostFactors = 2;

  // For panels [begin, end) and up to 32 rows from `row` on: calls onto(panel, row, rows, sums),
  // which gives the initial values of the sums, in `sums` or elsewhere, and then put(panel, row,
  // rows, sums). Requires: 1 to kMostFactors factors, of depths up to kMostDepth.
  struct Onto {
    const float* data;
    int64_t row, vector;  // from row to row, from vector to vector
  };
  template <class GetOnto, class Put>
  static void ForEach(absl::Span<const PanelFactor> factors, int64_t rows, int64_t begin,
                      int64_t end, const GetOnto& onto, const Put& put) {
    const inner::internal::TileScope scope;
    alignas(64) uint16_t left[kMostFactors][kRows * kMostDepth * 2];
    alignas(64) float sums[kVectors * kVector];
    for (int64_t i = 0; i < rows; i += kRows) {
      const int64_t height = std::min(kRows, rows - i);
      const bool two = height > kLanes;
      for (size_t f = 0; f < factors.size(); ++f) {
        const auto split = factors[f].exact ? SplitRows<1> : SplitRows<2>;
        split(factors[f], i, height, two ? 2 : 1, left[f]);
      }
      for (int64_t panel = begin; panel < end; ++panel) {
        const auto multiply = two ? Multiply<2> : Multiply<1>;
        multiply(factors, left, panel, onto(panel, i, height, sums), sums);
        put(panel, i, height, sums);
      }
    }
  }

 private:
  using Left = uint16_t[kRows * kMostDepth * 2];

  template <int kParts>
  static void SplitRows(const PanelFactor& f, int64_t row, int64_t height, int64_t blocks,
                        uint16_t* to) {
    const float* const from = f.a + row * f.a_row;
    if (!SplitIntoTiles<kParts>({from, f.a_row, 1, true}, height, blocks, f.depth, to)) {
      internal::ClearBehindInfinities(kParts, blocks * TileSteps(f.depth), to);
    }
  }

  template <int kBlocks>
  static void Multiply(absl::Span<const PanelFactor> factors, const Left* left, int64_t panel,
                       const Onto& onto, float* sums) {
    for (int64_t v = 0; v < kVectors; v += 2) {
      inner::internal::BeginTiles<kBlocks>(onto.data + v * onto.vector, onto.row, onto.vector);
      for (size_t f = 0; f < factors.size(); ++f) {
        const auto add = factors[f].exact ? Add<kBlocks, 1> : Add<kBlocks, 2>;
        add(factors[f], left[f], panel * kVectors + v);
      }
      inner::internal::StoreTiles<kBlocks>(sums + v * kVector, kLanes, kVector);
    }
  }
  template <int kBlocks, int kParts>
  static void Add(const PanelFactor& f, const uint16_t* left, int64_t vector) {
    const int64_t column = TileColumnSize(f.depth);
    const uint16_t* const right = f.b + vector * column;
    const uint16_t* rows[kBlocks];
    for (int b = 0; b < kBlocks; ++b) rows[b] = left + b * BlockSize<kParts>(f.depth);
    inner::internal::AddParts<kBlocks, kParts, 1>(rows, {right, right + column},
                                                  TileSteps(f.depth));
  }
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RECURRENT_TILES_H_

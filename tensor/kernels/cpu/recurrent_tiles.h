#ifndef FIRN_TENSOR_KERNELS_CPU_RECURRENT_TILES_H_
#define FIRN_TENSOR_KERNELS_CPU_RECURRENT_TILES_H_

// The products of recurrent layers (recurrent_product.h) of bfloat16, by AMX. B is packed once as
// its tiles lie; rows of A are brought into tiles at every product, for all of its panels.

#include <algorithm>
#include <cstdint>

#include "firn/device/tiles.h"
#include "firn/tensor/kernels/cpu/gemm_tiles.h"
#include "firn/tensor/kernels/cpu/split_tiles.h"

namespace firn::cpu {

inline bool RecurrentTiles() { return HasTileProducts(); }

// Of the inner direction at once: the tiles of 32 rows of A, 48 KiB, stay near.
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

// Infinities leave nothing to the parts behind the first one.
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
// 16 rows from `row` on, of which `sums` has a part of the sums, kSumsRow apart, the first one
// where `begins`. `exact`: numbers of A are bfloat16; others are multiplied in three parts, which
// keeps sums as exact as those of f32.
template <class Put>
void MultiplyTileColumns(bool exact, const float* a, int64_t a_row, int64_t rows, int64_t depth,
                         const uint16_t* b, int64_t begin, int64_t end, const Put& put) {
  const auto multiply =
      exact ? internal::MultiplyTileColumns<1, Put> : internal::MultiplyTileColumns<3, Put>;
  multiply(a, a_row, rows, depth, b, begin, end, put);
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RECURRENT_TILES_H_

#ifndef FIRN_TENSOR_KERNELS_CPU_RECURRENT_TILES_H_
#define FIRN_TENSOR_KERNELS_CPU_RECURRENT_TILES_H_

// The products of recurrent layers (recurrent_product.h) of bfloat16, by AMX. B is packed once as
// its tiles lie; rows of A are brought into tiles at every product, for all of its panels.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "firn/device/tiles.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {

// oneDNN has asked the operating system for the registers where it uses them.
inline bool RecurrentTiles() { return inner::internal::HasTiles() && MultipliesTiles(); }

// Of the inner direction at once: the tiles of 32 rows of A, 48 KiB, stay near.
inline constexpr int64_t kTilesDeep = 256;
inline constexpr int64_t kDeepBits = inner::internal::kTileRows * kTilesDeep;

inline int64_t TileSteps(int64_t depth) {
  return (depth + inner::internal::kTileDepth - 1) / inner::internal::kTileDepth;
}
// Elements of 16 columns of B.
inline int64_t TileColumnSize(int64_t depth) {
  return TileSteps(depth) * inner::internal::kTileBits;
}

// Packs `lanes` columns; (k, column) lies at k * row + column * column_step, one of them 1.
inline void PackTiles(const float* b, int64_t row, int64_t column_step, int64_t lanes,
                      int64_t depth, uint16_t* to) {
  constexpr int64_t kLanes = inner::internal::kTileRows;
  for (int64_t k = 0; k < depth; k += kTilesDeep) {
    const int64_t n = std::min(kTilesDeep, depth - k), steps = TileSteps(n);
    alignas(64) BFloat16 lines[kLanes][kTilesDeep] = {};
    for (int64_t i = 0; row == 1 && i < lanes; ++i) {
      FromFloats(b + k + i * column_step, n, lines[i]);
    }
    for (int64_t i = 0; row != 1 && i < n; ++i) {
      for (int64_t j = 0; j < lanes; ++j) lines[j][i] = BFloat16(b[(k + i) * row + j]);
    }
    // Pairs of numbers below each other are one.
    inner::internal::CopyTransposed(kLanes, steps * inner::internal::kTileDepth / 2, 4, lines,
                                    kTilesDeep / 2, to, kLanes);
    to += steps * inner::internal::kTileBits;
  }
}

// Rows of n numbers as tiles of 16 rows each, in parts: a number is the sum of its first bfloat16,
// that of what it leaves, and so on. Three of them have all 24 bits of a float.
inline void RoundToTiles(const float* a, int64_t a_row, int64_t rows, int64_t n, int parts,
                         uint16_t* to) {
  using inner::internal::kTileDepth;
  const int64_t steps = TileSteps(n);
  for (int64_t i = 0; i < rows; ++i) {
    alignas(64) BFloat16 line[kTilesDeep];
    alignas(64) float rest[kTilesDeep], rounded[kTilesDeep];
    std::copy_n(a + i * a_row, n, rest);
    for (int part = 0; part < parts; ++part) {
      FromFloats(rest, n, line);
      std::fill(line + n, line + steps * kTileDepth, BFloat16(0.f));
      uint16_t* const row = to + (part * 2 + i / 16) * kDeepBits + i % 16 * kTileDepth;
      for (int64_t s = 0; s < steps; ++s) {
        std::memcpy(row + s * inner::internal::kTileBits, line + s * kTileDepth, 64);
      }
      if (part + 1 == parts) break;
      ToFloats(line, n, rounded);
      for (int64_t l = 0; l < n; ++l) {
        const float left = rest[l] - rounded[l];
        rest[l] = left - left == 0 ? left : 0;  // infinities leave nothing
      }
    }
  }
}

// A B for vectors [begin, end) of 16 columns: calls put(vector, row, rows, begins, sums) for up to
// 16 rows from `row` on, of which `sums` has a part of the sums, the first one where `begins`.
// `exact`: numbers of A are bfloat16; others are multiplied in three parts, which keeps sums
// as exact as those of f32.
template <class Put>
void MultiplyTileColumns(bool exact, const float* a, int64_t a_row, int64_t rows, int64_t depth,
                         const uint16_t* b, int64_t begin, int64_t end, const Put& put) {
  const inner::internal::TileScope scope;
  const int parts = exact ? 1 : 3;
  alignas(64) uint16_t left[6 * kDeepBits] = {};
  alignas(64) float sums[4][inner::internal::kTileSums];
  for (int64_t i = 0; i < rows; i += 32) {
    const int64_t height = std::min<int64_t>(32, rows - i);
    for (int64_t k = 0; k < depth; k += kTilesDeep) {
      const int64_t n = std::min(kTilesDeep, depth - k), steps = TileSteps(n);
      RoundToTiles(a + i * a_row + k, a_row, height, n, parts, left);
      for (int64_t v = begin; v < end; v += 2) {
        const int64_t next = std::min(v + 1, end - 1);
        const auto column = [&](int64_t of) { return b + of * TileColumnSize(depth) + k * 16; };
        const uint16_t* const right[2] = {column(v), column(next)};
        for (int part = 0; part < parts; ++part) {
          const uint16_t* const of_part = left + part * 2 * kDeepBits;
          if (height > 16) {
            inner::internal::MultiplyTiles<2, 2>({of_part, of_part + kDeepBits}, right, steps,
                                                 part == 0,
                                                 {{sums[0], sums[1]}, {sums[2], sums[3]}});
          } else {
            inner::internal::MultiplyTiles<1, 2>({of_part}, right, steps, part == 0,
                                                 {{sums[0], sums[1]}});
          }
        }
        for (int64_t j = 0; j < 4; ++j) {
          const int64_t of = v + j % 2, tall = std::min<int64_t>(16, height - j / 2 * 16);
          if (of < end && tall > 0) put(of, i + j / 2 * 16, tall, k == 0, sums[j]);
        }
      }
    }
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RECURRENT_TILES_H_

#ifndef FIRN_TENSOR_KERNELS_CPU_SPLIT_TILES_H_
#define FIRN_TENSOR_KERNELS_CPU_SPLIT_TILES_H_

// Floats as sums of bfloat16, their parts, in tiles of the processor (device/tiles.h). A number's
// first part has its upper bits, and each next part the upper bits of the remainder: three parts
// have all bits of a float, and one those of a number that is bfloat16. So products of floats are
// sums of products of bfloat16, with f32 sums, and as exact as those of f32: G. Henry, P. Tang, A.
// Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
// Computations", 2019. Only numbers whose last part falls below the smallest normal float lose
// digits: those below 2^-102.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/tiles.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {

namespace internal {

typedef float TileFloats __attribute__((vector_size(64)));
typedef uint32_t TileWords __attribute__((vector_size(64)));
typedef uint16_t TileHalves __attribute__((vector_size(64)));

// The upper half of each word is a part.
template <int kParts>
FIRN_ALWAYS_INLINE void SplitFloats(TileFloats x, TileWords (&parts)[kParts], TileFloats& rest) {
  static_assert(kParts >= 1 && kParts <= 3);
  constexpr uint32_t kUpper = 0xffff0000u, kHalf = 0x8000u;
  parts[0] = reinterpret_cast<TileWords>(x);
  if constexpr (kParts == 2) {
    // Rounded, which leaves half as much behind the second part, except for numbers that would
    // become infinite.
    constexpr uint32_t kSize = 0x7fffffffu, kLargest = 0x7f7f0000u;
    const auto rounded = reinterpret_cast<TileWords>((parts[0] & kSize) < kLargest);
    parts[0] = (parts[0] + (rounded & kHalf)) & kUpper;
    x -= reinterpret_cast<TileFloats>(parts[0]);
    parts[1] = reinterpret_cast<TileWords>(x) + kHalf;
  }
  if constexpr (kParts == 3) {
    // Cut off and not rounded, so that the largest numbers remain finite.
    parts[0] &= kUpper;
    x -= reinterpret_cast<TileFloats>(parts[0]);
    parts[1] = (reinterpret_cast<TileWords>(x) + kHalf) & kUpper;
    parts[2] = reinterpret_cast<TileWords>(x - reinterpret_cast<TileFloats>(parts[1]));
  }
  rest += x * 0.f;  // stays NaN once a number was infinite or NaN
}

// Words' upper halves: those of `a`, then those of `b`; and in turn, one of `a` below one of `b`.
FIRN_ALWAYS_INLINE TileHalves SideBySide(TileWords a, TileWords b) {
  return __builtin_shufflevector(reinterpret_cast<TileHalves>(a), reinterpret_cast<TileHalves>(b),
                                 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35,
                                 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63);
}
FIRN_ALWAYS_INLINE TileWords InTurn(TileWords a, TileWords b) {
  return a >> 16 | (b & 0xffff0000u);
}

FIRN_ALWAYS_INLINE TileFloats LoadFloats(const float* from) {
  TileFloats x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}

inline bool IsFinite(TileFloats rest) {
  bool finite = true;
  for (int i = 0; i < inner::internal::kTileRows; ++i) finite &= rest[i] == 0;
  return finite;
}

// 16 lines of 32 floats, `line` apart, as tiles of all parts, with a row for each line.
template <int kParts>
void SplitLines(const float* from, int64_t line, uint16_t* to, TileFloats& rest) {
  for (int64_t i = 0; i < inner::internal::kTileRows; ++i, from += line) {
    TileWords first[kParts], second[kParts];
    SplitFloats<kParts>(LoadFloats(from), first, rest);
    SplitFloats<kParts>(LoadFloats(from + 16), second, rest);
#pragma GCC unroll 3
    for (int p = 0; p < kParts; ++p) {
      const TileHalves row = SideBySide(first[p], second[p]);
      std::memcpy(to + p * inner::internal::kTileBits + i * inner::internal::kTileDepth, &row,
                  sizeof(row));
    }
  }
}

// 32 lines of 16 floats for each of some blocks, `line` apart: a row interleaves two lines. Blocks
// lie side by side in a line, so that it is read in one go; their tiles lie `block` apart.
template <int kParts>
void SplitPairs(const float* from, int64_t line, int64_t blocks, uint16_t* to, int64_t block,
                TileFloats& rest) {
  constexpr int64_t kRows = inner::internal::kTileRows;
  for (int64_t i = 0; i < kRows; ++i, from += 2 * line, to += inner::internal::kTileDepth) {
    for (int64_t l = 0; l < blocks; ++l) {
      TileWords first[kParts], second[kParts];
      SplitFloats<kParts>(LoadFloats(from + l * kRows), first, rest);
      SplitFloats<kParts>(LoadFloats(from + line + l * kRows), second, rest);
#pragma GCC unroll 3
      for (int p = 0; p < kParts; ++p) {
        const TileWords row = InTurn(first[p], second[p]);
        std::memcpy(to + l * block + p * inner::internal::kTileBits, &row, sizeof(row));
      }
    }
  }
}

// Transposes tiles of pairs.
inline void TurnTiles(const uint16_t* from, int64_t tiles, uint16_t* to) {
  constexpr int64_t kRows = inner::internal::kTileRows, kBits = inner::internal::kTileBits;
  for (int64_t i = 0; i < tiles; ++i) {
    inner::internal::CopyTransposed(kRows, kRows, 4, from + i * kBits, kRows, to + i * kBits,
                                    kRows);
  }
}

}  // namespace internal

// Lanes are rows of a product's left operand or columns of its right one: element (lane, depth)
// lies at lane * lane_step + depth * depth_step, one of which is 1.
struct TileOperand {
  const float* data;
  int64_t lane_step, depth_step;
  bool left;
};

// The number of blocks of 16 lanes that are packed into tiles at once.
inline constexpr int64_t kSplitBlocks = 4;

// Elements of a block of 16 lanes in tiles.
template <int kParts>
constexpr int64_t BlockSize(int64_t depth) {
  constexpr int64_t kDepth = inner::internal::kTileDepth;
  return (depth + kDepth - 1) / kDepth * inner::internal::kTileBits * kParts;
}

// Packs up to kSplitBlocks blocks of lanes and `depth` numbers of each lane into tiles, block by
// block, each step by step with all parts, with zeros where `lanes` or steps are not whole. Returns
// false if a number is infinite or NaN: products of its parts could have other signs.
template <int kParts>
bool SplitIntoTiles(const TileOperand& m, int64_t lanes, int64_t blocks, int64_t depth,
                    uint16_t* to) {
  constexpr int64_t kRows = inner::internal::kTileRows, kDepth = inner::internal::kTileDepth;
  constexpr int64_t kStep = kParts * inner::internal::kTileBits;
  const bool by_lanes = m.depth_step == 1, turn = by_lanes != m.left;
  const int64_t block = BlockSize<kParts>(depth);
  internal::TileFloats rest = {};
  alignas(64) uint16_t turned[kSplitBlocks * kStep];
  alignas(64) float edge[kSplitBlocks * kRows * kDepth];
  for (int64_t k = 0; k < depth; k += kDepth, to += kStep) {
    const int64_t n = std::min(kDepth, depth - k);
    const float* from = m.data + k * m.depth_step;
    int64_t line = by_lanes ? m.lane_step : m.depth_step;
    if (n < kDepth || lanes < blocks * kRows) {
      const int64_t lines = by_lanes ? lanes : n, length = by_lanes ? n : lanes;
      const int64_t room = by_lanes ? kDepth : blocks * kRows;
      std::fill_n(edge, blocks * kRows * kDepth, 0.f);
      for (int64_t i = 0; i < lines; ++i) std::copy_n(from + i * line, length, edge + i * room);
      from = edge;
      line = room;
    }
    uint16_t* const tiles = turn ? turned : to;
    const int64_t apart = turn ? kStep : block;
    if (!by_lanes) internal::SplitPairs<kParts>(from, line, blocks, tiles, apart, rest);
    for (int64_t l = 0; l < blocks; ++l) {
      if (by_lanes) {
        internal::SplitLines<kParts>(from + l * kRows * line, line, tiles + l * apart, rest);
      }
      if (turn) internal::TurnTiles(turned + l * kStep, kParts, to + l * block);
    }
  }
  return internal::IsFinite(rest);
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_SPLIT_TILES_H_

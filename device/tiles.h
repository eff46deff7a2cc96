#ifndef FIRN_DEVICE_TILES_H_
#define FIRN_DEVICE_TILES_H_

#include <cstdint>

#include "firn/device/cpu.h"
#include "firn/device/macros.h"
#include "firn/device/own_flags.h"

#if FIRN_LEVEL >= 4
#include <immintrin.h>
#define FIRN_FOR_TILES __attribute__((target("amx-tile,amx-bf16")))
#else
#define FIRN_FOR_TILES
#endif

// Products of bfloat16 by the processor's tile registers (Intel's AMX).
namespace firn::inner::internal {

// Whether the processor has them: code for them is part of level 4.
inline bool HasTiles() { return FIRN_LEVEL >= 4 && ThisCpu().bfloat_tiles; }

// Tiles of a step: 16 rows of 32 bfloat16 on the left; on the right 16 rows, each of which
// interleaves two rows of the matrix; sums of 16 rows of 16 floats. Each tile is contiguous.
inline constexpr int64_t kTileRows = 16, kTileDepth = 32;
inline constexpr int64_t kTileBits = kTileRows * kTileDepth;  // of the operands
inline constexpr int64_t kTileSums = kTileRows * kTileRows;

// While one exists, the calling thread's registers are set up for MultiplyTiles. Requires:
// HasTiles(), and an operating system that lets the process use them.
class TileScope {
 public:
  [[nodiscard]] TileScope() { Begin(); }
  ~TileScope() { End(); }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
#if FIRN_LEVEL >= 4
  FIRN_FOR_TILES static void Begin() { _tile_loadconfig(&kConfig); }
  FIRN_FOR_TILES static void End() { _tile_release(); }
#else
  static void Begin() {}
  static void End() {}
#endif
  struct alignas(64) Config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  };
  // A constant, because g++ 12 believes that the instruction reads 8 bytes, and may drop stores to
  // the other bytes of a variable.
  static constexpr Config kConfig = {
      1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
};

// Adds to sums[i][j] the products of tiles a[i] + s * kTileBits and b[j] + s * kTileBits for every
// s < steps; `fresh`: overwrites the sums instead. Denormal numbers count as zeros. Requires: a
// TileScope.
template <int kLeft, int kRight>
FIRN_FOR_TILES void MultiplyTiles([[maybe_unused]] const uint16_t* const (&a)[kLeft],
                                  [[maybe_unused]] const uint16_t* const (&b)[kRight],
                                  [[maybe_unused]] int64_t steps, [[maybe_unused]] bool fresh,
                                  [[maybe_unused]] float* const (&sums)[kLeft][kRight]) {
  static_assert(kLeft <= 2 && kRight <= 2);
#if FIRN_LEVEL >= 4
  constexpr bool kTwoLeft = kLeft == 2, kTwoRight = kRight == 2, kFour = kTwoLeft && kTwoRight;
  constexpr int kRow = 64;        // bytes
  asm volatile("" ::: "memory");  // g++ 12 does not know what loads of tiles read
  if (fresh) {
    _tile_zero(0);
    if constexpr (kTwoRight) _tile_zero(1);
    if constexpr (kTwoLeft) _tile_zero(2);
    if constexpr (kFour) _tile_zero(3);
  } else {
    _tile_loadd(0, sums[0][0], kRow);
    if constexpr (kTwoRight) _tile_loadd(1, sums[0][1], kRow);
    if constexpr (kTwoLeft) _tile_loadd(2, sums[1][0], kRow);
    if constexpr (kFour) _tile_loadd(3, sums[1][1], kRow);
  }
  for (int64_t at = 0; at < steps * kTileBits; at += kTileBits) {
    _tile_loadd(4, a[0] + at, kRow);
    _tile_loadd(6, b[0] + at, kRow);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kTwoRight) {
      _tile_loadd(7, b[1] + at, kRow);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kTwoLeft) {
      _tile_loadd(5, a[1] + at, kRow);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (kFour) _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums[0][0], kRow);
  if constexpr (kTwoRight) _tile_stored(1, sums[0][1], kRow);
  if constexpr (kTwoLeft) _tile_stored(2, sums[1][0], kRow);
  if constexpr (kFour) _tile_stored(3, sums[1][1], kRow);
#endif
}

// The next three functions are one product, whose sums stay in registers from the first to the
// last: 16 kLeft rows by two tiles of columns. Sums begin with the values in memory at c, rows
// `row` apart (0: all rows alike) and the second tile `next` behind the first, or with zeros if c
// is null. Requires, as those below: a TileScope.
template <int kLeft>
FIRN_FOR_TILES void BeginTiles([[maybe_unused]] const float* c, [[maybe_unused]] int64_t row,
                               [[maybe_unused]] int64_t next) {
  static_assert(kLeft <= 2);
#if FIRN_LEVEL >= 4
  constexpr bool kTwo = kLeft == 2;
  asm volatile("" ::: "memory");  // g++ 12 does not know what loads of tiles read
  if (c == nullptr) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kTwo) _tile_zero(2);
    if constexpr (kTwo) _tile_zero(3);
  } else {
    const int64_t bytes = row * static_cast<int64_t>(sizeof(float));
    const float* const below = c + kTileRows * row;
    _tile_loadd(0, c, bytes);
    _tile_loadd(1, c + next, bytes);
    if constexpr (kTwo) _tile_loadd(2, below, bytes);
    if constexpr (kTwo) _tile_loadd(3, below + next, bytes);
  }
#endif
}

// Adds products of numbers that are each a sum of bfloat16 parts, the largest first. Each step has
// the tiles of all parts of 16 rows or columns, one behind the other. The product of two parts is
// left out where it is as small as the error of the operand with more parts.
template <int kLeft, int kLeftParts, int kRightParts>
FIRN_FOR_TILES void AddParts([[maybe_unused]] const uint16_t* const (&a)[kLeft],
                             [[maybe_unused]] const uint16_t* const (&b)[2],
                             [[maybe_unused]] int64_t steps) {
#if FIRN_LEVEL >= 4
  constexpr bool kTwo = kLeft == 2;
  constexpr int kRow = 64;  // bytes
  constexpr int kParts = kLeftParts > kRightParts ? kLeftParts : kRightParts;
  asm volatile("" ::: "memory");
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t left = s * kLeftParts * kTileBits, right = s * kRightParts * kTileBits;
#pragma GCC unroll 3
    for (int i = 0; i < kLeftParts; ++i) {
      _tile_loadd(4, a[0] + left + i * kTileBits, kRow);
      if constexpr (kTwo) _tile_loadd(5, a[1] + left + i * kTileBits, kRow);
      for (int j = 0; j < kRightParts && i + j < kParts; ++j) {
        if (i == 0 || kRightParts > 1) _tile_loadd(6, b[0] + right + j * kTileBits, kRow);
        _tile_dpbf16ps(0, 4, 6);
        if constexpr (kTwo) _tile_dpbf16ps(2, 5, 6);
        if (i == 0 || kRightParts > 1) _tile_loadd(7, b[1] + right + j * kTileBits, kRow);
        _tile_dpbf16ps(1, 4, 7);
        if constexpr (kTwo) _tile_dpbf16ps(3, 5, 7);
      }
    }
  }
#endif
}

// Stores the sums to memory, in the arrangement that BeginTiles takes.
template <int kLeft>
FIRN_FOR_TILES void StoreTiles([[maybe_unused]] float* c, [[maybe_unused]] int64_t row,
                               [[maybe_unused]] int64_t next) {
#if FIRN_LEVEL >= 4
  constexpr bool kTwo = kLeft == 2;
  const int64_t bytes = row * static_cast<int64_t>(sizeof(float));
  float* const below = c + kTileRows * row;
  _tile_stored(0, c, bytes);
  _tile_stored(1, c + next, bytes);
  if constexpr (kTwo) _tile_stored(2, below, bytes);
  if constexpr (kTwo) _tile_stored(3, below + next, bytes);
#endif
}

// The whole product: C += A B, or C = A B if `fresh`, for 16 kLeft rows of 32 floats that are
// `c_row` apart.
template <int kLeft, int kLeftParts, int kRightParts>
FIRN_FOR_TILES void MultiplyParts(const uint16_t* const (&a)[kLeft], const uint16_t* const (&b)[2],
                                  int64_t steps, bool fresh, float* c, int64_t c_row) {
  BeginTiles<kLeft>(fresh ? nullptr : c, c_row, kTileRows);
  AddParts<kLeft, kLeftParts, kRightParts>(a, b, steps);
  StoreTiles<kLeft>(c, c_row, kTileRows);
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_TILES_H_

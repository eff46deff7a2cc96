// Products of floats by tiles of bfloat16 (AMX): some rows of A and some columns of B are packed
// into tiles for a part of the inner direction, and their products are added to C, 32 rows and
// columns at a time. B's columns are taken in groups that stay in the second-level cache while all
// rows pass by, some at a time. The parts of the inner direction are so long that C's lines, which
// lie far apart, are seldom read and written.

#include "firn/tensor/kernels/cpu/gemm_tiles.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "firn/device/parallel.h"
#include "firn/device/tiles.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/kernels/cpu/split_tiles.h"

namespace firn::cpu {
namespace {

using inner::internal::kTileBits;
using inner::internal::kTileDepth;
using inner::internal::kTileRows;

constexpr int64_t kPair = 2 * kTileRows;  // rows or columns of a result at once
constexpr int64_t kWide = 256;            // columns that a piece of a block has

// The part that is packed into tiles at once, chosen so that both operands stay in a second-level
// cache of 2 MB: with little of the inner direction C is read and written often, with few columns
// the rows are packed several times.
struct Blocking {
  int64_t deep, columns;
};
Blocking BlockingOf(const GemmShape& s) {
  if (s.n <= kWide) return {512, kWide};
  return {256, s.n <= 768 ? 768 : 512};
}
// Rows that are brought into tiles at once, and how many threads have room for some.
constexpr int64_t kRows = kSplitBlocks * kTileRows, kMostPieces = 32;

int64_t UpTo(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Elements of `lanes` rows or columns in tiles.
int64_t TilesSize(int64_t lanes, int64_t depth, int parts) {
  return UpTo(lanes, kPair) * UpTo(depth, kTileDepth) * parts;
}
int64_t LeftSize(const GemmShape& s, int parts) {  // of one piece
  return TilesSize(kRows, std::min(s.k, BlockingOf(s).deep), parts);
}
int64_t RightSize(const GemmShape& s, int parts) {
  const Blocking most = BlockingOf(s);
  return TilesSize(std::min(s.n, most.columns), std::min(s.k, most.deep), parts);
}

// Packs on all threads. Returns whether all numbers are finite.
template <int kParts>
bool SplitAll(const TileOperand& m, int64_t lanes, int64_t depth, uint16_t* to) {
  const int64_t blocks = UpTo(lanes, kPair) / kTileRows;
  std::atomic<bool> finite = true;
  ParallelFor(UpTo(blocks, kSplitBlocks) / kSplitBlocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t block = i * kSplitBlocks, first = block * kTileRows;
      const int64_t some = std::min(kSplitBlocks, blocks - block);
      if (!SplitIntoTiles<kParts>({m.data + first * m.lane_step, m.lane_step, m.depth_step, m.left},
                                  std::min(some * kTileRows, lanes - first), some, depth,
                                  to + block * BlockSize<kParts>(depth))) {
        finite.store(false, std::memory_order_relaxed);
      }
    }
  });
  return finite.load(std::memory_order_relaxed);
}

// A part of the product that is multiplied at once, with its operands in tiles.
struct Block {
  GemmShape s;
  const uint16_t *left, *right;
  float* c;
  bool accumulate;
};

// Adds sums at the edge of C, where there are no whole tiles.
void PutEdge(const Block& b, int64_t i, int64_t j, const float* sums) {
  for (int64_t r = 0; r < std::min(kPair, b.s.m - i); ++r) {
    float* const c = b.c + (i + r) * b.s.c_row + j;
    for (int64_t l = 0; l < std::min(kPair, b.s.n - j); ++l) {
      c[l] = b.accumulate ? c[l] + sums[r * kPair + l] : sums[r * kPair + l];
    }
  }
}

// Prefetches the next sums, which lie in many lines.
void AskForNext(const Block& b, int64_t i, int64_t j) {
  if (i + kPair > b.s.m || j + kPair > b.s.n) return;
  for (int64_t r = 0; r < kPair; ++r) {
    const float* const c = b.c + (i + r) * b.s.c_row + j;
    __builtin_prefetch(c, 1);
    __builtin_prefetch(c + kTileRows, 1);
  }
}

// Rows [i, i + 32) by columns [j, j + 32).
template <int kLeft, int kRight>
void MultiplyPair(const Block& b, int64_t i, int64_t j) {
  const int64_t steps = UpTo(b.s.k, kTileDepth) / kTileDepth;
  const int64_t left = steps * kTileBits * kLeft, right = steps * kTileBits * kRight;
  const uint16_t* const rows = b.left + i / kTileRows * left;
  const uint16_t* const columns = b.right + j / kTileRows * right;
  const bool whole = i + kPair <= b.s.m && j + kPair <= b.s.n;
  alignas(64) float edge[kPair * kPair];
  AskForNext(b, i, j + kPair);
  inner::internal::MultiplyParts<2, kLeft, kRight>(
      {rows, rows + left}, {columns, columns + right}, steps, !whole || !b.accumulate,
      whole ? b.c + i * b.s.c_row + j : edge, whole ? b.s.c_row : kPair);
  if (!whole) PutEdge(b, i, j, edge);
}

// Multiplies as floats. The step after a single row does not matter, but oneDNN wants it to be as
// long as a row.
void MultiplyFloats(GemmShape s, const float* a, const float* b, float* c, bool accumulate) {
  if (s.m == 1 && s.a.col == 1) s.a.row = std::max(s.a.row, s.k);
  if (s.k == 1 && s.b.col == 1) s.b.row = std::max(s.b.row, s.n);
  MultiplyOneDnn(s, a, b, c, accumulate);
}

// How threads share a block: each has some rows and some groups of columns. The shares are as even
// as possible, and preferably of rows, which are then packed into tiles once.
struct Pieces {
  int64_t rows, groups;  // in units of kPair and kWide
  int64_t down = 1, across = 1;

  explicit Pieces(const GemmShape& s)
      : rows(UpTo(s.m, kPair) / kPair), groups(UpTo(s.n, kWide) / kWide) {
    const int64_t threads = NumChunks(kMostPieces, 1);
    int64_t least = rows * groups;
    for (int64_t d = std::min(threads, rows); d > 0 && threads > 1; --d) {
      const int64_t a = std::min(threads / d, groups);
      const int64_t most = UpTo(rows, d) / d * (UpTo(groups, a) / a);
      if (most >= least) continue;
      least = most;
      down = d;
      across = a;
    }
  }
};
int64_t RoomForPieces(const GemmShape& s) {
  return std::min(kMostPieces, UpTo(s.m, kPair) / kPair * (UpTo(s.n, kWide) / kWide));
}

// All rows by groups [first, last) of columns.
template <int kLeft, int kRight>
void MultiplyGroups(const Block& b, int64_t first, int64_t last) {
  const inner::internal::TileScope scope;
  for (int64_t g = first * kWide; g < last * kWide; g += kWide) {
    for (int64_t i = 0; i < b.s.m; i += kPair) {
      for (int64_t j = g; j < std::min(b.s.n, g + kWide); j += kPair) {
        MultiplyPair<kLeft, kRight>(b, i, j);
      }
    }
  }
}

// A part of the inner direction, and of the columns, of which `right` has the tiles.
template <int kLeft, int kRight>
struct Part {
  GemmShape s;
  const float *a, *b;
  float* c;
  bool accumulate;
  uint16_t *left, *right;

  // Each thread packs its rows into tiles and multiplies them while they are in cache, and waits
  // for others only before and after. The threads do not change which part is multiplied as floats:
  // kPair rows, one of which is not finite, by kWide columns, or by all.
  void Run() const {
    if (!SplitAll<kRight>({b, s.b.col, s.b.row, false}, s.n, s.k, right)) {
      return MultiplyFloats(s, a, b, c, accumulate);
    }
    const Pieces p(s);
    ParallelFor(p.down * p.across, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) RunPiece(p, piece);
    });
  }

 private:
  void RunPiece(const Pieces& p, int64_t piece) const {
    uint16_t* const tiles = left + piece * TilesSize(kRows, s.k, kLeft);
    const int64_t down = piece / p.across, across = piece % p.across;
    const int64_t first = p.groups * across / p.across, last = p.groups * (across + 1) / p.across;
    const int64_t end = std::min(s.m, p.rows * (down + 1) / p.down * kPair);
    for (int64_t i = p.rows * down / p.down * kPair; i < end; i += kRows) {
      const int64_t m = std::min(kRows, end - i);
      if (ByTiles(i, m, first, last, tiles)) continue;
      for (int64_t r = i; r < i + m; r += kPair) {
        const int64_t rows = std::min(kPair, i + m - r);
        if (!ByTiles(r, rows, first, last, tiles)) AsFloats(r, rows, first, last);
      }
    }
  }
  // Multiplies rows [i, i + m), if they are finite.
  bool ByTiles(int64_t i, int64_t m, int64_t first, int64_t last, uint16_t* tiles) const {
    GemmShape rows = s;
    rows.m = m;
    const TileOperand operand{a + i * s.a.row, s.a.row, s.a.col, true};
    if (!SplitIntoTiles<kLeft>(operand, m, UpTo(m, kPair) / kTileRows, s.k, tiles)) return false;
    MultiplyGroups<kLeft, kRight>({rows, tiles, right, c + i * s.c_row, accumulate}, first, last);
    return true;
  }
  void AsFloats(int64_t i, int64_t m, int64_t first, int64_t last) const {
    for (int64_t j = first * kWide; j < std::min(s.n, last * kWide); j += kWide) {
      GemmShape some = s;
      some.m = m;
      some.n = std::min(kWide, s.n - j);
      MultiplyFloats(some, a + i * s.a.row, b + j * s.b.col, c + i * s.c_row + j, accumulate);
    }
  }
};

template <int kLeft, int kRight>
void Multiply(const GemmShape& s, const float* a, const float* b, float* c, bool accumulate,
              void* workspace) {
  auto* const right = static_cast<uint16_t*>(workspace);
  uint16_t* const left = right + RightSize(s, kRight);
  const Blocking most = BlockingOf(s);
  GemmShape part = s;
  for (int64_t j = 0; j < s.n; j += most.columns) {
    part.n = std::min(most.columns, s.n - j);
    for (int64_t k = 0; k < s.k; k += most.deep) {
      part.k = std::min(most.deep, s.k - k);
      Part<kLeft, kRight>{part,  a + k * s.a.col,     b + k * s.b.row + j * s.b.col,
                          c + j, accumulate || k > 0, left,
                          right}
          .Run();
    }
  }
}

}  // namespace

bool HasTileProducts() { return inner::internal::HasTiles() && MultipliesTiles(); }

size_t GemmByTilesWorkspace(const GemmShape& s, const TileParts& parts) {
  const int64_t left = LeftSize(s, parts.left) * RoomForPieces(s);
  return static_cast<size_t>(left + RightSize(s, parts.right)) * sizeof(uint16_t);
}

void GemmByTiles(const GemmShape& s, const TileParts& parts, const float* a, const float* b,
                 float* c, bool accumulate, void* workspace) {
  if (parts.right == 1) return Multiply<2, 1>(s, a, b, c, accumulate, workspace);
  Multiply<3, 3>(s, a, b, c, accumulate, workspace);
}

}  // namespace firn::cpu

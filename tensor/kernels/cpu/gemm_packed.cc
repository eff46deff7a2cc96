// Products of doubles after Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication" (2008). A tile of C stays in registers while a panel of A, some rows of it
// element by element in turn, and a panel of B, some columns likewise, are read from beginning to
// end. A panel of B stays in the first-level cache for all panels of a block of A, which is in the
// second. Both are packed on the stack, so that neither strides nor powers of two between rows
// matter.

#include "firn/tensor/kernels/cpu/gemm_packed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/simd.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {
namespace {

constexpr int kLanes = static_cast<int>(kSimdLanes<double>);
// A tile: 24 sums, 3 vectors of B and one element of A in 32 registers, 12 sums in 16.
constexpr int kRows = kSimdBytes == 64 ? 8 : 4, kVectors = 3;
constexpr int64_t kColumns = kVectors * kLanes;
// A panel of B takes 24 KiB, and a block of A 192 KiB, which fit the stack as well.
constexpr int64_t kDepth = (24 << 10) / 8 / kColumns;
constexpr int64_t kMostRows = (192 << 10) / 8 / kDepth / kRows * kRows;

// Element (p, i) of a panel of `width` lines is that of line i at p along the inner direction, of
// `k`. Lines are `step` apart, their elements `along`; one of both is 1.
void Pack(const double* from, int64_t step, int64_t along, int64_t width, int64_t k, double* to) {
  if (step != 1) {
    return inner::internal::CopyTransposed(width, k, sizeof(double), from, step, to, width);
  }
  // By vectors: a call of a function for each of these rows takes as long as copying it.
  for (int64_t p = 0; p < k; ++p, from += along) {
    int64_t i = 0;
    for (; i + kLanes <= width; i += kLanes) std::memcpy(to + i, from + i, kSimdBytes);
    for (; i < width; ++i) to[i] = from[i];
    to += width;
  }
}

// The panel of B, with zeros where its columns do not fill the last vector.
void PackColumns(const double* from, const MatrixStrides& s, int64_t width, int64_t k, double* to) {
  const int64_t whole = (width + kLanes - 1) / kLanes * kLanes;
  if (whole == width) return Pack(from, s.col, s.row, width, k, to);
  for (int64_t p = 0; p < k; ++p, from += s.row, to += whole) {
    for (int64_t i = 0; i < width; ++i) to[i] = from[i * s.col];
    std::fill(to + width, to + whole, 0.0);
  }
}

// Writes a vector of sums, or adds them to what is there.
FIRN_ALWAYS_INLINE void Put(Vec<double> sum, double* to, bool accumulate) {
  if (accumulate) {
    Vec<double> old;
    std::memcpy(&old, to, sizeof(old));
    sum += old;
  }
  std::memcpy(to, &sum, sizeof(sum));
}
// A function of its own: a vector that is copied to an array is in memory wherever it is used, and
// inlined that would be the whole of Tile's loop.
FIRN_NOINLINE void PutLanes(Vec<double> sum, int64_t lanes, double* to, bool accumulate) {
  double all[kLanes];
  std::memcpy(all, &sum, sizeof(all));
  for (int64_t i = 0; i < lanes; ++i) to[i] = accumulate ? to[i] + all[i] : all[i];
}

// A tile of C, of kHeight rows and of `width` columns in kWidth vectors.
template <int kHeight, int kWidth>
void Tile(const double* a, const double* b, int64_t k, double* c, int64_t c_row, int64_t width,
          bool accumulate) {
  // What this tile of C held, or where it goes, is needed at the end: fetch it meanwhile.
  for (int i = 0; i < kHeight; ++i) {
    for (int64_t w = 0; w < width; w += 8) __builtin_prefetch(c + i * c_row + w, 1);
  }
  // Unrolled, or the sums would not stay in registers.
  Vec<double> sums[kHeight][kWidth];
#pragma GCC unroll 8
  for (int i = 0; i < kHeight; ++i) {
#pragma GCC unroll 3
    for (int w = 0; w < kWidth; ++w) sums[i][w] = Vec<double>{};
  }
  for (int64_t p = 0; p < k; ++p) {
    Vec<double> right[kWidth];
#pragma GCC unroll 3
    for (int w = 0; w < kWidth; ++w) {
      std::memcpy(&right[w], b + (p * kWidth + w) * kLanes, sizeof(right[w]));
    }
#pragma GCC unroll 8
    for (int i = 0; i < kHeight; ++i) {
      const double left = a[p * kHeight + i];
#pragma GCC unroll 3
      for (int w = 0; w < kWidth; ++w) sums[i][w] += left * right[w];
    }
  }
  const int64_t lanes = width - (kWidth - 1) * kLanes;
#pragma GCC unroll 8
  for (int i = 0; i < kHeight; ++i) {
    double* const row = c + i * c_row;
#pragma GCC unroll 3
    for (int w = 0; w + 1 < kWidth; ++w) Put(sums[i][w], row + w * kLanes, accumulate);
    double* const last = row + (kWidth - 1) * kLanes;
    if (lanes == kLanes) {
      Put(sums[i][kWidth - 1], last, accumulate);
    } else {
      PutLanes(sums[i][kWidth - 1], lanes, last, accumulate);
    }
  }
}

using TileOf = void (*)(const double*, const double*, int64_t, double*, int64_t, int64_t, bool);
// By (rows - 1) * kVectors + (vectors - 1).
constexpr auto kTiles = []<size_t... I>(std::index_sequence<I...>) {
  return std::array<TileOf, sizeof...(I)>{Tile<I / kVectors + 1, I % kVectors + 1>...};
}
(std::make_index_sequence<kRows * kVectors>());

// Some rows of C, of a block of the inner direction.
void MultiplyBlock(const GemmShape& s, const double* a, const double* b, double* c,
                   bool accumulate) {
  alignas(64) double rows[kMostRows * kDepth];
  alignas(64) double columns[kColumns * kDepth];
  for (int64_t i = 0; i < s.m; i += kRows) {
    Pack(a + i * s.a.row, s.a.row, s.a.col, std::min<int64_t>(kRows, s.m - i), s.k, rows + i * s.k);
  }
  for (int64_t j = 0; j < s.n; j += kColumns) {
    const int64_t width = std::min(kColumns, s.n - j), vectors = (width + kLanes - 1) / kLanes;
    PackColumns(b + j * s.b.col, s.b, width, s.k, columns);
    for (int64_t i = 0; i < s.m; i += kRows) {
      const int64_t height = std::min<int64_t>(kRows, s.m - i);
      const auto tile = static_cast<size_t>((height - 1) * kVectors + vectors - 1);
      kTiles[tile](rows + i * s.k, columns, s.k, c + i * s.c_row + j, s.c_row, width, accumulate);
    }
  }
}

}  // namespace

// Of Eigen's time on a Sapphire Rapids core, and of Eigen's compiled for AVX2 there (in brackets,
// by A and B that lie by rows):
//   m     n     k                            m     n     k
//   512   512   512    0.74-0.81 (0.85)      64    64    9      0.63-0.65
//   1024  1024  1024   0.73-0.89 (0.82)      256   8     8      0.43-0.51
//   64    1024  8192   0.87-0.94 (0.94)      1024  8     1024   0.78-1.00
//   64    576   784    0.83-0.87 (0.89)      4     1024  1024   0.80-1.08
//   17    17    17     0.99-1.09             1024  4     1024   0.88-1.18
bool IsPacked(const GemmShape& s) { return s.m >= 4 && s.n >= kLanes; }

void MultiplyPacked(const GemmShape& s, const double* a, const double* b, double* c,
                    bool accumulate) {
  GemmShape part = s;
  for (int64_t i = 0; i < s.m; i += kMostRows) {
    for (int64_t p = 0; p < s.k; p += kDepth) {
      part.m = std::min(kMostRows, s.m - i);
      part.k = std::min(kDepth, s.k - p);
      MultiplyBlock(part, a + i * s.a.row + p * s.a.col, b + p * s.b.row, c + i * s.c_row,
                    accumulate || p > 0);
    }
  }
}

}  // namespace firn::cpu

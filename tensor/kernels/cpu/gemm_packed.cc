// Products after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008):
// those of f64, and in programs without oneDNN those of f32 (no_onednn.cc). A tile of C stays in
// registers while a panel of A, which interleaves some rows of it, and a panel of B, which
// interleaves some columns, are read from beginning to end. A panel of B stays in the first-level
// cache for all panels of a block of A, which is in the second. Both are packed on the stack, so
// that neither strides nor powers of two between rows matter.

#include "firn/tensor/kernels/cpu/gemm_packed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/simd.h"
#include "firn/device/simd_part.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {
namespace {

template <class T>
constexpr int kLanes = static_cast<int>(kSimdLanes<T>);
// A tile: 24 sums, 3 vectors of B and one element of A in 32 registers, 12 sums in 16.
constexpr int kRows = kSimdBytes == 64 ? 8 : 4, kVectors = 3;
template <class T>
constexpr int64_t kColumns = kVectors* kLanes<T>;
// A panel of B takes 24 KiB, and a block of A 192 KiB, which fit the stack as well.
constexpr int64_t kDepth = (24 << 10) / kVectors / kSimdBytes;
template <class T>
constexpr int64_t kMostRows = (192 << 10) / static_cast<int64_t>(sizeof(T)) / kDepth / kRows* kRows;

// Element (p, i) of a panel of `width` lines is that of line i at p along the inner direction, of
// `k`. Lines are `step` apart, their elements `along`; one of both is 1.
template <class T>
void Pack(const T* from, int64_t step, int64_t along, int64_t width, int64_t k, T* to) {
  if (step != 1) {
    return inner::internal::CopyTransposed(width, k, sizeof(T), from, step, to, width);
  }
  // Copies by vectors: a call of a function for each of these rows would take as long as copying
  // it.
  for (int64_t p = 0; p < k; ++p, from += along) {
    int64_t i = 0;
    for (; i + kLanes<T> <= width; i += kLanes<T>) std::memcpy(to + i, from + i, kSimdBytes);
    for (; i < width; ++i) to[i] = from[i];
    to += width;
  }
}

// The panel of B, with zeros where its columns do not fill the last vector.
template <class T>
void PackColumns(const T* from, const MatrixStrides& s, int64_t width, int64_t k, T* to) {
  const int64_t whole = (width + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  if (whole == width) return Pack(from, s.col, s.row, width, k, to);
  for (int64_t p = 0; p < k; ++p, from += s.row, to += whole) {
    for (int64_t i = 0; i < width; ++i) to[i] = from[i * s.col];
    std::fill(to + width, to + whole, T{});
  }
}

// Writes a vector of sums, or adds them to what is there: all of it, or the first lanes.
template <class T>
FIRN_ALWAYS_INLINE void Put(Vec<T> sum, int64_t lanes, T* to, bool accumulate) {
  if (lanes == kLanes<T>) {
    if (accumulate) sum += inner::internal::LoadAll(to);
    return inner::internal::StoreAll<T>(sum, to);
  }
  if (accumulate) sum += inner::internal::LoadPart(to, lanes);
  inner::internal::StorePart<T>(sum, lanes, to);
}

// A tile of C, of kHeight rows and of `width` columns in kWidth vectors.
template <class T, int kHeight, int kWidth>
void Tile(const T* a, const T* b, int64_t k, T* c, int64_t c_row, int64_t width, bool accumulate) {
  // The tile of C is read or written at the end: prefetch it meanwhile.
  for (int i = 0; i < kHeight; ++i) {
    for (int64_t w = 0; w < width; w += 8) __builtin_prefetch(c + i * c_row + w, 1);
  }
  // Unrolled, because otherwise the sums would not stay in registers.
  Vec<T> sums[kHeight][kWidth];
#pragma GCC unroll 8
  for (int i = 0; i < kHeight; ++i) {
#pragma GCC unroll 3
    for (int w = 0; w < kWidth; ++w) sums[i][w] = Vec<T>{};
  }
  for (int64_t p = 0; p < k; ++p) {
    Vec<T> right[kWidth];
#pragma GCC unroll 3
    for (int w = 0; w < kWidth; ++w) {
      std::memcpy(&right[w], b + (p * kWidth + w) * kLanes<T>, sizeof(right[w]));
    }
#pragma GCC unroll 8
    for (int i = 0; i < kHeight; ++i) {
      const T left = a[p * kHeight + i];
#pragma GCC unroll 3
      for (int w = 0; w < kWidth; ++w) sums[i][w] += left * right[w];
    }
  }
  const int64_t lanes = width - (kWidth - 1) * kLanes<T>;
#pragma GCC unroll 8
  for (int i = 0; i < kHeight; ++i) {
    T* const row = c + i * c_row;
#pragma GCC unroll 3
    for (int w = 0; w + 1 < kWidth; ++w)
      Put(sums[i][w], kLanes<T>, row + w * kLanes<T>, accumulate);
    Put(sums[i][kWidth - 1], lanes, row + (kWidth - 1) * kLanes<T>, accumulate);
  }
}

template <class T>
using TileOf = void (*)(const T*, const T*, int64_t, T*, int64_t, int64_t, bool);
// Indexed by (rows - 1) * kVectors + (vectors - 1).
template <class T>
constexpr auto kTiles = []<size_t... I>(std::index_sequence<I...>) {
  return std::array<TileOf<T>, sizeof...(I)>{Tile<T, I / kVectors + 1, I % kVectors + 1>...};
}
(std::make_index_sequence<kRows * kVectors>());

// Computes some rows of C for a block of the inner direction.
template <class T>
void MultiplyBlock(const GemmShape& s, const T* a, const T* b, T* c, bool accumulate) {
  alignas(64) T rows[kMostRows<T> * kDepth];
  alignas(64) T columns[kColumns<T> * kDepth];
  for (int64_t i = 0; i < s.m; i += kRows) {
    Pack(a + i * s.a.row, s.a.row, s.a.col, std::min<int64_t>(kRows, s.m - i), s.k, rows + i * s.k);
  }
  for (int64_t j = 0; j < s.n; j += kColumns<T>) {
    const int64_t width = std::min(kColumns<T>, s.n - j),
                  vectors = (width + kLanes<T> - 1) / kLanes<T>;
    PackColumns(b + j * s.b.col, s.b, width, s.k, columns);
    for (int64_t i = 0; i < s.m; i += kRows) {
      const int64_t height = std::min<int64_t>(kRows, s.m - i);
      const auto tile = static_cast<size_t>((height - 1) * kVectors + vectors - 1);
      kTiles<T>[tile](rows + i * s.k, columns, s.k, c + i * s.c_row + j, s.c_row, width,
                      accumulate);
    }
  }
}

}  // namespace

// Times relative to Eigen's on a Sapphire Rapids core, and in brackets to Eigen's compiled for AVX2
// (A and B lie by rows):
//   m     n     k                            m     n     k
//   512   512   512    0.74-0.81 (0.85)      64    64    9      0.63-0.65
//   1024  1024  1024   0.73-0.89 (0.82)      256   8     8      0.43-0.51
//   64    1024  8192   0.87-0.94 (0.94)      1024  8     1024   0.78-1.00
//   64    576   784    0.83-0.87 (0.89)      4     1024  1024   0.80-1.08
//   17    17    17     0.99-1.09             1024  4     1024   0.88-1.18
bool IsPacked(const GemmShape& s) { return s.m >= 4 && s.n >= kLanes<double>; }

template <class T>
void MultiplyPacked(const GemmShape& s, const T* a, const T* b, T* c, bool accumulate) {
  GemmShape part = s;
  for (int64_t i = 0; i < s.m; i += kMostRows<T>) {
    for (int64_t p = 0; p < s.k; p += kDepth) {
      part.m = std::min(kMostRows<T>, s.m - i);
      part.k = std::min(kDepth, s.k - p);
      MultiplyBlock(part, a + i * s.a.row + p * s.a.col, b + p * s.b.row, c + i * s.c_row,
                    accumulate || p > 0);
    }
  }
}

template void MultiplyPacked(const GemmShape&, const float*, const float*, float*, bool);
template void MultiplyPacked(const GemmShape&, const double*, const double*, double*, bool);

}  // namespace firn::cpu

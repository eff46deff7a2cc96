#ifndef FIRN_TENSOR_KERNELS_CPU_PANELS_H_
#define FIRN_TENSOR_KERNELS_CPU_PANELS_H_

// Matrices in panels, and products of them, for kernels that multiply small matrices which they
// have just made and use several times: such a product has nothing to choose or to pack, and no
// edges, since panels are whole.
//
// A panel is kPanel columns, row after row, two registers each; a matrix is its panels one after
// the other. So a product reads both operands from beginning to end, as one after Goto and van de
// Geijn does ("Anatomy of High-Performance Matrix Multiplication", 2008), and its result is the
// operand of the next one, as it is or transposed.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {

template <class T>
inline constexpr int64_t kPanel = 2 * kSimdLanes<T>;
// Rows of a result that are computed at once: 16 sums in 32 registers, 8 in 16.
inline constexpr int64_t kTileRows = kSimdBytes == 64 ? 8 : 4;
static_assert(kPanel<double> % kTileRows == 0);  // so that a transposed tile lies in one panel

template <class T>
struct Panels {
  T* data = nullptr;
  int64_t rows = 0;  // of every panel

  T* At(int64_t row, int64_t panel) const { return data + (panel * rows + row) * kPanel<T>; }
  // From one panel to the next.
  int64_t jump() const { return rows * kPanel<T>; }
};
// How many numbers such a matrix holds.
template <class T>
int64_t PanelsSize(int64_t rows, int64_t columns) {
  return rows * RoundUp(columns, kPanel<T>);
}

namespace internal {

// The sums of a tile, as single variables so that they stay in registers.
template <class T>
FIRN_ALWAYS_INLINE void StartSums(const T* c, bool accumulate, Vec<T> (&sums)[kTileRows][2]) {
#pragma GCC unroll 8
  for (int64_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 2
    for (int64_t w = 0; w < 2; ++w) {
      sums[i][w] = Vec<T>{};
      if (accumulate) std::memcpy(&sums[i][w], c + (2 * i + w) * kSimdLanes<T>, kSimdBytes);
    }
  }
}
template <class T>
FIRN_ALWAYS_INLINE void StoreSums(const Vec<T> (&sums)[kTileRows][2], T* c) {
#pragma GCC unroll 8
  for (int64_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 2
    for (int64_t w = 0; w < 2; ++w) {
      std::memcpy(c + (2 * i + w) * kSimdLanes<T>, &sums[i][w], kSimdBytes);
    }
  }
}

// sums[i] += a(i, p) b(p) for p < n, where a(i, p) is a[i * kRow + p * kStep].
template <int64_t kRow, int64_t kStep, class T>
FIRN_ALWAYS_INLINE void AddProducts(Vec<T> (&sums)[kTileRows][2], const T* a, const T* b,
                                    int64_t n) {
  for (int64_t p = 0; p < n; ++p) {
    Vec<T> right[2];
    std::memcpy(&right[0], b + p * kPanel<T>, kSimdBytes);
    std::memcpy(&right[1], b + p * kPanel<T> + kSimdLanes<T>, kSimdBytes);
#pragma GCC unroll 8
    for (int64_t i = 0; i < kTileRows; ++i) {
      const T left = a[i * kRow + p * kStep];
      sums[i][0] += left * right[0];
      sums[i][1] += left * right[1];
    }
  }
}

}  // namespace internal

// A tile of C = A B or C += A B: kTileRows rows of a panel. `a` is the start of A's first row, `b`
// the start of B's panel, `depth` the inner size.
template <class T>
FIRN_NOINLINE void MultiplyTile(const T* a, int64_t a_jump, const T* b, int64_t depth, T* c,
                                bool accumulate) {
  Vec<T> sums[kTileRows][2];
  internal::StartSums(c, accumulate, sums);
  for (int64_t p = 0; p < depth; p += kPanel<T>, a += a_jump) {
    const int64_t n = std::min(kPanel<T>, depth - p);
    internal::AddProducts<kPanel<T>, 1>(sums, a, b + p * kPanel<T>, n);
  }
  internal::StoreSums(sums, c);
}
// The same of C = A^T B: `a` is the start of the first of kTileRows columns of A.
template <class T>
FIRN_NOINLINE void MultiplyTurned(const T* a, const T* b, int64_t depth, T* c, bool accumulate) {
  Vec<T> sums[kTileRows][2];
  internal::StartSums(c, accumulate, sums);
  internal::AddProducts<1, kPanel<T>>(sums, a, b, depth);
  internal::StoreSums(sums, c);
}

// Elements (i, j) of a matrix in memory, `offset + i * row + j * column`.
template <class Acc>
struct MatrixIn {
  const RowsIn<Acc>& from;
  int64_t offset, row, column;
};

namespace internal {

// Copies columns [j, j + n) of a matrix whose rows are not contiguous to a panel.
template <class Acc>
void PackTurned(const MatrixIn<Acc>& m, int64_t j, int64_t n, int64_t rows, Acc* to) {
  constexpr int64_t kSome = 64, kWidth = kPanel<Acc>;
  Acc tile[kWidth * kSome];
  for (int64_t i = 0; i < rows; i += kSome) {
    const int64_t some = std::min(kSome, rows - i);
    const int64_t first = m.offset + i * m.row + j * m.column;
    const Acc* from = tile;
    int64_t step = kSome;
    if (m.row == 1 && !m.from.converted()) {
      from = m.from.At(first, 1, tile);
      step = m.column;
    } else {
      for (int64_t c = 0; c < n; ++c) {
        const Runs runs = m.row == 1 ? Runs{1, some, 0, 0} : Runs{some, 1, m.row, 1};
        m.from.Load(first + c * m.column, runs, tile + c * kSome);
      }
    }
    inner::internal::CopyTransposed(n, some, sizeof(Acc), from, step, to + i * kWidth, kWidth);
  }
}

}  // namespace internal

// The matrix in panels of `to.rows` rows; zeros where it has no elements.
template <class Acc>
void Pack(const MatrixIn<Acc>& m, int64_t rows, int64_t columns, const Panels<Acc>& to) {
  constexpr int64_t kWidth = kPanel<Acc>;
  for (int64_t j = 0, panel = 0; j < columns; j += kWidth, ++panel) {
    const int64_t n = std::min(kWidth, columns - j);
    Acc* const first = to.At(0, panel);
    if (n < kWidth) std::fill_n(first, rows * kWidth, Acc{0});
    if (m.column == 1 && n == kWidth && !m.from.converted()) {  // without calls, row by row
      const Acc* from = m.from.At(m.offset + j, n, first);
      for (int64_t i = 0; i < rows; ++i, from += m.row) {
        std::memcpy(first + i * kWidth, from, kWidth * sizeof(Acc));
      }
    } else if (m.column == 1) {
      for (int64_t i = 0; i < rows; ++i) {
        m.from.Load(m.offset + i * m.row + j, n, first + i * kWidth);
      }
    } else {
      internal::PackTurned(m, j, n, rows, first);
    }
    std::fill_n(first + rows * kWidth, (to.rows - rows) * kWidth, Acc{0});
  }
}

// Copies rows of panels, times a factor for each, to their places by `to`: row i begins at offset +
// i * row.
template <class Acc, class F>
void Unpack(const Panels<Acc>& from, int64_t rows, int64_t columns, const RowsOut<Acc>& to,
            int64_t offset, int64_t row, const F& factor) {
  constexpr int64_t kWidth = kPanel<Acc>;
  for (int64_t i = 0; i < rows; ++i) {
    const Acc scale = factor(i);
    for (int64_t j = 0, panel = 0; j < columns; j += kWidth, ++panel) {
      const Acc* const values = from.At(i, panel);
      const int64_t at = offset + i * row + j, n = std::min(kWidth, columns - j);
      alignas(64) Acc tile[kWidth];
      Acc* const scaled = n == kWidth ? to.At(at, tile) : tile;
      FIRN_INDEPENDENT_STEPS
      for (int64_t l = 0; l < kWidth; ++l) scaled[l] = values[l] * scale;
      if (scaled == tile) to.Store(at, n, tile);
    }
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_PANELS_H_

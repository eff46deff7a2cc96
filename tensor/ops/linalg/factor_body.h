#ifndef FIRN_TENSOR_OPS_LINALG_FACTOR_BODY_H_
#define FIRN_TENSOR_OPS_LINALG_FACTOR_BODY_H_

// Triangles and factorisations of one row-major matrix, in place, on the CPU.
//
// Every loop runs along rows, which are contiguous in memory: where LAPACK works by columns, this
// uses the other triangle. Matrices beyond kBlock are cut into blocks of that many rows, so that
// nearly all work is products of matrices (Gemm), which use the free threads: several for a single
// matrix, only the calling one inside a batch.
//
// Eigen's decompositions are not used: they allocate (and unwind when they cannot), which kernels
// never do.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/tensor/kernels/cpu/gemm.h"
#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Rows of a block.
inline constexpr int64_t kBlock = 64;

// y += scale * x
template <class T>
void AddScaled(int64_t n, T scale, const T* x, T* y) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) y[i] += scale * x[i];
}

// y -= the sum of a(j) times row j of x, for the 4 rows from x on: y is read and written once.
template <class T>
void SubtractFour(int64_t n, const T (&a)[4], const T* x, int64_t x_row, T* y) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) {
    y[i] -= a[0] * x[i] + a[1] * x[x_row + i] + (a[2] * x[2 * x_row + i] + a[3] * x[3 * x_row + i]);
  }
}

template <class T>
T Dot(int64_t n, const T* x, const T* y) {
  T sum = 0;
  FIRN_SUMS_IN_ANY_ORDER(sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// to = from transposed; `rows` and `columns` are those of `from`.
template <class T>
void TransposeTo(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kTile = 16;
  for (int64_t i = 0; i < rows; i += kTile) {
    for (int64_t j = 0; j < columns; j += kTile) {
      const int64_t last = std::min(rows, i + kTile), right = std::min(columns, j + kTile);
      for (int64_t r = i; r < last; ++r) {
        for (int64_t c = j; c < right; ++c) to[c * rows + r] = from[r * columns + c];
      }
    }
  }
}

template <class T>
void TransposeInPlace(T* a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) std::swap(a[i * n + j], a[j * n + i]);
  }
}

// C -= A B. `negated` has room for A.
template <class T>
void SubtractProduct(const GemmShape& s, const T* a, const T* b, T* c, T* negated) {
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t p = 0; p < s.k; ++p) negated[i * s.k + p] = -a[i * s.a.row + p * s.a.col];
  }
  GemmShape by_rows = s;
  by_rows.a = {s.k, 1};
  Gemm<T>(by_rows, negated, b, c, /*accumulate=*/true, nullptr);
}

// --- Triangular systems --------------------------------------------------------------------------

// A triangle in memory; the elements beyond it are not read, nor is the diagonal of a unit one.
template <class T>
struct Triangle {
  const T* at;
  MatrixStrides step;
  bool upper, unit = false;

  T operator()(int64_t i, int64_t j) const { return at[i * step.row + j * step.col]; }
  Triangle Block(int64_t i) const { return {at + i * (step.row + step.col), step, upper, unit}; }
};

template <class T>
void SolveTriangularBlock(const Triangle<T>& a, int64_t n, int64_t columns, T* x, int64_t x_row) {
  for (int64_t k = 0; k < n; ++k) {
    const int64_t i = a.upper ? n - 1 - k : k;
    T* const own = x + i * x_row;
    const int64_t end = a.upper ? n : i;
    int64_t j = a.upper ? i + 1 : 0;
    for (; j + 4 <= end; j += 4) {
      const T four[4] = {a(i, j), a(i, j + 1), a(i, j + 2), a(i, j + 3)};
      SubtractFour(columns, four, x + j * x_row, x_row, own);
    }
    for (; j < end; ++j) AddScaled(columns, -a(i, j), x + j * x_row, own);
    if (a.unit) continue;
    const T pivot = a(i, i);
    for (int64_t c = 0; c < columns; ++c) own[c] /= pivot;
  }
}

// Elements of scratch for SolveTriangularInPlace.
inline int64_t SolveScratch(int64_t n) { return kBlock * n; }

// Solves A X = B for X, which overwrites B: [n][columns], rows `x_row` apart.
template <class T>
void SolveTriangularInPlace(const Triangle<T>& a, int64_t n, int64_t columns, T* x, int64_t x_row,
                            T* scratch) {
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  for (int64_t k = 0; k < blocks; ++k) {
    const int64_t begin = (a.upper ? blocks - 1 - k : k) * kBlock;
    const int64_t rows = std::min(kBlock, n - begin);
    const int64_t from = a.upper ? begin + rows : 0, solved = a.upper ? n - from : begin;
    if (solved > 0) {
      SubtractProduct<T>({rows, columns, solved, a.step, {x_row, 1}, x_row},
                         a.at + begin * a.step.row + from * a.step.col, x + from * x_row,
                         x + begin * x_row, scratch);
    }
    SolveTriangularBlock(a.Block(begin), rows, columns, x + begin * x_row, x_row);
  }
}

// The first row whose element on the diagonal is 0; -1: none.
template <class T>
int64_t FirstZeroPivot(const Triangle<T>& a, int64_t n) {
  for (int64_t i = 0; !a.unit && i < n; ++i) {
    if (a(i, i) == T(0)) return i;
  }
  return -1;
}

// --- Cholesky ------------------------------------------------------------------------------------

// U with U^T U = A of the upper triangle of a block; returns -1, or the row whose pivot is not
// positive.
template <class T>
int64_t CholeskyBlock(T* a, int64_t n, int64_t row) {
  for (int64_t k = 0; k < n; ++k) {
    T* const own = a + k * row;
    if (!(own[k] > T(0)) || !(own[k] <= std::numeric_limits<T>::max())) return k;
    const T pivot = std::sqrt(own[k]);
    own[k] = pivot;
    for (int64_t j = k + 1; j < n; ++j) own[j] /= pivot;
    for (int64_t i = k + 1; i < n; ++i) AddScaled(n - i, -own[i], own + i, a + i * row + i);
  }
  return -1;
}

// Elements of scratch for CholeskyInPlace.
inline int64_t CholeskyScratch() { return kBlock * kBlock; }

// The same for a whole matrix, of which only the upper triangle is read. Elements below it become
// undefined.
template <class T>
int64_t CholeskyInPlace(T* a, int64_t n, T* scratch) {
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t rows = std::min(kBlock, n - begin), end = begin + rows;
    const int64_t bad = CholeskyBlock(a + begin * n + begin, rows, n);
    if (bad >= 0) return begin + bad;
    if (end == n) break;
    // Computes the block row to the right, then subtracts its products from the rows below, a block
    // row at a time, only in the triangle.
    SolveTriangularBlock(Triangle<T>{a + begin * n + begin, {1, n}, false}, rows, n - end,
                         a + begin * n + end, n);
    for (int64_t i = end; i < n; i += kBlock) {
      const int64_t height = std::min(kBlock, n - i);
      SubtractProduct<T>({height, n - i, rows, {1, n}, {n, 1}, n}, a + begin * n + i,
                         a + begin * n + i, a + i * n + i, scratch);
    }
  }
  return -1;
}

// --- LU ------------------------------------------------------------------------------------------

template <class T>
void SwapRows(T* a, int64_t row, int64_t i, int64_t j, int64_t from, int64_t to) {
  if (i != j) std::swap_ranges(a + i * row + from, a + i * row + to, a + j * row + from);
}

// Factors columns [begin, end) of rows from `begin` on, in place. pivots[k] is the row that was
// exchanged with row k.
template <class T>
void LuOfFewRows(T* a, int64_t n, int64_t begin, int64_t end, int32_t* pivots) {
  for (int64_t k = begin; k < end; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    }
    pivots[k] = static_cast<int32_t>(best);
    SwapRows(a, n, k, best, begin, end);
    const T pivot = a[k * n + k];
    if (pivot == T(0)) continue;  // nothing below it either
    for (int64_t i = k + 1; i < n; ++i) {
      const T factor = a[i * n + k] / pivot;
      a[i * n + k] = factor;
      AddScaled(end - k - 1, -factor, a + k * n + k + 1, a + i * n + k + 1);
    }
  }
}

// The first of the elements that are largest in magnitude; 0 where all are 0 or NaN.
template <class T>
int64_t PlaceOfLargest(const T* x, int64_t n) {
  constexpr int64_t kLanes = 16;
  T lanes[kLanes] = {}, largest = 0;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) {
      const T size = std::abs(x[i + l]);
      lanes[l] = size > lanes[l] ? size : lanes[l];
    }
  }
  for (; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  for (const T lane : lanes) largest = std::max(largest, lane);
  if (largest == T(0)) return 0;
  i = 0;
  while (std::abs(x[i]) != largest) ++i;
  return i;
}

// The number of columns of a panel that are copied to `strip` and factored there, so that each step
// runs along contiguous memory in cache; the panel's other columns are then read once, and not
// eight times. With few rows the copies do not pay.
inline constexpr int64_t kStrip = 8, kFewRows = 32;

// L and U of columns that are `rows` elements long, one behind the other. pivots[k] is the row that
// was exchanged with row k.
template <class T>
void LuStrip(T* strip, int64_t rows, int64_t columns, int32_t* pivots) {
  for (int64_t k = 0; k < columns; ++k) {
    T* const own = strip + k * rows;
    const int64_t best = k + PlaceOfLargest(own + k, rows - k);
    pivots[k] = static_cast<int32_t>(best);
    for (int64_t c = 0; c < columns; ++c) std::swap(strip[c * rows + k], strip[c * rows + best]);
    const T pivot = own[k];
    if (pivot == T(0)) continue;  // nothing below it either
    const int64_t below = rows - k - 1;
    for (int64_t i = 0; i < below; ++i) own[k + 1 + i] /= pivot;
    for (int64_t c = k + 1; c < columns; ++c) {
      T* const other = strip + c * rows + k;
      AddScaled(below, -other[0], own + k + 1, other + 1);
    }
  }
}

// The same as LuOfFewRows, with `strip`, which has room for kStrip columns.
template <class T>
void LuPanel(T* a, int64_t n, int64_t begin, int64_t end, int32_t* pivots, T* strip) {
  if (n - begin <= kFewRows) return LuOfFewRows(a, n, begin, end, pivots);
  for (int64_t first = begin; first < end; first += kStrip) {
    const int64_t last = std::min(end, first + kStrip), rows = n - first, columns = last - first;
    T* const corner = a + first * n + first;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < columns; ++c) strip[c * rows + i] = corner[i * n + c];
    }
    LuStrip(strip, rows, columns, pivots + first);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < columns; ++c) corner[i * n + c] = strip[c * rows + i];
    }
    for (int64_t k = first; k < last; ++k) {
      pivots[k] += static_cast<int32_t>(first);
      SwapRows(a, n, k, pivots[k], begin, first);
      SwapRows(a, n, k, pivots[k], last, end);
    }
    const int64_t rest = end - last;
    if (rest == 0) break;  // so that strips are kStrip wide below
    SolveTriangularBlock(Triangle<T>{corner, {n, 1}, false, true}, columns, rest, corner + columns,
                         n);
    for (int64_t i = columns; i < rows; ++i) {
      T* const row = corner + i * n;
      for (int64_t j = 0; j < kStrip; j += 4) {
        const T four[4] = {row[j], row[j + 1], row[j + 2], row[j + 3]};
        SubtractFour(rest, four, corner + j * n + columns, n, row + columns);
      }
    }
  }
}

// Elements of scratch for LuInPlace.
inline int64_t LuScratch(int64_t n) { return kBlock * n; }

// P A = L U with partial pivoting: L, whose diagonal is 1, is stored below U.
template <class T>
void LuInPlace(T* a, int64_t n, int32_t* pivots, T* scratch) {
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock), rows = end - begin;
    LuPanel(a, n, begin, end, pivots, scratch);
    for (int64_t k = begin; k < end; ++k) {
      SwapRows(a, n, k, pivots[k], 0, begin);
      SwapRows(a, n, k, pivots[k], end, n);
    }
    if (end == n) break;
    SolveTriangularBlock(Triangle<T>{a + begin * n + begin, {n, 1}, false, true}, rows, n - end,
                         a + begin * n + end, n);
    SubtractProduct<T>({n - end, n - end, rows, {n, 1}, {n, 1}, n}, a + end * n + begin,
                       a + begin * n + end, a + end * n + end, scratch);
  }
}

// Solves A X = B with the factors; X overwrites B: [n][columns].
template <class T>
void LuSolve(const T* lu, int64_t n, const int32_t* pivots, int64_t columns, T* x, T* scratch) {
  for (int64_t k = 0; k < n; ++k) SwapRows(x, columns, k, pivots[k], 0, columns);
  SolveTriangularInPlace(Triangle<T>{lu, {n, 1}, false, true}, n, columns, x, columns, scratch);
  SolveTriangularInPlace(Triangle<T>{lu, {n, 1}, true}, n, columns, x, columns, scratch);
}

// y = inv(A), or its transpose, from the factors: inv(U) inv(L) P.
template <class T>
void LuInverse(const T* lu, int64_t n, const int32_t* pivots, bool transposed, T* y, T* scratch) {
  const MatrixStrides step = transposed ? MatrixStrides{1, n} : MatrixStrides{n, 1};
  const Triangle<T> lower{lu, step, false, !transposed}, upper{lu, step, true, transposed};
  std::fill_n(y, n * n, T(0));
  for (int64_t i = 0; i < n; ++i) y[i * (n + 1)] = 1;
  // A lower triangle's inverse is lower triangular: columns to the right of a block stay 0.
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t rows = std::min(kBlock, n - begin);
    if (begin > 0) {
      SubtractProduct<T>({rows, begin, begin, step, {n, 1}, n}, lu + begin * step.row, y,
                         y + begin * n, scratch);
    }
    SolveTriangularBlock(lower.Block(begin), rows, begin + rows, y + begin * n, n);
  }
  SolveTriangularInPlace(upper, n, n, y, n, scratch);
  if (transposed) {
    for (int64_t k = n - 1; k >= 0; --k) SwapRows(y, n, k, pivots[k], 0, n);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = n - 1; k >= 0; --k) std::swap(y[i * n + k], y[i * n + pivots[k]]);
  }
}

// 1 or -1: the determinant of P.
template <class T>
T SignOfPivots(const int32_t* pivots, int64_t n) {
  T sign = 1;
  for (int64_t k = 0; k < n; ++k) sign = pivots[k] == k ? sign : -sign;
  return sign;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_LINALG_FACTOR_BODY_H_

#ifndef FIRN_TENSOR_OPS_LINALG_SVD_BODY_H_
#define FIRN_TENSOR_OPS_LINALG_SVD_BODY_H_

// Singular values of a matrix, in scratch memory, on the CPU.
//
// They are found by one-sided Jacobi rotations of the triangle of a QR decomposition (Drmac and
// Veselic, "New fast and accurate Jacobi SVD algorithm", 2008): with A = Q R and R^T J = W of
// orthogonal columns, A = (Q J) diag(|w_i|) (w_i / |w_i|)^T. From kEigenFirst columns on J starts
// with the eigenvectors of R R^T, which leave W orthogonal except for rounding and small values, so
// that a few sweeps are enough. Vectors are rows here, as in eigh_body.h.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "firn/tensor/ops/linalg/eigh_body.h"

namespace firn::cpu {

// The limit of sweeps over all pairs of columns: all finite matrices need fewer than twelve.
inline constexpr int kMostSweeps = 48;

// The number of rows that are rotated with each other before others, so that they stay in cache.
inline constexpr int64_t kJacobiRows = 16;

// Makes rows p and q of w orthogonal, unless they are, and rotates those of j in the same way;
// returns the cosine of their angle, or 0 where it is small enough.
template <class T>
T JacobiRotation(T* w, T* j, int64_t count, int64_t p, int64_t q, T enough, T zero, T* squares) {
  if (squares[p] <= zero || squares[q] <= zero) return 0;
  const T product = Dot(count, w + p * count, w + q * count);
  const T cosine = std::abs(product) / std::sqrt(squares[p]) / std::sqrt(squares[q]);
  if (!(cosine > enough)) return 0;
  const T zeta = (squares[q] - squares[p]) / (2 * product);
  const T t = std::copysign(1 / (std::abs(zeta) + std::hypot(T(1), zeta)), zeta);
  const T c = 1 / std::sqrt(1 + t * t), s = c * t;
  Rotate(count, c, s, w + p * count, w + q * count);
  Rotate(count, c, s, j + p * count, j + q * count);
  squares[p] = std::max(T(0), squares[p] - t * product);
  squares[q] += t * product;
  return cosine;
}

// Rotates pairs of the `count` rows of w until they are orthogonal, and rotates those of j in the
// same way.
// `squares` gets the squares of their lengths.
template <class T>
bool JacobiSweeps(T* w, T* j, int64_t count, T* squares) {
  const T eps = std::numeric_limits<T>::epsilon();
  const T enough = eps * std::sqrt(static_cast<T>(count));
  // Rows whose squares are subnormal count as zeros next to the others.
  const T zero = std::numeric_limits<T>::min() / eps / eps;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    for (int64_t p = 0; p < count; ++p) squares[p] = Dot(count, w + p * count, w + p * count);
    T worst = 0;
    for (int64_t left = 0; left < count; left += kJacobiRows) {
      for (int64_t right = left; right < count; right += kJacobiRows) {
        const int64_t last = std::min(count, right + kJacobiRows);
        for (int64_t p = left; p < std::min(count, left + kJacobiRows); ++p) {
          for (int64_t q = std::max(p + 1, right); q < last; ++q) {
            worst = std::max(worst, JacobiRotation(w, j, count, p, q, enough, zero, squares));
          }
        }
      }
    }
    if (worst == T(0)) return true;
  }
  return false;
}

// Makes rows [from, n) of w, [n][n], orthonormal to the first ones and each other. `left` has room
// for n numbers: the part of each unit vector that is orthogonal to the rows before.
template <class T>
void CompleteRows(T* w, int64_t n, int64_t from, T* left) {
  std::fill_n(left, n, T(1));
  for (int64_t k = 0; k < n; ++k) {
    T* const own = w + k * n;
    if (k >= from) {
      const int64_t best = std::max_element(left, left + n) - left;
      std::fill_n(own, n, T(0));
      own[best] = 1;
      for (int twice = 0; twice < 2; ++twice) {
        for (int64_t p = 0; p < k; ++p) AddScaled(n, -Dot(n, own, w + p * n), w + p * n, own);
        const T length = std::sqrt(Dot(n, own, own));
        for (int64_t i = 0; i < n; ++i) own[i] /= length;
      }
    }
    for (int64_t i = 0; i < n; ++i) left[i] -= own[i] * own[i];
  }
}

// Columns for which eigenvectors are found sooner than sweeps save.
inline constexpr int64_t kEigenFirst = 32;

// For a matrix of `rows` x `columns`, rows >= columns.
template <class T>
struct SvdScratch {
  static int64_t Elements(int64_t rows, int64_t columns, int64_t width) {
    const int64_t eigen = columns < kEigenFirst ? 0 : EighScratch<T>::Elements(columns);
    return eigen + rows * columns + 3 * columns * columns + 4 * columns + rows * width +
           ReflectorScratch<T>::Elements(rows, std::max(columns, width));
  }
  SvdScratch(T* at, int64_t rows, int64_t columns, int64_t width)
      : a(at),
        r(a + rows * columns),
        j(r + columns * columns),
        sorted(j + columns * columns),
        tau(sorted + columns * columns),
        squares(tau + columns),
        left(squares + columns),
        order(left + columns),
        q(order + columns),
        reflectors(q + rows * width, rows, std::max(columns, width)),
        eigen(q + rows * width + ReflectorScratch<T>::Elements(rows, std::max(columns, width))) {}
  T *a, *r, *j, *sorted, *tau, *squares, *left, *order, *q;
  ReflectorScratch<T> reflectors;
  T* eigen;
};

// Sets rows j and r = j r for the Jacobi sweeps: a unit matrix, or eigenvectors of r r^T.
template <class T>
void StartOfSweeps(int64_t n, const SvdScratch<T>& w) {
  SetToUnit(w.j, n, n);
  if (n < kEigenFirst) return;
  TransposeTo(w.r, n, n, w.q);
  Gemm<T>({n, n, n, {n, 1}, {n, 1}, n}, w.r, w.q, w.sorted, false, nullptr);
  if (!Eigh(w.sorted, n, w.squares, w.j, w.eigen)) return SetToUnit(w.j, n, n);
  TransposeInPlace(w.j, n);
  Gemm<T>({n, n, n, {n, 1}, {n, 1}, n}, w.j, w.r, w.sorted, false, nullptr);
  std::copy_n(w.sorted, n * n, w.r);
}

// Singular values of the tall matrix that stands in w.a, in descending order. Then w.q has the left
// vectors as its `width` columns (`columns`, or `rows` for all), and w.sorted the right ones as
// rows. Returns false if its elements are not finite.
template <class T>
bool Svd(int64_t rows, int64_t columns, int64_t width, T* values, const SvdScratch<T>& w) {
  const int64_t n = columns;
  const T largest = LargestElement(w.a, rows * n);
  if (!(largest <= std::numeric_limits<T>::max())) return false;
  const T scale = largest > T(0) ? largest : T(1);
  for (int64_t i = 0; i < rows * n; ++i) w.a[i] /= scale;
  QrInPlace(w.a, rows, n, w.tau, w.reflectors);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) w.r[i * n + j] = j < i ? T(0) : w.a[i * n + j];
  }
  StartOfSweeps(n, w);
  if (!JacobiSweeps(w.r, w.j, n, w.squares)) return false;
  for (int64_t i = 0; i < n; ++i) w.squares[i] = std::sqrt(Dot(n, w.r + i * n, w.r + i * n));
  int32_t* const order = reinterpret_cast<int32_t*>(w.order);
  OrderOf(n, order, [&](int32_t i, int32_t j) {
    return w.squares[i] != w.squares[j] ? w.squares[i] > w.squares[j] : i < j;
  });
  const T zero = std::sqrt(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon();
  int64_t rank = 0;
  for (int64_t k = 0; k < n; ++k) {
    const T length = w.squares[order[k]];
    values[k] = scale * length;
    if (length <= zero) continue;
    rank = k + 1;
    for (int64_t i = 0; i < n; ++i) w.sorted[k * n + i] = w.r[order[k] * n + i] / length;
  }
  if (rank < n) CompleteRows(w.sorted, n, rank, w.left);
  SetToUnit(w.q, rows, width);
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = 0; i < n; ++i) w.q[i * width + k] = w.j[order[k] * n + i];
  }
  MultiplyByQ(w.a, rows, n, w.tau, false, w.q, width, w.reflectors);
  return true;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_LINALG_SVD_BODY_H_

#ifndef FIRN_TENSOR_OPS_LINALG_SPECTRAL_BODY_H_
#define FIRN_TENSOR_OPS_LINALG_SPECTRAL_BODY_H_

// Eigenvalues of a symmetric matrix and singular values, in scratch memory, on the CPU.
//
// Symmetric matrices become tridiagonal by reflectors, and diagonal by the implicit QL method
// (EISPACK's imtql2; Dubrulle, Martin and Wilkinson, 1968). The rotations of one step are applied
// together, to some columns at a time, which stay in cache and which threads share.
//
// Singular values are found by one-sided Jacobi rotations of the triangle of a QR decomposition
// (Drmac and Veselic, "New fast and accurate Jacobi SVD algorithm", 2008), which are exact to the
// last digits also for small values: with A = Q R and R^T J = W of orthogonal columns,
// A = (Q J) diag(|w_i|) (w_i / |w_i|)^T.
//
// Vectors are rows here, so that every rotation runs along memory. Signs are free; so that results
// are the same on every device and processor, the largest element of a vector is positive.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "firn/device/parallel.h"
#include "firn/tensor/ops/linalg/qr_body.h"

namespace firn::cpu {

// Steps for one eigenvalue, and sweeps over all pairs of columns: both are below ten for all but
// numbers that are not finite.
inline constexpr int kMostSteps = 64, kMostSweeps = 48;

template <class T>
T LargestElement(const T* a, int64_t n) {
  T largest = 0;
  bool finite = true;
  for (int64_t i = 0; i < n; ++i) {
    finite = finite && std::abs(a[i]) <= std::numeric_limits<T>::max();
    largest = std::max(largest, std::abs(a[i]));
  }
  return finite ? largest : std::numeric_limits<T>::infinity();
}

// -1 where the first of the elements that are largest in magnitude is negative, else 1.
template <class T>
T SignOf(const T* x, int64_t n) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (std::abs(x[i]) > std::abs(largest)) largest = x[i];
  }
  return largest < T(0) ? T(-1) : T(1);
}

// x, y = c x - s y, s x + c y
template <class T>
void Rotate(int64_t n, T c, T s, T* x, T* y) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) {
    const T u = x[i], v = y[i];
    x[i] = c * u - s * v;
    y[i] = s * u + c * v;
  }
}

// --- Symmetric matrices --------------------------------------------------------------------------

// What is needed beside the matrix: z [n][n] and seven vectors.
template <class T>
struct EighScratch {
  static int64_t Elements(int64_t n) { return n * n + 7 * n; }
  EighScratch(T* at, int64_t n)
      : z(at), d(z + n * n), e(d + n), tau(e + n), p(tau + n), c(p + n), s(c + n), order(s + n) {}
  T *z, *d, *e, *tau, *p, *c, *s, *order;
};

// Leaves the diagonals in d and e, and in row k of a the reflector that zeroed it.
template <class T>
void Tridiagonalize(T* a, int64_t n, const EighScratch<T>& w) {
  for (int64_t k = 0; k + 1 < n; ++k) {
    const int64_t size = n - k - 1;
    T* const v = a + k * n + k + 1;
    w.d[k] = a[k * n + k];
    const T tau = w.tau[k] = MakeReflector(v, 1, size);
    w.e[k] = v[0];
    v[0] = 1;
    if (tau == T(0)) continue;
    for (int64_t i = 0; i < size; ++i) w.p[i] = tau * Dot(size, a + (k + 1 + i) * n + k + 1, v);
    AddScaled(size, -tau / 2 * Dot(size, w.p, v), v, w.p);
    for (int64_t i = 0; i < size; ++i) {
      T* const row = a + (k + 1 + i) * n + k + 1;
      const T vi = v[i], pi = w.p[i];
      FIRN_INDEPENDENT_STEPS
      for (int64_t j = 0; j < size; ++j) row[j] -= vi * w.p[j] + pi * v[j];
    }
  }
  w.d[n - 1] = a[n * n - 1];
  w.e[n - 1] = 0;
  // z = H[n - 2] ... H[0], the transposed of what the tridiagonal matrix is multiplied by.
  SetToUnit(w.z, n, n);
  for (int64_t k = n - 2; k >= 0; --k) {
    const int64_t size = n - k - 1;
    if (w.tau[k] == T(0)) continue;
    const T* const v = a + k * n + k + 1;
    for (int64_t i = k + 1; i < n; ++i) {
      T* const row = w.z + i * n + k + 1;
      AddScaled(size, -w.tau[k] * Dot(size, row, v), v, row);
    }
  }
}

// Rotations c[i], s[i] of rows i and i + 1 of z, from i = end - 1 down to `begin`.
template <class T>
void RotateRows(T* z, int64_t n, const T* c, const T* s, int64_t begin, int64_t end) {
  constexpr int64_t kTile = 128;
  const int64_t tiles = (n + kTile - 1) / kTile;
  const int64_t grain = std::max<int64_t>(1, 32768 / (kTile * (end - begin)));
  ParallelFor(tiles, grain, [&](int64_t first, int64_t last) {
    for (int64_t tile = first; tile < last; ++tile) {
      const int64_t at = tile * kTile, width = std::min(kTile, n - at);
      for (int64_t i = end - 1; i >= begin; --i) {
        Rotate(width, c[i], s[i], z + i * n + at, z + (i + 1) * n + at);
      }
    }
  });
}

// One step of the implicit QL method on rows [l, m] of the tridiagonal matrix.
template <class T>
void QlStep(int64_t l, int64_t m, int64_t n, const EighScratch<T>& w) {
  T *const d = w.d, *const e = w.e;
  T g = (d[l + 1] - d[l]) / (2 * e[l]);
  g = d[m] - d[l] + e[l] / (g + std::copysign(std::hypot(g, T(1)), g));
  T s = 1, c = 1, p = 0;
  int64_t i = m - 1;
  for (; i >= l; --i) {
    const T f = s * e[i], b = c * e[i], r = std::hypot(f, g);
    e[i + 1] = r;
    if (r == T(0)) {  // it falls apart here
      d[i + 1] -= p;
      e[m] = 0;
      break;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    const T q = (d[i] - g) * s + 2 * c * b;
    p = s * q;
    d[i + 1] = g + p;
    g = c * q - b;
    w.c[i] = c;
    w.s[i] = s;
  }
  if (i + 1 < m) RotateRows(w.z, n, w.c, w.s, i + 1, m);
  if (i >= l) return;
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

template <class T>
bool Diagonalize(int64_t n, const EighScratch<T>& w) {
  for (int64_t l = 0; l < n; ++l) {
    for (int step = 0;; ++step) {
      int64_t m = l;
      while (m + 1 < n && std::abs(w.e[m]) > std::numeric_limits<T>::epsilon() *
                                                 (std::abs(w.d[m]) + std::abs(w.d[m + 1]))) {
        ++m;
      }
      if (m == l) break;
      if (step == kMostSteps) return false;
      QlStep(l, m, n, w);
    }
  }
  return true;
}

// 0, 1, ... in the order of `less`, by insertion into halves: nothing is allocated.
template <class Less>
void OrderOf(int64_t n, int32_t* order, const Less& less) {
  for (int64_t i = 0; i < n; ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order, order + n, [&](int32_t i, int32_t j) { return less(i, j); });
}

// The eigenvalues in ascending order, and the vectors as columns. `a`, [n][n] and symmetric, is
// overwritten. False: its elements are not finite.
template <class T>
bool Eigh(T* a, int64_t n, T* values, T* vectors, T* scratch) {
  if (n == 0) return true;
  const EighScratch<T> w(scratch, n);
  const T largest = LargestElement(a, n * n);
  if (!(largest <= std::numeric_limits<T>::max())) return false;
  const T scale = largest > T(0) ? largest : T(1);  // nothing overflows on the way
  for (int64_t i = 0; i < n * n; ++i) a[i] /= scale;
  Tridiagonalize(a, n, w);
  if (!Diagonalize(n, w)) return false;
  int32_t* const order = reinterpret_cast<int32_t*>(w.order);
  OrderOf(n, order,
          [&](int32_t i, int32_t j) { return w.d[i] != w.d[j] ? w.d[i] < w.d[j] : i < j; });
  for (int64_t j = 0; j < n; ++j) {
    T* const z = w.z + order[j] * n;
    values[j] = scale * w.d[order[j]];
    const T sign = SignOf(z, n);
    for (int64_t i = 0; i < n; ++i) z[i] *= sign;
    std::copy_n(z, n, a + j * n);
  }
  TransposeTo(a, n, n, vectors);
  return true;
}

// --- Singular values -----------------------------------------------------------------------------

// Rotates pairs of the `count` rows of w until they are orthogonal, and those of j alike.
// `squares` gets the squares of their lengths.
template <class T>
bool JacobiSweeps(T* w, T* j, int64_t count, T* squares) {
  const T eps = std::numeric_limits<T>::epsilon();
  const T enough = eps * std::sqrt(static_cast<T>(count));
  // Rows whose squares are no normal numbers are zeros beside the others.
  const T zero = std::numeric_limits<T>::min() / eps / eps;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    for (int64_t p = 0; p < count; ++p) squares[p] = Dot(count, w + p * count, w + p * count);
    T worst = 0;
    for (int64_t p = 0; p + 1 < count; ++p) {
      for (int64_t q = p + 1; q < count; ++q) {
        if (squares[p] <= zero || squares[q] <= zero) continue;
        const T product = Dot(count, w + p * count, w + q * count);
        const T cosine = std::abs(product) / std::sqrt(squares[p]) / std::sqrt(squares[q]);
        if (!(cosine > enough)) continue;
        worst = std::max(worst, cosine);
        const T zeta = (squares[q] - squares[p]) / (2 * product);
        const T t = std::copysign(1 / (std::abs(zeta) + std::hypot(T(1), zeta)), zeta);
        const T c = 1 / std::sqrt(1 + t * t), s = c * t;
        Rotate(count, c, s, w + p * count, w + q * count);
        Rotate(count, c, s, j + p * count, j + q * count);
        squares[p] = std::max(T(0), squares[p] - t * product);
        squares[q] += t * product;
      }
    }
    if (worst == T(0)) return true;
  }
  return false;
}

// Makes rows [from, n) of w, [n][n], orthonormal to the first ones and each other. `left` has room
// for n numbers: how much of each unit vector the rows before leave over.
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

// For a matrix of `rows` x `columns`, rows >= columns.
template <class T>
struct SvdScratch {
  static int64_t Elements(int64_t rows, int64_t columns, int64_t width) {
    return rows * columns + 3 * columns * columns + 4 * columns + rows * width +
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
        reflectors(q + rows * width, rows, std::max(columns, width)) {}
  T *a, *r, *j, *sorted, *tau, *squares, *left, *order, *q;
  ReflectorScratch<T> reflectors;
};

// Singular values of the tall matrix that stands in w.a, in descending order. Then w.q has the left
// vectors as its `width` columns (`columns`, or `rows` for all), and w.sorted the right ones as
// rows. False: its elements are not finite.
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
  SetToUnit(w.j, n, n);
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

#endif  // FIRN_TENSOR_OPS_LINALG_SPECTRAL_BODY_H_

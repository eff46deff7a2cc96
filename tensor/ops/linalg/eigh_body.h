#ifndef FIRN_TENSOR_OPS_LINALG_EIGH_BODY_H_
#define FIRN_TENSOR_OPS_LINALG_EIGH_BODY_H_

// Eigenvalues of a symmetric matrix, in scratch memory, on the CPU.
//
// Symmetric matrices become tridiagonal by reflectors, and diagonal by the implicit QL method
// (EISPACK's imtql2; Dubrulle, Martin and Wilkinson, 1968). The rotations of some steps are applied
// together (rotations_body.h).
//
// Vectors are rows here, so that every rotation runs along memory. Signs are arbitrary. To get the
// same results on every device and processor, the largest element of a vector is made positive, the
// first one if several differ only by rounding.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "firn/tensor/kernels/vector_sign.h"
#include "firn/tensor/ops/linalg/qr_body.h"
#include "firn/tensor/ops/linalg/rotations_body.h"

namespace firn::cpu {

// The limit of steps for one eigenvalue: all finite matrices need fewer than ten.
inline constexpr int kMostSteps = 64;

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

// -1 where the first of the elements that are largest in magnitude (kAsLarge) is negative, else 1.
template <class T>
T SignOf(const T* x, int64_t n, int64_t step = 1) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i * step]));
  const T least = largest * static_cast<T>(kAsLarge);
  for (int64_t i = 0; i < n; ++i) {
    if (std::abs(x[i * step]) >= least) return x[i * step] < T(0) ? T(-1) : T(1);
  }
  return T(1);
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

// Memory that is needed besides the matrix: z, [n][z_row], q, [n][n], six vectors, rotations of
// some steps, and room to apply reflectors.
template <class T>
struct EighScratch {
  static int64_t Elements(int64_t n) {
    return n * (RotationBatch<T>::RowStep(n) + n + 6) + RotationBatch<T>::Elements(n) +
           ReflectorScratch<T>::Elements(n, n);
  }
  EighScratch(T* at, int64_t n)
      : z_row(RotationBatch<T>::RowStep(n)),
        z(at),
        q(z + n * z_row),
        d(q + n * n),
        e(d + n),
        tau(e + n),
        p(tau + n),
        next_p(p + n),
        order(next_p + n),
        rotations(order + n),
        reflectors(rotations + RotationBatch<T>::Elements(n), n, n) {}
  int64_t z_row;
  T *z, *q, *d, *e, *tau, *p, *next_p, *order, *rotations;
  ReflectorScratch<T> reflectors;
};

// row -= v p^T + p v^T for one row, whose elements of v and p are given; gives its product with
// `next`.
template <class T>
T UpdateRow(int64_t n, T own_v, T own_p, const T* v, const T* p, const T* next, T* row) {
  T sum = 0;
  FIRN_SUMS_IN_ANY_ORDER(sum)
  for (int64_t j = 0; j < n; ++j) {
    row[j] -= own_v * p[j] + own_p * v[j];
    sum += row[j] * next[j];
  }
  return sum;
}
// The same for this row and the next one, `step` further; shared operands are read once.
template <class T>
void UpdateTwoRows(int64_t n, const T* own_v, const T* own_p, const T* v, const T* p, const T* next,
                   T* row, int64_t step, T* products) {
  const T first_v = own_v[0], first_p = own_p[0], second_v = own_v[1], second_p = own_p[1];
  T first = 0, second = 0, *const below = row + step;
  FIRN_SUMS_IN_ANY_ORDER(first, second)
  for (int64_t j = 0; j < n; ++j) {
    const T a = row[j] - (first_v * p[j] + first_p * v[j]);
    const T b = below[j] - (second_v * p[j] + second_p * v[j]);
    row[j] = a;
    below[j] = b;
    first += a * next[j];
    second += b * next[j];
  }
  products[0] = first;
  products[1] = second;
}

// Leaves the diagonals in d and e, and in row k of a the reflector v that zeroed it. With p = tau A
// v, reduced by tau / 2 (p v) v, reflecting A from both sides gives A - v p^T - p v^T. Each row
// gets this when the next step needs it, so that a step reads the matrix once.
template <class T>
void Tridiagonalize(T* a, int64_t n, const EighScratch<T>& w) {
  T *p = w.p, *next_p = w.next_p;
  std::fill_n(p, n, T(0));
  const T* v = p;  // of the step before, from row k on: nothing
  for (int64_t k = 0; k + 1 < n; ++k) {
    const int64_t size = n - k - 1;
    T *const own = a + k * n + k, *const next = own + 1;
    UpdateRow(size + 1, v[0], p[0], v, p, own, own);
    w.d[k] = own[0];
    const T tau = w.tau[k] = MakeReflector(next, 1, size);
    w.e[k] = next[0];
    next[0] = 1;
    T* const below = own + n + 1;
    int64_t i = 0;
    for (; i + 2 <= size; i += 2) {
      UpdateTwoRows(size, v + i + 1, p + i + 1, v + 1, p + 1, next, below + i * n, n, next_p + i);
    }
    if (i < size) {
      next_p[i] = UpdateRow(size, v[i + 1], p[i + 1], v + 1, p + 1, next, below + i * n);
    }
    for (i = 0; i < size; ++i) next_p[i] *= tau;
    AddScaled(size, -tau / 2 * Dot(size, next_p, next), next, next_p);
    std::swap(p, next_p);
    v = next;
  }
  w.d[n - 1] = a[n * n - 1] - (n > 1 ? 2 * v[0] * p[0] : T(0));
  w.e[n - 1] = 0;
}

// z = H[n - 2] ... H[0], the transpose of the tridiagonal matrix's factor. Except for the first row
// and column, these are the reflectors of a QR decomposition of n - 1 rows, whose columns lie in
// rows of a. Overwrites a.
template <class T>
void GatherReflections(T* a, int64_t n, const EighScratch<T>& w) {
  const int64_t rows = n - 1;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k <= i; ++k) w.q[i * rows + k] = a[k * n + i + 1];
  }
  SetToUnit(a, rows, rows);
  MultiplyByQ(w.q, rows, rows, w.tau, true, a, rows, w.reflectors);
  std::fill_n(w.z, n * w.z_row, T(0));
  w.z[0] = 1;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < rows; ++k) w.z[(k + 1) * w.z_row + i + 1] = a[i * rows + k];
  }
}

// x and y, whose squares are finite, over a square root of the sum of these: a cosine that is not
// negative, and a sine. The root is found by std::hypot, which takes several times as long, only
// where the sum of the squares may lack digits. A root times 1 / its square does not wait for the
// root to divide by it.
template <class T>
struct Direction {
  Direction(T x, T y) {
    constexpr T kLeast = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
    const T squares = x * x + y * y;
    if (squares >= kLeast) {
      length = std::copysign(std::sqrt(squares), x);
      const T over = length * (1 / squares);
      c = x * over;
      s = y * over;
      return;
    }
    length = std::copysign(std::hypot(x, y), x);
    c = x / length;
    s = y / length;
  }
  T length, c, s;  // of length 0 the others are NaN
};

// One step of the implicit QL method on rows [l, m] of the tridiagonal matrix.
template <class T>
void QlStep(int64_t l, int64_t m, const EighScratch<T>& w, RotationBatch<T>& batch) {
  batch.Begin();
  T *const d = w.d, *const e = w.e, *const cosines = batch.c(), *const sines = batch.s();
  T g = (d[l + 1] - d[l]) / (2 * e[l]);
  g = d[m] - d[l] + e[l] / (g + std::copysign(std::hypot(g, T(1)), g));
  T s = 1, c = 1, p = 0;
  int64_t i = m - 1;
  for (; i >= l; --i) {
    const T b = c * e[i];
    const Direction<T> to(g, s * e[i]);
    e[i + 1] = to.length;
    if (to.length == T(0)) {  // it falls apart here
      d[i + 1] -= p;
      e[m] = 0;
      break;
    }
    c = to.c;
    s = to.s;
    g = d[i + 1] - p;
    const T q = (d[i] - g) * s + 2 * c * b;
    p = s * q;
    d[i + 1] = g + p;
    g = c * q - b;
    cosines[i] = c;
    sines[i] = s;
  }
  batch.End(i + 1, m);
  if (i >= l) return;
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

// Whether element i beside the diagonal is negligible next to its neighbours on the diagonal, or
// next to the matrix's largest element, which is 1. The second limit is far below rounding errors,
// and large enough that products of two such elements, which the steps use, are normal numbers.
template <class T>
bool FallsApart(int64_t i, const EighScratch<T>& w) {
  const T eps = std::numeric_limits<T>::epsilon();
  const T nothing = std::sqrt(std::numeric_limits<T>::min()) / eps;
  return std::abs(w.e[i]) <= std::max(nothing, eps * (std::abs(w.d[i]) + std::abs(w.d[i + 1])));
}

template <class T>
bool Diagonalize(int64_t n, const EighScratch<T>& w) {
  RotationBatch<T> batch(n, w.z, w.rotations);
  for (int64_t l = 0; l < n; ++l) {
    for (int step = 0;; ++step) {
      int64_t m = l;
      while (m + 1 < n && !FallsApart(m, w)) ++m;
      if (m == l) break;
      if (step == kMostSteps) return false;
      QlStep(l, m, w, batch);
    }
  }
  batch.Apply();
  return true;
}

// 0, 1, ... in the order of `less`, by insertion into halves: nothing is allocated.
template <class Less>
void OrderOf(int64_t n, int32_t* order, const Less& less) {
  for (int64_t i = 0; i < n; ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order, order + n, [&](int32_t i, int32_t j) { return less(i, j); });
}

// The eigenvalues in ascending order, and the vectors as columns. `a`, [n][n] and symmetric, is
// overwritten. Returns false if its elements are not finite.
template <class T>
bool Eigh(T* a, int64_t n, T* values, T* vectors, T* scratch) {
  if (n == 0) return true;
  const EighScratch<T> w(scratch, n);
  const T largest = LargestElement(a, n * n);
  if (!(largest <= std::numeric_limits<T>::max())) return false;
  const T scale = largest > T(0) ? largest : T(1);  // nothing overflows on the way
  for (int64_t i = 0; i < n * n; ++i) a[i] /= scale;
  Tridiagonalize(a, n, w);
  GatherReflections(a, n, w);
  if (!Diagonalize(n, w)) return false;
  int32_t* const order = reinterpret_cast<int32_t*>(w.order);
  OrderOf(n, order,
          [&](int32_t i, int32_t j) { return w.d[i] != w.d[j] ? w.d[i] < w.d[j] : i < j; });
  for (int64_t j = 0; j < n; ++j) {
    T* const z = w.z + order[j] * w.z_row;
    values[j] = scale * w.d[order[j]];
    const T sign = SignOf(z, n);
    for (int64_t i = 0; i < n; ++i) z[i] *= sign;
    std::copy_n(z, n, a + j * n);
  }
  TransposeTo(a, n, n, vectors);
  return true;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_LINALG_EIGH_BODY_H_

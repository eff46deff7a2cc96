#ifndef FIRN_TENSOR_OPS_LINALG_QR_BODY_H_
#define FIRN_TENSOR_OPS_LINALG_QR_BODY_H_

// Householder reflectors of one row-major matrix, in place, on the CPU.
//
// A reflector is H = I - tau v v^T with v[0] = 1; its other elements are stored below the diagonal
// of the column that it zeroes, with LAPACK's choice of signs (dlarfg), so that Q and R have those
// of the frameworks. kReflectors of them together are I - V T V^T with a triangle T (the compact WY
// form: Schreiber and Van Loan, 1989), applied by products of matrices.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "firn/tensor/ops/linalg/factor_body.h"

namespace firn::cpu {

// Reflectors that are applied together.
inline constexpr int64_t kReflectors = 32;

// The largest magnitude among n elements `step` apart; NaN where one of them is.
template <class T>
T LargestMagnitude(const T* x, int64_t step, int64_t n) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T own = std::abs(x[i * step]);
    if (own > largest || own != own) largest = own;
  }
  return largest;
}

// The reflector that makes x, n elements `step` apart, a multiple of the first unit vector: stores
// that multiple in x[0], and v behind it. Returns tau, which is 0 where there is nothing to zero.
// Everything is computed from x over its largest element, so that squares do not overflow, and
// because the remainder of a column that depends on those before it may be subnormal.
template <class T>
T MakeReflector(T* x, int64_t step, int64_t n) {
  if (n < 2 || LargestMagnitude(x + step, step, n - 1) == T(0)) return 0;
  const T largest = LargestMagnitude(x, step, n);
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    x[i * step] /= largest;
    sum += x[i * step] * x[i * step];
  }
  const T alpha = x[0], beta = -std::copysign(std::sqrt(sum), alpha);
  for (int64_t i = 1; i < n; ++i) x[i * step] /= alpha - beta;
  x[0] = largest * beta;
  return (beta - alpha) / beta;
}

// Scratch memory for applying reflectors to a matrix of `rows` x `columns`.
template <class T>
struct ReflectorScratch {
  static int64_t Elements(int64_t rows, int64_t columns) {
    return kReflectors * (2 * rows + columns + 2 * kReflectors);
  }
  ReflectorScratch(T* at, int64_t rows, int64_t columns)
      : v(at),
        negated(v + kReflectors * rows),
        w(negated + kReflectors * rows),
        t(w + kReflectors * columns),
        products(t + kReflectors * kReflectors) {}
  T *v, *negated, *w, *t, *products;
};

// V of reflectors [begin, begin + count) of a matrix with `row` elements to a row, and its T.
template <class T>
void GatherReflectors(const T* a, int64_t rows, int64_t row, int64_t begin, int64_t count,
                      const T* tau, const ReflectorScratch<T>& s) {
  const int64_t height = rows - begin;
  for (int64_t i = 0; i < height; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      const T below = i > j ? a[(begin + i) * row + begin + j] : T(0);
      s.v[i * count + j] = i == j ? T(1) : below;
    }
  }
  Gemm<T>({count, count, height, {1, count}, {count, 1}, count}, s.v, s.v, s.products, false,
          nullptr);
  // T[:j, j] = -tau_j T[:j, :j] (V^T V)[:j, j]
  std::fill_n(s.t, count * count, T(0));
  for (int64_t j = 0; j < count; ++j) {
    const T own = tau[begin + j];
    s.t[j * count + j] = own;
    for (int64_t i = 0; i < j; ++i) {
      T sum = 0;
      for (int64_t k = i; k < j; ++k) sum += s.t[i * count + k] * s.products[k * count + j];
      s.t[i * count + j] = -own * sum;
    }
  }
}

// C = (I - V T V^T) C, or with T transposed, which applies the reflectors from the first to the
// last.
template <class T>
void ApplyReflectors(int64_t height, int64_t count, bool transpose, T* c, int64_t columns,
                     int64_t c_row, const ReflectorScratch<T>& s) {
  if (columns == 0) return;
  Gemm<T>({count, columns, height, {1, count}, {c_row, 1}, columns}, s.v, c, s.w, false, nullptr);
  for (int64_t k = 0; k < count; ++k) {  // in place: T W from its first row, T^T W from its last
    const int64_t i = transpose ? count - 1 - k : k;
    T* const own = s.w + i * columns;
    const T diagonal = s.t[i * count + i];
    for (int64_t j = 0; j < columns; ++j) own[j] *= diagonal;
    for (int64_t p = transpose ? 0 : i + 1; p < (transpose ? i : count); ++p) {
      const T factor = transpose ? s.t[p * count + i] : s.t[i * count + p];
      AddScaled(columns, factor, s.w + p * columns, own);
    }
  }
  SubtractProduct<T>({height, columns, count, {count, 1}, {columns, 1}, c_row}, s.v, s.w, c,
                     s.negated);
}

// A = Q R: R and the reflectors overwrite A, [rows][columns], and `tau` has a number for each of
// the min(rows, columns) reflectors.
template <class T>
void QrInPlace(T* a, int64_t rows, int64_t columns, T* tau, const ReflectorScratch<T>& s) {
  const int64_t reflectors = std::min(rows, columns);
  for (int64_t begin = 0; begin < reflectors; begin += kReflectors) {
    const int64_t count = std::min(kReflectors, reflectors - begin), end = begin + count;
    for (int64_t k = begin; k < end; ++k) {
      T* const own = a + k * columns + k;
      tau[k] = MakeReflector(own, columns, rows - k);
      const int64_t width = end - k - 1;
      if (tau[k] == T(0) || width == 0) continue;
      std::copy_n(own + 1, width, s.w);
      for (int64_t i = 1; i < rows - k; ++i) {
        AddScaled(width, own[i * columns], own + i * columns + 1, s.w);
      }
      AddScaled(width, -tau[k], s.w, own + 1);
      for (int64_t i = 1; i < rows - k; ++i) {
        AddScaled(width, -tau[k] * own[i * columns], s.w, own + i * columns + 1);
      }
    }
    if (end == columns) continue;
    GatherReflectors(a, rows, columns, begin, count, tau, s);
    ApplyReflectors(rows - begin, count, true, a + begin * columns + end, columns - end, columns,
                    s);
  }
}

// C = Q C with the reflectors of QrInPlace; C has `width` columns. If C starts as a unit matrix,
// reflectors skip its first columns, where they would only find zeros.
template <class T>
void MultiplyByQ(const T* qr, int64_t rows, int64_t columns, const T* tau, bool of_unit, T* c,
                 int64_t width, const ReflectorScratch<T>& s) {
  const int64_t reflectors = std::min(rows, columns);
  const int64_t blocks = (reflectors + kReflectors - 1) / kReflectors;
  for (int64_t b = blocks - 1; b >= 0; --b) {
    const int64_t begin = b * kReflectors, count = std::min(kReflectors, reflectors - begin);
    const int64_t first = of_unit ? std::min(begin, width) : 0;
    GatherReflectors(qr, rows, columns, begin, count, tau, s);
    ApplyReflectors(rows - begin, count, false, c + begin * width + first, width - first, width, s);
  }
}

template <class T>
void SetToUnit(T* a, int64_t rows, int64_t columns) {
  std::fill_n(a, rows * columns, T(0));
  for (int64_t i = 0; i < std::min(rows, columns); ++i) a[i * columns + i] = 1;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_LINALG_QR_BODY_H_

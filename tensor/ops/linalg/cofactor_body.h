#ifndef FIRN_TENSOR_OPS_LINALG_COFACTOR_BODY_H_
#define FIRN_TENSOR_OPS_LINALG_COFACTOR_BODY_H_

// Determinants and cofactors of one row-major matrix whose factors, or the products of some of
// them, leave the range of its type although the result does not.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "firn/device/own_flags.h"
#include "firn/tensor/kernels/scaled_product.h"
#include "firn/tensor/ops/linalg/factor_body.h"

namespace firn::cpu {

template <class T>
T DeterminantOf(const T* lu, int64_t n, const int32_t* pivots) {
  const T sign = SignOfPivots<T>(pivots, n);
  T product = sign;
  bool within = true;  // a product below the range has lost digits that no later pivot brings back
  for (int64_t j = 0; j < n; ++j) {
    product *= lu[j * (n + 1)];
    within = within && std::isnormal(product);
  }
  if (within) [[likely]]
    return product;
  ScaledProduct<T> scaled{sign};
  for (int64_t j = 0; j < n; ++j) scaled.Times(lu[j * (n + 1)]);
  return TimesPowerOf2(scaled.part, scaled.exponent);
}

// Whether all pivots are larger than those that rounding leaves in a singular matrix.
template <class T>
bool IsRegular(const T* lu, int64_t n) {
  T least = std::numeric_limits<T>::max(), most = 0;
  for (int64_t i = 0; i < n; ++i) {
    least = std::min(least, std::abs(lu[i * (n + 1)]));
    most = std::max(most, std::abs(lu[i * (n + 1)]));
  }
  return least > static_cast<T>(n) * std::numeric_limits<T>::epsilon() * most;
}

// P A Q = L U with complete pivoting, so that zeros on U's diagonal come last: a matrix whose rank
// is n - 1 has one, its last. `columns` gets the exchanges of columns, `rows` those of rows.
// Returns the rank.
template <class T>
int64_t LuOfRank(T* a, int64_t n, int32_t* rows, int32_t* columns) {
  for (int64_t k = 0; k < n; ++k) {
    int64_t row = k, column = k;
    for (int64_t i = k; i < n; ++i) {
      for (int64_t j = k; j < n; ++j) {
        if (std::abs(a[i * n + j]) > std::abs(a[row * n + column])) row = i, column = j;
      }
    }
    rows[k] = static_cast<int32_t>(row);
    columns[k] = static_cast<int32_t>(column);
    SwapRows(a, n, k, row, 0, n);
    for (int64_t i = 0; i < n && column != k; ++i) std::swap(a[i * n + k], a[i * n + column]);
    const T pivot = a[k * n + k];
    if (pivot == T(0)) {
      for (int64_t i = k + 1; i < n; ++i) rows[i] = columns[i] = static_cast<int32_t>(i);
      return k;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const T factor = a[i * n + k] / pivot;
      a[i * n + k] = factor;
      AddScaled(n - k - 1, -factor, a + k * n + k + 1, a + i * n + k + 1);
    }
  }
  return n;
}

// Takes powers of 2 out of rows and columns, so that the largest of each is near 1: a_ij becomes
// a_ij 2^-(rows_i + columns_j).
template <class T>
void Balance(T* a, int64_t n, int32_t* rows, int32_t* columns) {
  constexpr int32_t kNone = std::numeric_limits<int32_t>::min();
  const auto exponent = [&](int64_t i, int64_t j) {
    const T v = a[i * n + j];
    return v == T(0) || !std::isfinite(v) ? kNone : std::ilogb(v);
  };
  for (int64_t i = 0; i < n; ++i) {
    int32_t most = kNone;
    for (int64_t j = 0; j < n; ++j) most = std::max(most, exponent(i, j));
    rows[i] = most == kNone ? 0 : most;
  }
  for (int64_t j = 0; j < n; ++j) {
    int32_t most = kNone;
    for (int64_t i = 0; i < n; ++i) {
      const int32_t e = exponent(i, j);
      if (e != kNone) most = std::max(most, e - rows[i]);
    }
    columns[j] = most == kNone ? 0 : most;
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) a[i * n + j] = std::ldexp(a[i * n + j], -rows[i] - columns[j]);
  }
}

// Writes the matrix of cofactors of A over a power of 2 to `y`, and returns the exponent. Cofactors
// are det(A) times the inverse of A's transpose, if A has one. `a` is overwritten.
//
// With U = [U1 w; 0 t], t the last pivot and d = det(U1),
//   det(U) inv(U) = [t d inv(U1), -d inv(U1) w; 0, d],
// which stays right where t is 0. Then cof(A)^T = det(P Q) Q det(U) inv(U) inv(L) P.
template <class T>
int64_t ScaledCofactors(T* a, int64_t n, int32_t* rows, int32_t* columns, T* y) {
  std::fill_n(y, n * n, T(0));
  if (n == 0 || LuOfRank(a, n, rows, columns) < n - 1) return 0;
  ScaledProduct<T> product{SignOfPivots<T>(rows, n) * SignOfPivots<T>(columns, n)};
  for (int64_t k = 0; k + 1 < n; ++k) product.Times(a[k * n + k]);
  const T t = a[n * n - 1], d = product.part;
  // y = inv(L), whose diagonal is 1.
  for (int64_t i = 0; i < n; ++i) {
    y[i * n + i] = 1;
    for (int64_t j = 0; j < i; ++j) AddScaled(i, -a[i * n + j], y + j * n, y + i * n);
  }
  // The last row times d, and each other row the solution of U1 y = t d y - w (the last row).
  for (int64_t j = 0; j < n; ++j) {
    y[(n - 1) * n + j] *= d;
    for (int64_t i = 0; i + 1 < n; ++i) y[i * n + j] *= t * d;
  }
  for (int64_t i = n - 2; i >= 0; --i) {
    for (int64_t j = i + 1; j < n; ++j) AddScaled(n, -a[i * n + j], y + j * n, y + i * n);
    for (int64_t c = 0; c < n; ++c) y[i * n + c] /= a[i * n + i];
  }
  // Permutes rows by Q and columns by P, then transposes.
  for (int64_t k = n - 1; k >= 0; --k) {
    SwapRows(y, n, k, columns[k], 0, n);
    for (int64_t i = 0; i < n && rows[k] != k; ++i) std::swap(y[i * n + k], y[i * n + rows[k]]);
  }
  TransposeInPlace(y, n);
  return product.exponent;
}

// Writes the matrix of cofactors of A to `y`; `a` is overwritten, `scratch` has 4 n numbers.
template <class T>
void Cofactors(T* a, int64_t n, int32_t* scratch, T* y) {
  int32_t *const rows = scratch + 2 * n, *const columns = rows + n;
  Balance(a, n, rows, columns);
  int64_t power = ScaledCofactors(a, n, scratch, scratch + n, y);
  for (int64_t i = 0; i < n; ++i) power += rows[i] + columns[i];
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      y[i * n + j] = TimesPowerOf2(y[i * n + j], power - rows[i] - columns[j]);
    }
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_LINALG_COFACTOR_BODY_H_

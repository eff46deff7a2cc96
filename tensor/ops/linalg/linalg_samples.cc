#include "firn/tensor/ops/linalg/linalg_samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace firn::testing {

std::vector<RefMatrix> MatricesOf(const RefTensor& x) {
  const int64_t rows = x.shape.dim(-2), columns = x.shape.dim(-1);
  int64_t count = 1;
  for (int d = 0; d + 2 < x.shape.rank(); ++d) count *= x.shape[d];
  std::vector<RefMatrix> all(static_cast<size_t>(count), RefMatrix(rows, columns));
  for (int64_t i = 0; i < count; ++i) {
    const auto from = x.values.begin() + i * rows * columns;
    std::copy(from, from + rows * columns, all[static_cast<size_t>(i)].values.begin());
  }
  return all;
}

RefTensor FromMatrices(const Shape& batch, const std::vector<RefMatrix>& all, int64_t rows,
                       int64_t columns) {
  std::vector<int64_t> sizes(batch.begin(), batch.end());
  sizes[sizes.size() - 2] = rows;
  sizes[sizes.size() - 1] = columns;
  RefTensor y{Shape(sizes)};
  y.values.clear();
  for (const RefMatrix& m : all) y.values.insert(y.values.end(), m.values.begin(), m.values.end());
  return y;
}

RefTensor FromNumbers(const Shape& x, const std::vector<double>& all) {
  RefTensor y{Shape(x.span().first(static_cast<size_t>(x.rank()) - 2))};
  y.values = all;
  return y;
}

RefMatrix Product(const RefMatrix& a, const RefMatrix& b) {
  RefMatrix c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < b.columns; ++j) {
      for (int64_t k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

RefMatrix TransposeOf(const RefMatrix& a) {
  RefMatrix t(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  }
  return t;
}

namespace {

void SwapRows(RefMatrix& m, int64_t i, int64_t j) {
  for (int64_t c = 0; c < m.columns; ++c) std::swap(m(i, c), m(j, c));
}

// The row at or below k with the largest element in column k.
int64_t LargestBelow(const RefMatrix& a, int64_t k) {
  int64_t best = k;
  for (int64_t i = k; i < a.rows; ++i) {
    if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
  }
  return best;
}

void SubtractRow(RefMatrix& m, int64_t from, int64_t row, double factor) {
  for (int64_t c = 0; c < m.columns; ++c) m(from, c) -= factor * m(row, c);
}

RefMatrix WithoutRowAndColumn(const RefMatrix& a, int64_t row, int64_t column) {
  RefMatrix m(a.rows - 1, a.columns - 1);
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.columns; ++j) m(i, j) = a(i + (i >= row), j + (j >= column));
  }
  return m;
}

}  // namespace

RefMatrix Solved(RefMatrix a, RefMatrix b) {
  for (int64_t k = 0; k < a.rows; ++k) {
    const int64_t pivot = LargestBelow(a, k);
    SwapRows(a, k, pivot);
    SwapRows(b, k, pivot);
    for (int64_t i = 0; i < a.rows; ++i) {
      if (i == k) continue;
      const double factor = a(i, k) / a(k, k);
      SubtractRow(a, i, k, factor);
      SubtractRow(b, i, k, factor);
    }
  }
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t c = 0; c < b.columns; ++c) b(i, c) /= a(i, i);
  }
  return b;
}

double DeterminantOf(RefMatrix a) {
  if (a.rows == 0) return 1;
  if (a.rows < 4) {
    double sum = 0;
    for (int64_t j = 0; j < a.columns; ++j) {
      sum += (j % 2 == 0 ? 1 : -1) * a(0, j) * DeterminantOf(WithoutRowAndColumn(a, 0, j));
    }
    return sum;
  }
  double product = 1;
  for (int64_t k = 0; k < a.rows; ++k) {
    const int64_t pivot = LargestBelow(a, k);
    if (pivot != k) product = -product;
    SwapRows(a, k, pivot);
    product *= a(k, k);
    for (int64_t i = k + 1; i < a.rows; ++i) SubtractRow(a, i, k, a(i, k) / a(k, k));
  }
  return product;
}

namespace {

// Calls f(v, i, j) for every element v of the matrices of a tensor, made symmetric before.
template <class F>
Tensor OfSmallNumbers(const Shape& shape, uint64_t seed, bool symmetric, const F& f) {
  std::vector<double> values = Uniform(shape, -1, 1, seed).ToVector<double>();
  const int64_t m = shape.dim(-2), n = shape.dim(-1);
  for (size_t at = 0; at < values.size(); at += static_cast<size_t>(m * n)) {
    const auto element = [&](int64_t i, int64_t j) -> double& {
      return values[at + static_cast<size_t>(i * n + j)];
    };
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if (symmetric && j > i) element(i, j) = element(j, i);
      }
    }
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) f(element(i, j), i, j);
    }
  }
  return Values(std::move(values), shape);
}

}  // namespace

Tensor WellConditioned(const Shape& shape, uint64_t seed, bool symmetric) {
  const auto n = static_cast<double>(shape.dim(-1));
  return OfSmallNumbers(shape, seed, symmetric,
                        [n](double& v, int64_t i, int64_t j) { v = v / n + (i == j ? 2 : 0); });
}

Tensor FarApart(const Shape& shape, uint64_t seed, bool symmetric) {
  return OfSmallNumbers(shape, seed, symmetric, [](double& v, int64_t i, int64_t j) {
    v = v / 4 + (i == j ? static_cast<double>(i + 1) : 0);
  });
}

double MakeLargestPositive(RefMatrix& m, int64_t j) {
  double largest = 0;
  for (int64_t i = 0; i < m.rows; ++i) largest = std::max(largest, std::abs(m(i, j)));
  int64_t first = 0;  // of those that differ only by rounding
  while (first < m.rows - 1 && std::abs(m(first, j)) < largest * (1 - 1.0 / 4096)) ++first;
  const double sign = m.rows > 0 && m(first, j) < 0 ? -1 : 1;
  for (int64_t i = 0; i < m.rows; ++i) m(i, j) *= sign;
  return sign;
}

RefEigen EigenOf(RefMatrix a) {
  const int64_t n = a.rows;
  RefMatrix v(n, n);
  for (int64_t i = 0; i < n; ++i) v(i, i) = 1;
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * a(p, q), a(q, q) - a(p, p));
        RefMatrix turn(n, n);
        for (int64_t i = 0; i < n; ++i) turn(i, i) = 1;
        turn(p, p) = turn(q, q) = std::cos(angle);
        turn(p, q) = std::sin(angle);
        turn(q, p) = -turn(p, q);
        a = Product(TransposeOf(turn), Product(a, turn));
        v = Product(v, turn);
      }
    }
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return a(i, i) < a(j, j); });
  RefEigen e{{}, RefMatrix(n, n)};
  for (int64_t k = 0; k < n; ++k) {
    const int64_t from = order[static_cast<size_t>(k)];
    e.values.push_back(a(from, from));
    for (int64_t i = 0; i < n; ++i) e.vectors(i, k) = v(i, from);
    MakeLargestPositive(e.vectors, k);
  }
  return e;
}

}  // namespace firn::testing

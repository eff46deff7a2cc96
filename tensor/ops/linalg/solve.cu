// cofactor on CUDA: a team of threads for each matrix, always with complete pivoting (see
// cofactor_body.h), because the host cannot check which matrices are regular without waiting.
// Powers of 2 are taken out of rows and columns before, and multiplied in at the end with the
// determinant of U without its last pivot, which may exceed the dtype where cofactors do not.

#include <cmath>
#include <limits>

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/kernels/scaled_product.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linalg/solve.h"

namespace firn::solve_cuda {
namespace {

// The largest element that is left, the first of them in its matrix.
template <class T>
struct Pivot {
  T magnitude;
  int64_t at;
};
struct LargerPivot {
  template <class T>
  FIRN_HOST_DEVICE Pivot<T> operator()(const Pivot<T>& a, const Pivot<T>& b) const {
    const bool second = b.magnitude > a.magnitude || (b.magnitude == a.magnitude && b.at < a.at);
    return second ? b : a;
  }
};

template <class T>
FIRN_HOST_DEVICE void Exchange(T& a, T& b) {
  const T old = a;
  a = b;
  b = old;
}

struct Larger {
  FIRN_HOST_DEVICE int operator()(int a, int b) const { return a < b ? b : a; }
};

template <class T>
struct CofactorBody {
  const T* a;
  T *lus, *y;
  int32_t* numbers;  // 4 n for each matrix
  int64_t n;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t matrix) const {
    T *const lu = lus + matrix * n * n, *const c = y + matrix * n * n;
    int32_t *const rows = numbers + matrix * 4 * n, *const columns = rows + n;
    int32_t *const row_powers = columns + n, *const column_powers = row_powers + n;
    for (int64_t i = team.rank(); i < n * n; i += team.size()) {
      lu[i] = a[matrix * n * n + i];
      c[i] = T(0);
    }
    team.Sync();
    Balance(team, lu, row_powers, column_powers);
    if (Factor(team, lu, rows, columns) < n - 1) return;
    const ScaledProduct<T> d = LeadingMinor(lu, rows, columns);
    int64_t power = d.exponent;
    for (int64_t i = 0; i < n; ++i) power += row_powers[i] + column_powers[i];
    for (int64_t j = team.rank(); j < n; j += team.size()) Column(lu, columns, j, c);
    team.Sync();
    for (int64_t i = team.rank(); i < n; i += team.size()) {
      for (int64_t k = n - 1; k >= 0; --k) Exchange(c[i * n + k], c[i * n + rows[k]]);
    }
    team.Sync();
    const auto scaled = [&](T v, int64_t i, int64_t j) {
      return TimesPowerOf2(v * d.part, power - row_powers[i] - column_powers[j]);
    };
    for (int64_t e = team.rank(); e < n * n; e += team.size()) {  // turned over
      const int64_t i = e / n, j = e % n;
      if (j > i) continue;
      const T below = c[e];
      c[e] = scaled(c[j * n + i], i, j);
      if (i != j) c[j * n + i] = scaled(below, j, i);
    }
  }

  // The exponent of a number that is neither 0 nor infinite, else `least`.
  static FIRN_HOST_DEVICE int ExponentOf(T v, int least) {
    if (v == T(0) || !(std::abs(v) <= std::numeric_limits<T>::max())) return least;
    int exponent = 0;
    std::frexp(v, &exponent);
    return exponent;
  }

  // a_ij becomes a_ij 2^-(rows_i + columns_j), and the largest of each row and column near 1.
  template <class Team>
  FIRN_HOST_DEVICE void Balance(const Team& team, T* lu, int32_t* rows, int32_t* columns) const {
    constexpr int kNone = std::numeric_limits<int>::min();
    for (int64_t i = team.rank(); i < n; i += team.size()) {
      int most = kNone;
      for (int64_t j = 0; j < n; ++j) most = Larger()(most, ExponentOf(lu[i * n + j], kNone));
      rows[i] = most == kNone ? 0 : most;
    }
    team.Sync();
    for (int64_t j = team.rank(); j < n; j += team.size()) {
      int most = kNone;
      for (int64_t i = 0; i < n; ++i) {
        const int e = ExponentOf(lu[i * n + j], kNone);
        if (e != kNone) most = Larger()(most, e - rows[i]);
      }
      columns[j] = most == kNone ? 0 : most;
    }
    team.Sync();
    for (int64_t e = team.rank(); e < n * n; e += team.size()) {
      lu[e] = TimesPowerOf2(lu[e], -int64_t{rows[e / n]} - columns[e % n]);
    }
    team.Sync();
  }

  // P A Q = L U; returns the rank, on all members.
  template <class Team>
  FIRN_HOST_DEVICE int64_t Factor(const Team& team, T* lu, int32_t* rows, int32_t* columns) const {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t left = n - k;
      Pivot<T> best = {std::abs(lu[k * n + k]), k * n + k};
      for (int64_t e = team.rank(); e < left * left; e += team.size()) {
        const int64_t at = (k + e / left) * n + k + e % left;
        best = LargerPivot()(best, Pivot<T>{std::abs(lu[at]), at});
      }
      best = team.Reduce(best, LargerPivot());
      const int64_t row = best.at / n, column = best.at % n;
      const bool none = best.magnitude == T(0);
      if (team.rank() == 0) {
        rows[k] = static_cast<int32_t>(row);
        columns[k] = static_cast<int32_t>(column);
      }
      team.Sync();
      if (none) return k;
      for (int64_t j = team.rank(); j < n; j += team.size()) {
        if (row != k) Exchange(lu[k * n + j], lu[row * n + j]);
      }
      team.Sync();
      for (int64_t i = team.rank(); i < n; i += team.size()) {
        if (column != k) Exchange(lu[i * n + k], lu[i * n + column]);
      }
      team.Sync();
      for (int64_t i = k + 1 + team.rank(); i < n; i += team.size()) lu[i * n + k] /= lu[k * n + k];
      team.Sync();
      const int64_t rest = left - 1;
      for (int64_t e = team.rank(); e < rest * rest; e += team.size()) {
        const int64_t i = k + 1 + e / rest, j = k + 1 + e % rest;
        lu[i * n + j] -= lu[i * n + k] * lu[k * n + j];
      }
      team.Sync();
    }
    return n;
  }

  // det(P) det(Q) times the product of all pivots but the last.
  FIRN_HOST_DEVICE ScaledProduct<T> LeadingMinor(const T* lu, const int32_t* rows,
                                                 const int32_t* columns) const {
    ScaledProduct<T> d;
    for (int64_t k = 0; k < n; ++k) {
      if ((rows[k] == k) != (columns[k] == k)) d.part = -d.part;
      if (k + 1 < n) d.Times(lu[k * n + k]);
    }
    return d;
  }

  // Computes column j of d inv(U) det(U) inv(L) of cofactor_body.h, without d; then permutes rows
  // by Q.
  FIRN_HOST_DEVICE void Column(const T* lu, const int32_t* columns, int64_t j, T* c) const {
    for (int64_t i = j; i < n; ++i) {
      T sum = T(i == j ? 1 : 0);
      for (int64_t p = j; p < i; ++p) sum -= lu[i * n + p] * c[p * n + j];
      c[i * n + j] = sum;
    }
    const T last = lu[n * n - 1];
    for (int64_t i = n - 2; i >= 0; --i) {
      T sum = last * c[i * n + j];
      for (int64_t p = i + 1; p < n; ++p) sum -= lu[i * n + p] * c[p * n + j];
      c[i * n + j] = sum / lu[i * n + i];
    }
    for (int64_t k = n - 1; k >= 0; --k) Exchange(c[k * n + j], c[columns[k] * n + j]);
  }
};

template <class T>
struct Pieces {
  Pieces(const Matrices& m, cuda::WorkspacePieces w)
      : lus(w.Take<T>(m.count * m.size())),
        numbers(w.Take<int32_t>(m.count * 4 * m.rows)),
        bytes(w.bytes()) {}
  T* lus;
  int32_t* numbers;
  size_t bytes;
};

size_t Workspace(const KernelQuery& q) {
  const Matrices m(q.in(0).shape);
  return q.in(0).dtype == DType::kF32 ? Pieces<float>(m, {}).bytes : Pieces<double>(m, {}).bytes;
}

absl::Status Run(KernelContext& k) {
  const Matrices m(k.in_spec(0).shape);
  if (m.size() == 0) return absl::OkStatus();
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const Pieces<T> w(m, cuda::WorkspacePieces(k));
    return cuda::ForEachLine(k, m.count, m.size(),
                             CofactorBody<T>{k.in<T>(0), w.lus, k.out<T>(), w.numbers, m.rows});
  });
}

FIRN_REGISTER_KERNELS(cofactor) {
  return {{.name = "loop", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run}};
}

}  // namespace
}  // namespace firn::solve_cuda

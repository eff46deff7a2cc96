#include "firn/tensor/kernels/cpu/gemm_eigen.h"

#include <algorithm>

#include "firn/device/check.h"

// With this, Eigen aborts a debug build before it allocates; the tiles below never make it
// allocate.
#define EIGEN_NO_MALLOC
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_STACK_ALLOCATION_LIMIT (256 * 1024)
#define eigen_assert(x) FIRN_DCHECK(x)
#include <Eigen/Core>

namespace firn::cpu {
namespace {

// A double product in tiles whose packed blocks fit Eigen's share of the stack.
template <bool kTransposeA, bool kTransposeB>
void MultiplyInTiles(const GemmShape& s, const double* a, const double* b, double* c,
                     bool accumulate) {
  constexpr int64_t kTile = 128;
  constexpr auto kOrder = [](bool transpose) {
    return transpose ? Eigen::ColMajor : Eigen::RowMajor;
  };
  using Stride = Eigen::OuterStride<>;
  using MapA = Eigen::Map<const Eigen::Matrix<double, -1, -1, kOrder(kTransposeA)>, 0, Stride>;
  using MapB = Eigen::Map<const Eigen::Matrix<double, -1, -1, kOrder(kTransposeB)>, 0, Stride>;
  using MapC = Eigen::Map<Eigen::Matrix<double, -1, -1, Eigen::RowMajor>, 0, Stride>;
  const Stride lda(kTransposeA ? s.a.col : s.a.row), ldb(kTransposeB ? s.b.col : s.b.row);
  for (int64_t i = 0; i < s.m; i += kTile) {
    for (int64_t j = 0; j < s.n; j += kTile) {
      const int64_t m = std::min(kTile, s.m - i), n = std::min(kTile, s.n - j);
      MapC tile(c + i * s.c_row + j, m, n, Stride(s.c_row));
      if (!accumulate) tile.setZero();
      for (int64_t p = 0; p < s.k; p += kTile) {
        const int64_t k = std::min(kTile, s.k - p);
        tile.noalias() += MapA(a + i * s.a.row + p * s.a.col, m, k, lda) *
                          MapB(b + p * s.b.row + j * s.b.col, k, n, ldb);
      }
    }
  }
}

}  // namespace

void MultiplyEigen(const GemmShape& s, const double* a, const double* b, double* c,
                   bool accumulate) {
  const bool ta = s.a.col != 1, tb = s.b.col != 1;
  if (ta) {
    tb ? MultiplyInTiles<true, true>(s, a, b, c, accumulate)
       : MultiplyInTiles<true, false>(s, a, b, c, accumulate);
  } else {
    tb ? MultiplyInTiles<false, true>(s, a, b, c, accumulate)
       : MultiplyInTiles<false, false>(s, a, b, c, accumulate);
  }
}

}  // namespace firn::cpu

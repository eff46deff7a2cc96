#ifndef FIRN_TENSOR_KERNELS_CPU_NORMALIZE_ROWS_H_
#define FIRN_TENSOR_KERNELS_CPU_NORMALIZE_ROWS_H_

// layer_norm, and without the mean rms_norm, of the rows of a matrix.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cpu/moments.h"
#include "firn/tensor/kernels/cpu/reduced_elements.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/moments.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn::cpu {

// Rows worth a thread.
inline int64_t RowGrain(int64_t cols) {
  return std::max<int64_t>(1, 8192 / std::max<int64_t>(1, cols));
}

namespace internal {

// Elements of a piece, which stays in the first-level cache. Statistics of a piece are computed in
// its own type, and joined in double.
inline constexpr int64_t kNormPiece = 2048;

// Pieces of rows of one tensor. A row of one piece is fetched once for all loops over it.
template <class Acc>
class Pieces {
 public:
  explicit Pieces(const RowsIn<Acc>& x) : x_(x) {}
  const Acc* At(int64_t i, int64_t n) {
    if (i != at_) piece_ = x_.At(i, n, tile_);
    at_ = i;
    return piece_;
  }

 private:
  const RowsIn<Acc> x_;
  int64_t at_ = -1;
  const Acc* piece_ = nullptr;
  alignas(64) Acc tile_[kNormPiece];
};

// Pieces of one row for all: `missing` where it is not given.
template <class Acc>
class RowForAll {
 public:
  RowForAll(const RowsIn<Acc>& x, Acc missing) : given_(x.given()), pieces_(x) {
    if (!given_) std::fill_n(missing_, kNormPiece, missing);
  }
  const Acc* At(int64_t i, int64_t n) { return given_ ? pieces_.At(i, n) : missing_; }

 private:
  bool given_;
  Pieces<Acc> pieces_;
  alignas(64) Acc missing_[kNormPiece];
};

// Calls f(i, n) for the pieces of a row: n elements from its element i on.
template <class F>
void ForEachPiece(int64_t cols, const F& f) {
  for (int64_t i = 0; i < cols; i += kNormPiece) f(i, std::min(kNormPiece, cols - i));
}

// Corrects the result of RowStatistics for rows whose sum of squares in Acc lost digits, or is
// infinite, 0 or NaN although the true one is not. It is not inlined, so that short rows stay fast.
template <bool kCentred, class Acc>
FIRN_NOINLINE void FarRowStatistics(Pieces<Acc>& x, int64_t row, int64_t cols, double eps,
                                    double sum, std::pair<double, double>* result) {
  const bool lost = sum < kLeastSum<Acc> && (sum == 0 ? eps == 0 : eps < kLeastSum<Acc>);
  if (std::isfinite(sum) && !lost) return;
  const auto for_each = [&](const auto& f) {
    ForEachPiece(cols, [&](int64_t i, int64_t n) {
      const Acc* const piece = x.At(row + i, n);
      for (int64_t j = 0; j < n; ++j) f(static_cast<double>(piece[j]));
    });
  };
  const ScaledMoments m = ScaledMomentsOf(for_each, cols, kCentred);
  if (!m.known) return;
  const double var = m.squares / static_cast<double>(cols);
  *result = {m.mean / m.unit, m.unit / std::hypot(std::sqrt(var), std::sqrt(eps) * m.unit)};
}

// Mean and 1 / sqrt(var + eps) of the row at `row`, where var is the biased variance; without
// kCentred the mean is taken as 0.
template <bool kCentred, class Acc>
std::pair<double, double> RowStatistics(Pieces<Acc>& x, int64_t row, int64_t cols, double eps) {
  Moments<double> all{0, 0, 0};
  ForEachPiece(cols, [&](int64_t i, int64_t n) {
    const Acc* const piece = x.At(row + i, n);
    if (kCentred) {
      const Moments<Acc> m = MomentsOfPiece(piece, n);
      all = JoinMoments(all, {static_cast<double>(m.mean), static_cast<double>(m.squares), n});
    } else {
      const auto [sum, squares] =
          SumPairs<Acc>(n, [piece](int64_t j) { return std::pair(Acc{0}, piece[j] * piece[j]); });
      all.squares += static_cast<double>(squares + sum);
    }
  });
  std::pair<double, double> result(all.mean,
                                   1 / std::sqrt(all.squares / static_cast<double>(cols) + eps));
  // Whether the exponent lies between that of the least sum and that of the largest number.
  constexpr uint64_t kFirst = std::bit_cast<uint64_t>(kLeastSum<Acc>) >> 52;
  if ((std::bit_cast<uint64_t>(all.squares) >> 52) - kFirst >= 2047 - kFirst) [[unlikely]] {
    FarRowStatistics<kCentred>(x, row, cols, eps, all.squares, &result);
  }
  return result;
}

// y = (x - mean) invstd w + b, n elements.
template <class Acc>
void NormalizePiece(const Acc* x, Acc mean, Acc invstd, const Acc* w, const Acc* b, int64_t n,
                    Acc* y) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * invstd * w[i] + b[i];
}

// A row's statistics.
template <class Acc>
struct RowNumbers {
  Acc mean, invstd;
};

// The sums of dxhat and dxhat xhat; adds what the piece gives to the column sums.
template <bool kCentred, class Acc>
std::pair<Acc, Acc> GradSums(const Acc* dy, const Acc* x, const Acc* w, RowNumbers<Acc> row,
                             int64_t n, Acc* dweight, Acc* dbias) {
  return SumPairs<Acc>(n, [=](int64_t i) {
    const Acc g = dy[i], xhat = (x[i] - row.mean) * row.invstd, dxhat = g * w[i];
    dweight[i] += g * xhat;
    if (kCentred) dbias[i] += g;
    return std::pair(kCentred ? dxhat : Acc{0}, dxhat * xhat);
  });
}

// dx = invstd (dxhat - m - xhat mx).
template <class Acc>
void GradPiece(const Acc* dy, const Acc* x, const Acc* w, RowNumbers<Acc> row, Acc m, Acc mx,
               int64_t n, Acc* dx) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) {
    const Acc xhat = (x[i] - row.mean) * row.invstd;
    dx[i] = row.invstd * (dy[i] * w[i] - m - xhat * mx);
  }
}

}  // namespace internal

// Rows [begin, end) of inputs x, weight, bias into outputs y, mean, invstd; without kCentred,
// inputs x and weight into y and the reciprocal root mean square.
template <bool kCentred, class Acc>
void NormalizeRows(KernelContext& k, int64_t begin, int64_t end) {
  const int64_t cols = k.in_spec(0).shape[1];
  const double eps = k.attrs<LayerNormAttrs>().eps;
  internal::Pieces<Acc> x(RowsIn<Acc>(k, 0));
  internal::RowForAll<Acc> weight(RowsIn<Acc>(k, 1), 1);
  internal::RowForAll<Acc> bias(kCentred ? RowsIn<Acc>(k, 2) : RowsIn<Acc>(nullptr), 0);
  const RowsOut<Acc> y(k, 0);
  alignas(64) Acc result[internal::kNormPiece];
  for (int64_t r = begin; r < end; ++r) {
    const auto [mean, scale] = internal::RowStatistics<kCentred>(x, r * cols, cols, eps);
    const Acc invstd = static_cast<Acc>(scale), m = static_cast<Acc>(mean);
    if (kCentred) k.out<Acc>(1)[r] = m;
    k.out<Acc>(kCentred ? 2 : 1)[r] = invstd;
    internal::ForEachPiece(cols, [&](int64_t i, int64_t n) {
      const int64_t at = r * cols + i;
      Acc* const to = y.At(at, result);
      internal::NormalizePiece(x.At(at, n), m, invstd, weight.At(i, n), bias.At(i, n), n, to);
      y.Done(at, n, to);
    });
  }
}

// dx of rows [begin, end), and their column sums: dweight, and behind it dbias.
template <bool kCentred, class Acc>
void NormalizeRowsGrad(KernelContext& k, int64_t begin, int64_t end, Acc* sums) {
  const int64_t cols = k.in_spec(0).shape[1];
  internal::Pieces<Acc> dy(RowsIn<Acc>(k, 0)), x(RowsIn<Acc>(k, 1));
  internal::RowForAll<Acc> weight(RowsIn<Acc>(k, 2), 1);
  const RowsOut<Acc> dx(k, 0);
  alignas(64) Acc result[internal::kNormPiece];
  std::fill_n(sums, 2 * cols, Acc{0});
  for (int64_t r = begin; r < end; ++r) {
    const internal::RowNumbers<Acc> row{kCentred ? k.in<Acc>(3)[r] : Acc{0},
                                        k.in<Acc>(kCentred ? 4 : 3)[r]};
    double sum = 0, sum_xhat = 0;
    internal::ForEachPiece(cols, [&](int64_t i, int64_t n) {
      const int64_t at = r * cols + i;
      const auto [a, b] = internal::GradSums<kCentred>(dy.At(at, n), x.At(at, n), weight.At(i, n),
                                                       row, n, sums + i, sums + cols + i);
      sum += static_cast<double>(a);
      sum_xhat += static_cast<double>(b);
    });
    const Acc m = static_cast<Acc>(sum / static_cast<double>(cols));
    const Acc mx = static_cast<Acc>(sum_xhat / static_cast<double>(cols));
    internal::ForEachPiece(cols, [&](int64_t i, int64_t n) {
      const int64_t at = r * cols + i;
      Acc* const to = dx.At(at, result);
      internal::GradPiece(dy.At(at, n), x.At(at, n), weight.At(i, n), row, m, mx, n, to);
      dx.Done(at, n, to);
    });
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_NORMALIZE_ROWS_H_

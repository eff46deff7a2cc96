#ifndef FIRN_TENSOR_KERNELS_CPU_UNIT_ROWS_H_
#define FIRN_TENSOR_KERNELS_CPU_UNIT_ROWS_H_

// Rows of a matrix divided by their lengths, times a number for each, and the gradients. The factor
// of a row is computed in double. The few rows whose factor is not a normal number of the elements'
// type are computed in double, too.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "firn/tensor/kernels/cpu/normalize_rows.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// The factors of a row: x divided by its length is x * inverse, and the result is that times
// `scale`.
struct RowFactors {
  double inverse, scale;

  template <class Acc>
  bool Normal() const {
    const auto is = [](double v) { return v == 0 || std::isnormal(static_cast<Acc>(v)); };
    return is(inverse) && is(inverse * scale);
  }
};

namespace internal {

// 1 / max(sqrt(|x|^2 + eps), least) for the row at `row`.
template <class Acc>
double InverseLength(Pieces<Acc>& x, int64_t row, int64_t cols, double eps, double least) {
  const auto count = static_cast<double>(cols);
  const double scale = RowStatistics<false>(x, row, cols, eps / count).second;
  return std::min(scale / std::sqrt(count), 1 / least);
}

template <class Work, class Acc>
void ScalePiece(const Acc* x, RowFactors row, int64_t n, Acc* y) {
  const Work factor = static_cast<Work>(row.inverse * row.scale);
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Acc>(static_cast<Work>(x[i]) * factor);
}

// The sum of dy xhat.
template <class Work, class Acc>
double DotPiece(const Acc* dy, const Acc* x, RowFactors row, int64_t n) {
  const Work inverse = static_cast<Work>(row.inverse);
  const auto [sum, none] = SumPairs<Work>(n, [=](int64_t i) {
    return std::pair(static_cast<Work>(dy[i]) * (static_cast<Work>(x[i]) * inverse), Work{0});
  });
  return static_cast<double>(sum + none);
}

// dx = scale inverse (dy - xhat dot).
template <class Work, class Acc>
void UnitGradPiece(const Acc* dy, const Acc* x, RowFactors row, double dot, int64_t n, Acc* dx) {
  const Work inverse = static_cast<Work>(row.inverse), d = static_cast<Work>(dot);
  const Work factor = static_cast<Work>(row.inverse * row.scale);
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) {
    const Work xhat = static_cast<Work>(x[i]) * inverse;
    dx[i] = static_cast<Acc>(factor * (static_cast<Work>(dy[i]) - xhat * d));
  }
}

// f(TypeTag<Work>()) with the type in which a row is computed.
template <class Acc, class F>
void VisitWork(RowFactors row, const F& f) {
  if (row.Normal<Acc>()) [[likely]] {
    return f(TypeTag<Acc>());
  }
  f(TypeTag<double>());
}

}  // namespace internal

// Rows [begin, end) of inputs x and scale, which may be missing, into outputs y and inverse.
template <class Acc>
void UnitRows(KernelContext& k, double eps, double least, int64_t begin, int64_t end) {
  const int64_t cols = k.in_spec(0).shape[1];
  internal::Pieces<Acc> x(RowsIn<Acc>(k, 0));
  const RowsIn<Acc> scale(k, 1);
  const RowsOut<Acc> y(k, 0);
  alignas(64) Acc result[internal::kNormPiece];
  for (int64_t r = begin; r < end; ++r) {
    const double inverse = internal::InverseLength(x, r * cols, cols, eps, least);
    k.out<double>(1)[r] = inverse;
    const RowFactors row{inverse, scale.given() ? static_cast<double>(scale[r]) : 1};
    internal::VisitWork<Acc>(row, [&]<class Work>(TypeTag<Work>) {
      internal::ForEachPiece(cols, [&](int64_t i, int64_t n) {
        const int64_t at = r * cols + i;
        Acc* const to = y.At(at, result);
        internal::ScalePiece<Work>(x.At(at, n), row, n, to);
        y.Done(at, n, to);
      });
    });
  }
}

// Rows [begin, end) of inputs dy, x, scale and inverse into outputs dx and dscale. The length of a
// row whose inverse is 1 / least counts as constant.
template <class Acc>
void UnitRowsGrad(KernelContext& k, double least, int64_t begin, int64_t end) {
  const int64_t cols = k.in_spec(1).shape[1];
  internal::Pieces<Acc> dy(RowsIn<Acc>(k, 0)), x(RowsIn<Acc>(k, 1));
  const RowsIn<Acc> scale(k, 2);
  const RowsOut<Acc> dx(k, 0), dscale(k, 1);
  const bool wide = k.in_spec(3).dtype == DType::kF64;
  alignas(64) Acc result[internal::kNormPiece];
  for (int64_t r = begin; r < end; ++r) {
    const double inverse = wide ? k.in<double>(3)[r] : static_cast<double>(k.in<float>(3)[r]);
    const RowFactors row{inverse, scale.given() ? static_cast<double>(scale[r]) : 1};
    internal::VisitWork<Acc>(row, [&]<class Work>(TypeTag<Work>) {
      double dot = 0;
      internal::ForEachPiece(cols, [&](int64_t i, int64_t n) {
        const int64_t at = r * cols + i;
        dot += internal::DotPiece<Work>(dy.At(at, n), x.At(at, n), row, n);
      });
      const Acc of_scale = static_cast<Acc>(dot);
      dscale.Store(r, 1, &of_scale);
      const double moves = least > 0 && inverse >= 1 / least ? 0 : dot;
      internal::ForEachPiece(cols, [&](int64_t i, int64_t n) {
        const int64_t at = r * cols + i;
        Acc* const to = dx.At(at, result);
        internal::UnitGradPiece<Work>(dy.At(at, n), x.At(at, n), row, moves, n, to);
        dx.Done(at, n, to);
      });
    });
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_UNIT_ROWS_H_

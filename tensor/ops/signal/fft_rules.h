#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_RULES_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_RULES_H_

// Parts shared by transforms of complex and of real numbers: norms, checks, and several dimensions,
// one after the other.

#include <cmath>
#include <string_view>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/signal/fft.h"

namespace firn::fft {

inline constexpr DTypeSet kTransformed = SetOf(DType::kF32) | SetOf(DType::kF64);

inline double FactorOf(int64_t n, FftNorm norm, bool inverse) {
  if (norm == FftNorm::kOrtho) return 1 / std::sqrt(static_cast<double>(n));
  return inverse == (norm == FftNorm::kBackward) ? 1 / static_cast<double>(n) : 1;
}

inline absl::Status CheckNorm(FftNorm norm) {
  FIRN_RETURN_IF(norm > FftNorm::kForward,
                 InvalidArgument("no norm of number ", static_cast<int>(norm)));
  return absl::OkStatus();
}

// The dimension that `dim` names in x, where `rank` dimensions count.
inline absl::StatusOr<int> TransformedDim(const Shape& x, int rank, int64_t dim) {
  FIRN_RETURN_IF(dim < -rank || dim >= rank,
                 OutOfRange("dim ", dim, " is outside the ", rank, " dimensions of x ",
                            x.ToString(), " that are transformed"));
  return static_cast<int>(dim < 0 ? dim + rank : dim);
}

inline absl::Status CheckComplex(const Shape& x) {
  FIRN_RETURN_IF(x.dim(-1) != 2,
                 InvalidArgument("the last dimension of x must be real and imaginary part, got ",
                                 x.ToString()));
  return absl::OkStatus();
}

// Longer lines would need gigabytes for their roots of 1.
inline constexpr int64_t kMostNumbers = int64_t{1} << 27;

inline absl::Status CheckLength(const Shape& x, int dim) {
  FIRN_RETURN_IF(x[dim] > kMostNumbers,
                 InvalidArgument("dimension ", dim, " of x ", x.ToString(), " has more than ",
                                 kMostNumbers, " numbers"));
  FIRN_RETURN_IF(x[dim] < 1, InvalidArgument("dimension ", dim, " of x ", x.ToString(),
                                             " has no numbers to transform"));
  return absl::OkStatus();
}

// The norm with which the other direction has this direction's factor.
inline FftNorm Opposite(FftNorm norm) {
  if (norm == FftNorm::kOrtho) return norm;
  return norm == FftNorm::kBackward ? FftNorm::kForward : FftNorm::kBackward;
}

inline OpDef TransformOp(std::string_view doc, std::string_view x, int min_rank) {
  return {.doc = doc,
          .autocast = Autocast::kFull,
          .inputs = {{.name = x, .dtypes = kTransformed, .min_rank = min_rank}},
          .outputs = {{.name = x == "x" ? "y" : "x"}},
          .attrs = AttrsOf<FftAttrs>()};
}

// `dims` from the start, in order; all of the `rank` that count where there is none.
inline Dims Resolved(const Tensor& x, int rank, const DimList& dims, std::string_view op) {
  Dims all;
  for (int d = 0; dims.empty() && d < rank; ++d) all.push_back(d);
  for (const int64_t d : dims) {
    const absl::StatusOr<int> dim = TransformedDim(x.shape(), rank, d);
    if (!dim.ok()) RaiseStatus(dim.status(), op);
    for (int i = 0; i < all.rank; ++i) {
      if (all[i] == *dim) RaiseStatus(InvalidArgument("dim ", d, " is named twice"), op);
    }
    all.push_back(*dim);
  }
  if (all.rank == 0) RaiseStatus(InvalidArgument("x has no dimension to transform"), op);
  return all;
}

inline Dims ResolvedOfComplex(const Tensor& x, const DimList& dims, std::string_view op) {
  CheckDefined(x, op);
  if (x.rank() < 2) {
    RaiseStatus(InvalidArgument("x must have 2 to 8 dimensions, the last of them real and "
                                "imaginary part, got ",
                                x.shape().ToString()),
                op);
  }
  return Resolved(x, x.rank() - 1, dims, op);
}

// All of `dims` but the last, by `op`.
inline Tensor TransformOthers(const OpDef& op, Tensor x, const Dims& dims, int count,
                              FftNorm norm) {
  for (int i = 0; i < count; ++i) x = Apply1(op, {x}, FftAttrs{dims[i], norm});
  return x;
}

}  // namespace firn::fft

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_RULES_H_

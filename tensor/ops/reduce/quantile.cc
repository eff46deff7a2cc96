// quantile, nanquantile: elements in order, of which two are gathered for each quantile. Sort puts
// NaN last, so whether a line has one shows at its end, and the others are its first elements.

#include "firn/tensor/ops/reduce/quantile.h"

#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/scan/sort.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

void Check(const Tensor& x, const std::vector<double>& q, const char* name) {
  CheckDefined(x, name);
  if (!IsFloating(x.dtype())) {
    RaiseStatus(InvalidArgument("x must be floating, got ", x.spec().ToString()), name);
  }
  if (q.empty()) RaiseStatus(InvalidArgument("q must have numbers from 0 to 1, got none"), name);
  for (const double one : q) {
    if (!(one >= 0 && one <= 1)) {
      RaiseStatus(InvalidArgument("q must be from 0 to 1, got ", absl::StrJoin(q, ", ")), name);
    }
  }
}

// The elements in order along `dim`.
struct Line {
  Tensor sorted;
  int dim;
};
Line LineOf(const Tensor& x, std::optional<int64_t> dim, const char* name) {
  const bool flat = !dim.has_value() || x.rank() == 0;
  const absl::StatusOr<int> at = NormalizeDim(dim.value_or(0), x.shape());
  if (dim.has_value()) RaiseIfError(at.status(), name);
  const Line line{flat ? Flatten(x) : x, flat ? 0 : *at};
  if (line.sorted.size(line.dim) == 0) {
    RaiseStatus(InvalidArgument("x ", x.shape().ToString(), " has no elements",
                                flat ? std::string() : " in dim " + std::to_string(line.dim)),
                name);
  }
  return {Sort(Cast(line.sorted, ComputeDType(x.dtype())), line.dim).values, line.dim};
}

// The places of quantiles q along the dimension, f64. A line with NaN that counts gets the last.
Tensor PlacesOf(const Line& line, const std::vector<double>& q, bool skip_nan) {
  const Tensor nan = Isnan(line.sorted);
  const int64_t last = line.sorted.size(line.dim) - 1;
  const auto number = [&](double v) { return Full({}, v, DType::kF64, nan.device()); };
  Tensor ends;  // the place of the last element that counts
  if (skip_nan) {
    const Tensor count = Sum(LogicalNot(nan), line.dim, true);
    ends = Maximum(Sub(Cast(count, DType::kF64), 1), 0);
  }
  std::vector<Tensor> places;
  for (const double one : q) {
    const double end = static_cast<double>(last);
    places.push_back(skip_nan
                         ? Mul(ends, one)
                         : Where(Narrow(nan, line.dim, last, 1), number(end), number(one * end)));
  }
  return Concat(places, line.dim);
}

Tensor Pick(const Line& line, const Tensor& places, QuantileInterpolation rule) {
  const auto at = [&](const Tensor& place) {
    return Gather(line.sorted, line.dim, Cast(place, DType::kI64));
  };
  switch (rule) {
    case QuantileInterpolation::kLower:
      return at(Floor(places));
    case QuantileInterpolation::kHigher:
      return at(Ceil(places));
    case QuantileInterpolation::kNearest:
      return at(Round(places));
    case QuantileInterpolation::kMidpoint:
      return Lerp(at(Floor(places)), at(Ceil(places)), 0.5);
    case QuantileInterpolation::kLinear:
      break;
  }
  const Tensor below = Floor(places);
  return Lerp(at(below), at(Ceil(places)), Cast(Sub(places, below), line.sorted.dtype()));
}

// Returns x's shape without the reduced dimensions, or with size 1 there, behind the number of
// quantiles.
Tensor Quantiles(const Tensor& x, const std::vector<double>& q, bool list,
                 const QuantileOptions& options, const char* name, bool skip_nan) {
  Check(x, q, name);
  const Line line = LineOf(x, options.dim, name);
  Tensor places;
  {
    NoGradScope no_grad;
    places = PlacesOf(line, q, skip_nan);
  }
  const Tensor picked = Cast(Pick(line, places, options.interpolation), x.dtype());
  std::vector<int64_t> shape;
  if (list) shape.push_back(static_cast<int64_t>(q.size()));
  for (int d = 0; d < x.rank(); ++d) {
    const bool reduced = !options.dim.has_value() || d == line.dim;
    if (!reduced) shape.push_back(x.size(d));
    if (reduced && options.keepdim) shape.push_back(1);
  }
  return Reshape(Movedim(picked, line.dim, 0), shape);
}

}  // namespace

Tensor Quantile(const Tensor& x, Real q, const QuantileOptions& options) {
  return Quantiles(x, {q}, false, options, "quantile", false);
}
Tensor Quantile(const Tensor& x, const std::vector<double>& q, const QuantileOptions& options) {
  return Quantiles(x, q, true, options, "quantile", false);
}

Tensor Nanquantile(const Tensor& x, Real q, const QuantileOptions& options) {
  return Quantiles(x, {q}, false, options, "nanquantile", true);
}
Tensor Nanquantile(const Tensor& x, const std::vector<double>& q, const QuantileOptions& options) {
  return Quantiles(x, q, true, options, "nanquantile", true);
}

}  // namespace firn

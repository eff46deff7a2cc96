// Composites over norms and moments. Norms are scaled, because norms of elements in the range of a
// dtype may leave it. Standardize moves its dimensions to the end, applies a layer norm without an
// affine map, and restores the order by a view. For lengths of contiguous rows, Normalize and
// WeightNorm are one operation.

#include "firn/tensor/ops/norm/normalize.h"

#include <algorithm>
#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/ratio.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/norm/layer_norm.h"
#include "firn/tensor/ops/norm/unit_rows.h"
#include "firn/tensor/ops/reduce/norm.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

void CheckEps(double eps, std::string_view op) {
  if (!(eps >= 0)) RaiseStatus(InvalidArgument("eps must be 0 or more, got ", eps), op);
}

Dims DimsOf(const Tensor& x, absl::Span<const int64_t> dims, std::string_view op) {
  const absl::StatusOr<Dims> found = NormalizeDims(dims, x.shape());
  if (!found.ok()) RaiseStatus(found.status(), op);
  return *found;
}

bool Contains(const Dims& dims, int64_t dim) {
  return std::find(dims.d, dims.d + dims.rank, dim) != dims.d + dims.rank;
}

// All dimensions but one; empty where there is no other.
DimList AllBut(int rank, int dim) {
  DimList others;
  for (int i = 0; i < rank; ++i) {
    if (i != dim) others.d[others.rank++] = i;
  }
  return others;
}

// Elements of a row, if `dims` of x are the last ones, some but not all; else 0.
int64_t RowOf(const Tensor& x, const Dims& dims) {
  const int64_t first = x.rank() - dims.rank;
  int64_t size = first > 0 && dims.rank > 0 ? 1 : 0;
  for (int i = 0; i < dims.rank; ++i) size *= dims.d[i] >= first ? x.shape()[dims.d[i]] : 0;
  return size;
}

}  // namespace

Tensor Normalize(const Tensor& x, Real p, const DimList& dims, Real eps) {
  CheckDefined(x, "normalize");
  CheckEps(eps, "normalize");
  // Zeros are divided by eps, for which unit_rows multiplies by the reciprocal.
  const bool held = std::isfinite(1 / double{eps});
  if (p == 2.0 && held && !dims.empty() && IsFloating(x.dtype())) {
    const int64_t row = RowOf(x, DimsOf(x, dims, "normalize"));
    if (TakesUnitRows(x.device(), row)) {
      const Tensor rows = Reshape(x, {x.num_elements() / row, row});
      return Reshape(UnitRows(rows, {}, {.least = eps}), x.shape());
    }
  }
  // f16 holds neither the default eps, nor some norms, nor the gradients of small ones.
  const Tensor wide = Cast(x, ComputeDType(x.dtype()));
  const auto [norms, scale] = ScaledNorm(wide, p, dims);
  const Tensor lengths = Clamp(norms, double{eps} * scale);
  return Cast(MulRatio(wide, FullLike(lengths, scale), lengths), x.dtype());
}

Tensor Standardize(const Tensor& x, const DimList& dims, Real eps) {
  CheckDefined(x, "standardize");
  CheckEps(eps, "standardize");
  const Dims over = DimsOf(x, dims, "standardize");
  DimList order, back;
  Shape sizes;
  for (const bool reduced : {false, true}) {
    for (int64_t i = 0; i < x.rank(); ++i) {
      if (Contains(over, i) == reduced) order.d[order.rank++] = i;
    }
  }
  back.rank = order.rank;
  for (int i = 0; i < order.rank; ++i) back.d[order.d[i]] = i;
  const Tensor moved = Permute(x, order);
  int64_t size = 1;
  for (int i = 0; i < over.rank; ++i) size *= x.shape()[over.d[i]];
  if (x.num_elements() == 0) return Mul(x, 1);
  const Tensor y = LayerNorm(Reshape(moved, {x.num_elements() / size, size}), {size}, {}, {}, eps);
  return Permute(Reshape(y, moved.shape()), back);
}

Tensor WeightNorm(const Tensor& v, const Tensor& g, const WeightNormOptions& options) {
  CheckDefined(v, "weight_norm", "v");
  CheckDefined(g, "weight_norm", "g");
  CheckEps(options.eps, "weight_norm");
  Dims kept;
  if (options.dim) kept = DimsOf(v, {&*options.dim, 1}, "weight_norm");
  const bool all = !options.dim || v.rank() == 0;
  const int dim = all ? -1 : static_cast<int>(kept.d[0]);
  Dims ones;  // the shape of a length for each index
  ones.rank = v.rank();
  for (int i = 0; i < v.rank(); ++i) ones.d[i] = i == dim ? v.shape()[i] : 1;
  const Shape lengths(absl::MakeConstSpan(ones.d, static_cast<size_t>(ones.rank)));
  const bool fits = g.shape() == lengths || (all && g.num_elements() == 1) ||
                    (!all && g.shape() == Shape({v.shape()[dim]}));
  if (!fits) {
    RaiseStatus(InvalidArgument("g ", g.shape().ToString(), " does not fit v ",
                                v.shape().ToString(), ": expected ", lengths.ToString(),
                                all ? " or one element" : " or one element for each index of dim"),
                "weight_norm");
  }
  const int64_t row = dim == 0 && v.shape()[0] > 0 ? v.num_elements() / v.shape()[0] : 0;
  if (TakesUnitRows(v.device(), row) && IsFloating(v.dtype()) && g.dtype() == v.dtype()) {
    const Tensor y =
        UnitRows(Reshape(v, {v.shape()[0], row}), Reshape(g, {v.shape()[0]}), {.eps = options.eps});
    return Reshape(y, v.shape());
  }
  const DimList others = AllBut(v.rank(), dim);
  // f16 holds neither the usual eps nor the square of 300.
  const Tensor wide = Cast(v, ComputeDType(v.dtype()));
  const bool single = others.empty() && !all;
  auto [norms, scale] = single ? ScaledNorms{Abs(wide), 1} : ScaledNorm(wide, 2, others);
  if (options.eps > 0) norms = Hypot(norms, FullLike(norms, std::sqrt(options.eps) * scale));
  Tensor length = Reshape(g, lengths);
  if (wide.dtype() != v.dtype() && g.dtype() == v.dtype()) length = Cast(length, wide.dtype());
  const Tensor ratio = Div(scale == 1 ? length : Mul(length, scale), norms);
  if (wide.dtype() == v.dtype() || g.dtype() != v.dtype()) return Mul(v, ratio);
  return Cast(Mul(wide, ratio), v.dtype());
}

}  // namespace firn

// The way back from reductions, and reductions along lines.

#include "firn/tensor/ops/reduce/reduction.h"

#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn {

Tensor KeepReduced(const Tensor& reduced, const ReduceAttrs& attrs, const Shape& shape) {
  if (attrs.keepdim) return reduced;
  const absl::StatusOr<Dims> dims = NormalizeDims(attrs.dims, shape);
  RaiseIfError(dims.status(), "reduction");
  return Reshape(reduced, ReducedShape(shape, *dims, true));
}

Tensor SpreadReduced(const Tensor& reduced, const ReduceAttrs& attrs, const Shape& shape) {
  return Expand(KeepReduced(reduced, attrs, shape), shape);
}

Tensor SpreadToEqual(const Tensor& dy, const Tensor& x, const Tensor& y, const ReduceAttrs& attrs) {
  const Tensor hit = Eq(x, KeepReduced(y, attrs, x.shape()));
  const Tensor count = Sum(Cast(hit, ComputeDType(x.dtype())), attrs.dims, true);
  return Where(hit, DivInFloat(KeepReduced(dy, attrs, x.shape()), count), 0);
}

void GradOfExtreme(GradContext& g) {
  g.set_grad_input(0,
                   SpreadToEqual(g.grad_output(), g.input(0), g.output(0), g.attrs<ReduceAttrs>()));
}

std::optional<Lines> ReducedLines(const Tensor& of, const ReduceAttrs& attrs) {
  const Shape& x = of.shape();
  const absl::StatusOr<Dims> dims = NormalizeDims(attrs.dims, x);
  if (!dims.ok()) return std::nullopt;
  bool reduced[kMaxRank] = {};
  for (int64_t d : dims->span()) reduced[d] = true;
  Lines l;
  bool any = false, after = false;
  for (int d = 0; d < x.rank(); ++d) {
    if (x[d] == 1) continue;
    if (reduced[d] && after) return std::nullopt;
    (reduced[d] ? l.length : any ? l.inner : l.outer) *= x[d];
    any = any || reduced[d];
    after = any && !reduced[d];
  }
  constexpr int64_t kLeastRows = 16, kOnOneThread = 65536;
  if (l.inner == 1 && l.outer < kLeastRows && l.length > kOnOneThread) return std::nullopt;
  constexpr int64_t kWide = 256, kConvertedLength = 512;
  const bool half = of.dtype() == DType::kF16 || of.dtype() == DType::kBF16;
  if (half && l.inner >= kWide && l.length > kConvertedLength) return std::nullopt;
  return l;
}

Tensor SeenAsLines(const Tensor& x, const Lines& l) {
  return Reshape(x, {l.outer, l.length, l.inner});
}

Tensor SeenAsLineResults(const Tensor& reduced, const Lines& l) {
  return Reshape(reduced, {l.outer, 1, l.inner});
}

absl::Status InferWithLineNumbers(InferContext& c) {
  const Shape& x = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(c.attrs<DimAttrs>().dim, x));
  Dims kept;
  for (int d = 0; d < x.rank(); ++d) kept.push_back(d == dim ? 1 : x[d]);
  const Shape expected = Shape::Trusted(kept);
  for (int i = 1; i < c.num_inputs(); ++i) {
    FIRN_RETURN_IF(c.has(i) && c.shape(i) != expected,
                   InvalidArgument("expected ", expected.ToString(), " beside x ", x.ToString(),
                                   ", got ", c.shape(i).ToString()));
  }
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

ValuesAndIndices PickedAlong(const Tensor& x, const Tensor& index, int64_t dim, bool keepdim) {
  if (x.rank() == 0) return {x, index};
  const Tensor values = Gather(x, dim, index);
  if (keepdim) return {values, index};
  return {Squeeze(values, dim), Squeeze(index, dim)};
}

}  // namespace firn

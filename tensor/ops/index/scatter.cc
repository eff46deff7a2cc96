// scatter: writes elements. x gets the gradient of elements that were not overwritten, source a
// gathered one. scatter_reduce: products and extremes, with x's own element. Sums and means use
// scatter_add. Where x does not count, its elements that would be combined with others are first
// replaced by a neutral one, which also keeps gradients from them.
//
// The gradient of a product is the product over the element, except where elements are 0: then it
// is the product of the others if there is one 0, else 0. It is computed from a product in which
// zeros count as 1, and the number of zeros.

#include "firn/tensor/ops/index/scatter.h"

#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/index/scatter_body.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/problems/index_rules.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

// All three inputs have as many dimensions, and source the indices' shape.
absl::Status InferScattered(InferContext& c, int64_t dim) {
  FIRN_RETURN_IF_ERROR(ResolveElementIndex(dim, c.shape(1), {{"x", &c.shape(0)}}).status());
  FIRN_RETURN_IF(c.shape(2) != c.shape(1),
                 InvalidArgument("source ", c.shape(2).ToString(),
                                 " must have the shape of indices ", c.shape(1).ToString()));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

template <class A>
absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  const Shape& x = q.in(0).shape;
  return WrappingBounds(x[*NormalizeDim(q.attrs<A>().dim, x)]);
}

OpDef Definition(std::string_view doc, DTypeSet dtypes) {
  return {.doc = doc,
          .inputs = {{.name = "x", .dtypes = dtypes, .min_rank = 1},
                     {.name = "indices", .dtypes = kIndex},
                     {.name = "source", .same_dtype_as = "x"}},
          .outputs = {{.name = "y"}},
          .index_inputs = {1}};
}

absl::Status InferScatter(InferContext& c) { return InferScattered(c, c.attrs<DimAttrs>().dim); }

void GradScatter(GradContext& g) {
  const int64_t dim = g.attrs<DimAttrs>().dim;
  const Tensor &dy = g.grad_output(), &indices = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, Scatter(dy, dim, indices, 0));
  if (g.needs(2)) g.set_grad_input(2, Gather(dy, dim, indices));
}

FIRN_REGISTER_OP(scatter) {
  OpDef op = Definition("A copy of x with source written at indices.", kAnyDType);
  op.attrs = AttrsOf<DimAttrs>();
  op.infer = InferScatter;
  op.grad = GradScatter;
  op.saves = {Saved::Input(1)};
  op.index_bounds = Bounds<DimAttrs>;
  op.kernels = cpu::Portable<ScatterKernel>();
  return op;
}

absl::Status InferScatterReduce(InferContext& c) {
  const ScatterReduceAttrs& a = c.attrs<ScatterReduceAttrs>();
  FIRN_RETURN_IF(
      a.reduce != ScatterReduction::kProd && a.reduce != ScatterReduction::kAmax &&
          a.reduce != ScatterReduction::kAmin,
      InvalidArgument("reduce must be prod, amax or amin, got ", static_cast<int>(a.reduce)));
  return InferScattered(c, a.dim);
}

void GradOfExtreme(GradContext& g, int64_t dim) {
  const Tensor &x = g.input(0), &indices = g.input(1), &source = g.input(2), &y = g.output(0);
  const Tensor &dy = g.grad_output(), reached = Gather(y, dim, indices);
  const Tensor own = Eq(x, y), theirs = Eq(source, reached);
  const DType counted = ComputeDType(y.dtype());
  const Tensor count = ScatterAdd(Cast(own, counted), dim, indices, Cast(theirs, counted));
  const Tensor share = DivInFloat(dy, Maximum(count, 1));
  if (g.needs(0)) g.set_grad_input(0, Where(own, share, 0.0));
  if (g.needs(2)) g.set_grad_input(2, Where(theirs, Gather(share, dim, indices), 0.0));
}

void GradOfProduct(GradContext& g, const ScatterReduceAttrs& a) {
  const Tensor &x = g.input(0), &indices = g.input(1), &source = g.input(2), &dy = g.grad_output();
  const Tensor zero_x = Eq(x, 0), zero_source = Eq(source, 0);
  const Tensor x1 = Where(zero_x, 1, x), source1 = Where(zero_source, 1, source);
  const Tensor product = Apply1(TheOp<"scatter_reduce">(), {x1, indices, source1}, a);
  const Tensor zeros =
      ScatterAdd(Cast(zero_x, DType::kI64), a.dim, indices, Cast(zero_source, DType::kI64));
  const Tensor flow = Mul(dy, product);
  // For each element: the product of the others is not 0 if there are no other zeros.
  if (g.needs(0)) {
    const Tensor others = Eq(zeros, Cast(zero_x, DType::kI64));
    g.set_grad_input(0, Where(others, Div(flow, x1), 0.0));
  }
  if (!g.needs(2)) return;
  const Tensor others = Eq(Gather(zeros, a.dim, indices), Cast(zero_source, DType::kI64));
  g.set_grad_input(2, Where(others, Div(Gather(flow, a.dim, indices), source1), 0.0));
}

void GradScatterReduce(GradContext& g) {
  const ScatterReduceAttrs& a = g.attrs<ScatterReduceAttrs>();
  if (a.reduce == ScatterReduction::kProd) return GradOfProduct(g, a);
  GradOfExtreme(g, a.dim);
}

FIRN_REGISTER_OP(scatter_reduce) {
  OpDef op =
      Definition("A copy of x, multiplied by source at indices, or the extreme of both.", kNumeric);
  op.attrs = AttrsOf<ScatterReduceAttrs>();
  op.infer = InferScatterReduce;
  op.grad = GradScatterReduce;
  op.saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2), Saved::Output(0)};
  op.index_bounds = Bounds<ScatterReduceAttrs>;
  op.kernels = cpu::Portable<ScatterReduceKernel>();
  return op;
}

// The part of source that goes with the indices; a number is repeated for all indices, for sums and
// products (`operand`) as an operand.
Tensor PartOf(const Tensor& source, const Tensor& x, const Tensor& indices, int64_t dim,
              std::string_view op, bool operand = false) {
  CheckDefined(x, op);
  CheckDefined(indices, op, "indices");
  CheckDefined(source, op, "source");
  if (source.impl()->weak_number) {
    const Tensor number = operand ? AsDType(source, x.dtype(), x.device())
                                  : AsElement(source, x.dtype(), x.device(), op, "source");
    return Expand(number, indices.shape());
  }
  const absl::StatusOr<int> at =
      ResolveElementIndex(dim, indices.shape(), {{"x", &x.shape()}, {"source", &source.shape()}});
  RaiseIfError(at.status(), op);
  if (indices.size(*at) > source.size(*at)) {
    RaiseStatus(InvalidArgument("indices ", indices.shape().ToString(), " are more than source ",
                                source.shape().ToString(), " in dim ", *at),
                op);
  }
  Tensor part = source;
  for (int d = 0; d < source.rank(); ++d) {
    if (part.size(d) != indices.size(d)) part = Slice(part, d, 0, indices.size(d));
  }
  return part;
}

// The number that changes no extreme of elements of this dtype.
Tensor LeastExtreme(DType dtype, bool largest) {
  if (IsFloating(dtype)) return largest ? -INFINITY : INFINITY;
  return VisitInteger(dtype, [&]<class T>(TypeTag<T>) {
    using Limits = std::numeric_limits<T>;
    return Tensor(static_cast<int64_t>(largest ? Limits::lowest() : Limits::max()));
  });
}

Tensor NeutralElement(DType dtype, ScatterReduction reduce) {
  switch (reduce) {
    case ScatterReduction::kProd:
      return 1;
    case ScatterReduction::kAmax:
    case ScatterReduction::kAmin:
      return LeastExtreme(dtype, reduce == ScatterReduction::kAmax);
    default:
      return 0;
  }
}

}  // namespace

Tensor Scatter(const Tensor& x, Integer dim, const Tensor& indices, const Tensor& source) {
  const OpDef& op = TheOp<"scatter">();
  return Apply1(op, {x, indices, PartOf(source, x, indices, dim, op.name)}, DimAttrs{dim});
}

Tensor ScatterReduce(const Tensor& x, Integer dim, const Tensor& indices, const Tensor& source,
                     ScatterReduction reduce, Flag include_self) {
  const OpDef& op = TheOp<"scatter_reduce">();
  const bool operand = reduce == ScatterReduction::kSum || reduce == ScatterReduction::kProd;
  const Tensor part = PartOf(source, x, indices, dim, op.name, operand);
  if (x.dtype() == DType::kBool) {
    RaiseStatus(InvalidArgument("x must be of numbers, got ", x.spec().ToString()), op.name);
  }
  if (reduce > ScatterReduction::kAmin) {
    RaiseStatus(InvalidArgument("reduce must be sum, prod, mean, amax or amin, got ",
                                static_cast<int>(reduce)),
                op.name);
  }
  const Tensor base =
      include_self ? x : Scatter(x, dim, indices, NeutralElement(x.dtype(), reduce));
  if (reduce == ScatterReduction::kSum) return ScatterAdd(base, dim, indices, part);
  if (reduce != ScatterReduction::kMean) {
    return Apply1(op, {base, indices, part}, ScatterReduceAttrs{dim, reduce});
  }
  // Counts and sums may exceed the elements' own dtype.
  const bool whole = IsIntegral(x.dtype());
  const DType counted = whole ? DType::kI64 : ComputeDType(x.dtype());
  const Tensor ones = Ones(x.shape(), counted, x.device());
  const Tensor alone = include_self ? ones : Scatter(ones, dim, indices, 0);
  const Tensor counts = ScatterAdd(alone, dim, indices, Ones(part.shape(), counted, part.device()));
  const Tensor sums = ScatterAdd(Cast(base, counted), dim, indices, Cast(part, counted));
  const DivRounding rounding = whole ? DivRounding::kFloor : DivRounding::kNone;
  return Cast(Div(sums, Maximum(counts, 1), rounding), x.dtype());
}

}  // namespace firn

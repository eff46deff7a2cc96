// cdist: of f32 and f64; half types are computed in f32, which their distances need. With the
// difference d of two rows and their distance D, dD / dd_k = sign(d_k) (|d_k| / D)^(p - 1), and 0
// for D = 0. The gradient to y is that to x with distances transposed. cdist_grad: has no gradient
// of its own. Where one is needed, the rule of cdist computes with all differences [..., n, m, d]
// as tensors.

#include "firn/tensor/ops/linear/distance.h"

#include <cmath>
#include <initializer_list>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/ratio.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/linear/distance_tiles_body.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr DTypeSet kSingleOrDouble = SetOf(DType::kF32) | SetOf(DType::kF64);

// The leading dimensions of x, and these two.
Shape WithLast(const Shape& x, int64_t rows, int64_t columns) {
  Dims d = x.dims();
  d[d.rank - 2] = rows;
  d[d.rank - 1] = columns;
  return Shape::Trusted(d);
}

// The shape of distances between x and y; an error if shapes do not fit.
absl::StatusOr<Shape> DistancesShape(const Shape& x, const Shape& y, double p) {
  FIRN_RETURN_IF(!(p >= 0), InvalidArgument("p must be at least 0, got ", p));
  FIRN_RETURN_IF(x.rank() != y.rank() || WithLast(x, 0, x.dim(-1)) != WithLast(y, 0, x.dim(-1)) ||
                     x.dim(-1) != y.dim(-1),
                 InvalidArgument("x ", x.ToString(), " and y ", y.ToString(),
                                 " must agree but for their rows, the last dimension but one"));
  const Shape shape = WithLast(x, x.dim(-2), y.dim(-2));
  return Shape::Make(shape.span());
}

absl::Status InferCdist(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape,
                        DistancesShape(c.shape(0), c.shape(1), c.attrs<CdistAttrs>().p));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status InferCdistGrad(InferContext& c) {
  const CdistGradAttrs& a = c.attrs<CdistGradAttrs>();
  const int first = a.turned ? 2 : 1;
  FIRN_ASSIGN_OR_RETURN(const Shape shape, DistancesShape(c.shape(first), c.shape(3 - first), a.p));
  for (int i : {0, 3}) {
    FIRN_RETURN_IF(c.shape(i) != shape,
                   InvalidArgument(i == 0 ? "dy" : "distances", " must have shape ",
                                   shape.ToString(), ", got ", c.shape(i).ToString()));
  }
  c.set_out_like(0, 1);
  return absl::OkStatus();
}

// dy times the derivatives by each difference [..., n, m, d], of operations that have gradients.
Tensor FlowOfDifferences(const Tensor& dy, const Tensor& difference, const Tensor& distance,
                         double p) {
  if (p == 2) return MulRatio(difference, dy, distance);
  const Tensor zero = Eq(distance, 0), flow = Where(zero, 0.0, dy);
  if (p == 1) return Mul(Sign(difference), flow);
  const Tensor size = Abs(difference), sign = Mul(Sign(difference), flow);
  if (std::isinf(p)) return Where(Lt(size, distance), 0.0, sign);
  // sign(0) is 0; the power of 1 keeps infinity away.
  const Tensor ratio = Where(Eq(size, 0), 1.0, Div(size, Where(zero, 1.0, distance)));
  return Mul(sign, Pow(ratio, p - 1));
}

void Grad(GradContext& g) {
  const double p = g.attrs<CdistAttrs>().p;
  const Tensor &x = g.input(0), &y = g.input(1), &distances = g.output(0), &dy = g.grad_output();
  if (!GradEnabled() || p == 0) {
    if (g.needs(0)) g.set_grad_input(0, CdistGrad(dy, x, y, distances, {p}));
    if (g.needs(1)) g.set_grad_input(1, CdistGrad(dy, y, x, distances, {p, true}));
    return;
  }
  const Tensor difference = Sub(Unsqueeze(x, -2), Unsqueeze(y, -3));
  const Tensor flow = FlowOfDifferences(Unsqueeze(dy, -1), difference, Unsqueeze(distances, -1), p);
  if (g.needs(0)) g.set_grad_input(0, Sum(flow, -2));
  if (g.needs(1)) g.set_grad_input(1, Neg(Sum(flow, -3)));
}

// Whether there are rows enough to fill tiles; for fewer, the portable kernels go pair by pair.
absl::Status SupportsTiles(const KernelQuery& q) {
  const Shape &x = q.in(0).shape, &y = q.in(1).shape;
  FIRN_RETURN_IF(x.dim(-2) < 4 || y.dim(-2) < 8 || x.dim(-1) == 0, Unimplemented("few rows"));
  const double p = q.attrs<CdistAttrs>().p;
  FIRN_RETURN_IF(p != 0 && p != 1 && p != 2 && !std::isinf(p), Unimplemented("another power"));
  return absl::OkStatus();
}

absl::Status RunTiles(KernelContext& k) {
  const Shape& x = k.in_spec(0).shape;
  const int64_t matrices = x.num_elements() / (x.dim(-2) * x.dim(-1));
  return VisitCdist(k, [&]<class T, class R>(const CdistBody<T, R>& body) {
    if constexpr (!std::is_same_v<R, PowerSum<T>>) cpu::DistanceTiles<T, R>::Run(body, matrices);
    return absl::OkStatus();
  });
}

FIRN_REGISTER_OP(cdist) {
  return {
      .doc = "The p-norms of the differences of all rows of x and y.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x", .dtypes = kSingleOrDouble, .min_rank = 2, .max_rank = kMaxRank - 1},
                 {.name = "y", .same_dtype_as = "x", .min_rank = 2, .max_rank = kMaxRank - 1}},
      .outputs = {{.name = "distances"}},
      .attrs = AttrsOf<CdistAttrs>(),
      .infer = InferCdist,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Output(0)},
      .kernels = cpu::Portable<CdistKernel>(
          {.name = "loop"}, {{.name = "tiles", .supports = SupportsTiles, .run = RunTiles}}),
  };
}

absl::Status SupportsRegisters(const KernelQuery& q) {
  const double p = q.attrs<CdistGradAttrs>().p;
  FIRN_RETURN_IF(p != 1 && p != 2 && !std::isinf(p), Unimplemented("another power"));
  return absl::OkStatus();
}

absl::Status RunRegisters(KernelContext& k) {
  const Shape& x = k.in_spec(1).shape;
  const int64_t rows = x.num_elements() / std::max<int64_t>(x.dim(-1), 1);
  return VisitCdistGrad(k, [&]<class T, class Slope>(const CdistGradBody<T, Slope>& body) {
    if constexpr (!std::is_same_v<Slope, SlopeOfPower<T>>) {
      cpu::ForEach(rows, cpu::DistanceGradRows<T, Slope>{body});
    }
    return absl::OkStatus();
  });
}

FIRN_REGISTER_OP(cdist_grad) {
  const auto like = [](std::string_view name) {
    return ArgDecl{.name = name, .same_dtype_as = "dy", .min_rank = 2};
  };
  return {
      .doc = "The gradient of cdist to x. Not differentiable.",
      .inputs = {{.name = "dy", .dtypes = kSingleOrDouble, .min_rank = 2},
                 like("x"),
                 like("y"),
                 like("distances")},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<CdistGradAttrs>(),
      .infer = InferCdistGrad,
      .kernels = cpu::Portable<CdistGradKernel>(
          {.name = "loop"},
          {{.name = "registers", .supports = SupportsRegisters, .run = RunRegisters}}),
  };
}

// x [..., rows, d] with the batch dimensions of `batch`.
Tensor WithBatch(const Tensor& x, const Shape& batch) {
  Dims d = batch.dims();
  d.push_back(x.size(-2));
  d.push_back(x.size(-1));
  return Expand(x, d.span());
}

Shape BatchOf(const Tensor& x, const char* name) {
  if (x.rank() < 2 || x.rank() == kMaxRank) {
    RaiseStatus(InvalidArgument(name, " must have 2 to ", kMaxRank - 1, " dimensions, got ",
                                x.shape().ToString()),
                "cdist");
  }
  return Shape(x.shape().span().subspan(0, static_cast<size_t>(x.rank() - 2)));
}

}  // namespace

Tensor inner::CdistGrad(const Tensor& dy, const Tensor& x, const Tensor& y, const Tensor& distances,
                        const CdistGradAttrs& attrs) {
  return Apply1(TheOp<"cdist_grad">(), {dy, x, y, distances}, attrs);
}

Tensor Cdist(const Tensor& x, const Tensor& y, Real p) {
  const OpDef& op = TheOp<"cdist">();
  CheckDefined(x, op.name);
  CheckDefined(y, op.name, "y");
  const absl::StatusOr<Shape> batch = BroadcastShapes(BatchOf(x, "x"), BatchOf(y, "y"));
  RaiseIfError(batch.status(), op.name);
  const Tensor a = WithBatch(x, *batch), b = WithBatch(y, *batch);
  const DType dtype = x.dtype(), wide = ComputeDType(dtype);
  if (wide == dtype || y.dtype() != dtype) return Apply1(op, {a, b}, CdistAttrs{p});
  return Cast(Apply1(op, {Cast(a, wide), Cast(b, wide)}, CdistAttrs{p}), dtype);
}

}  // namespace firn

// prod: the product over dimensions.
//
// The gradient dx_i = dy * prod_{j != i} x_j is dy * prod / x_i without zeros among the elements of
// a result; with one zero only that element has a gradient, with more no element has. Where prod
// leaves the range of its type it is computed again with an exponent of its own. The gradient's own
// gradient is made of scans.

#include "firn/tensor/ops/reduce/product.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/reduction_ops.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/cpu/softmax.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/product_body.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/scan/cumulative.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

absl::Status InferGrad(InferContext& c) {
  const ReduceAttrs& a = c.attrs<ReduceAttrs>();
  FIRN_ASSIGN_OR_RETURN(const Dims dims, NormalizeDims(a.dims, c.shape(1)));
  const Shape want = ReducedShape(c.shape(1), dims, a.keepdim);
  FIRN_RETURN_IF(c.shape(0) != want, InvalidArgument("dy must have shape ", want.ToString(),
                                                     ", got ", c.shape(0).ToString()));
  c.set_out_like(0, 1);
  return absl::OkStatus();
}

// Summary of the elements of a result: the product of those that are not 0, and the number of
// zeros.
template <class Acc>
struct Factors {
  Acc product = 1, zeros = 0;

  static Acc Factor(Acc v) { return v == 0 ? Acc{1} : v; }
  static Acc Zero(Acc v) { return v == 0 ? Acc{1} : Acc{0}; }
  // The product of the elements other than v.
  static FIRN_ALWAYS_INLINE Acc Others(Acc product, Acc zeros, Acc v) {
    const Acc alone = zeros == 1 ? product : Acc{0};
    return zeros == 0 ? product / v : v == 0 ? alone : Acc{0};
  }
};

// The product of the elements of each line that are not 0. A single line is read as rows, whose
// columns are products that do not wait for each other.
template <class Acc>
void FarProducts(const cpu::Strip& s, const cpu::RowsIn<Acc>& x, FarNumber* all) {
  Acc tile[cpu::kStripWidth];
  const int64_t step = s.line() ? cpu::kStripWidth : 1;
  for (int64_t i = 0; i < s.length; i += step) {
    const int64_t n = s.line() ? std::min(step, s.length - i) : s.width;
    const Acc* const row = x.At(s.offset + i * s.stride, n, tile);
    for (int64_t c = 0; c < n; ++c) all[c].Times(row[c] == 0 ? 1.0 : static_cast<double>(row[c]));
  }
  const int64_t columns = s.line() ? std::min(step, s.length) : 0;
  for (int64_t c = 1; c < columns; ++c) {
    all[0].Times(all[c].part);
    all[0].exponent += all[c].exponent;
  }
}

template <class Acc>
void GradOfStrip(const cpu::Strip& s, const cpu::RowsOut<Acc>& dx, const cpu::RowsIn<Acc>& x,
                 const cpu::RowsIn<Acc>& dy) {
  using F = Factors<Acc>;
  Acc product[cpu::kStripWidth], zeros[cpu::kStripWidth], flow[cpu::kStripWidth];
  dy.Load(s.first, s.width, flow);
  const auto factor = [](int64_t, int64_t, Acc v) { return F::Factor(v); };
  cpu::CombineStrip(ProdReducer<Acc>(), s, factor, product, x);
  cpu::SumStrip(
      s, [](int64_t, int64_t, Acc v) { return F::Zero(v); }, zeros, x);
  const auto near = [&](int64_t c, int64_t, Acc v) {
    return flow[c] * F::Others(product[c], zeros[c], v);
  };
  if (std::none_of(product, product + s.width, IsFarProduct<Acc>)) [[likely]]
    return cpu::MapStrip(s, dx, near, x);
  FarNumber all[cpu::kStripWidth];
  FarProducts(s, x, all);
  const auto far = [&](int64_t c, int64_t i, Acc v) {
    Acc d;
    return FarGrad(all[c], zeros[c], v, flow[c], d) ? d : near(c, i, v);
  };
  cpu::MapStrip(s, dx, far, x);
}

// One result's elements, at any strides.
template <class Acc>
void GradOfOne(const ReducePlan& p, int64_t first, const cpu::RowsIn<Acc>& x, Acc dy,
               const cpu::RowsOut<Acc>& dx) {
  Factors<Acc> f;
  cpu::internal::Odometer at(p.reduced_sizes, p.reduced_strides, p.reduced_sizes.rank, 0);
  for (int64_t i = 0; i < p.reduced; ++i, at.Next()) {
    const Acc v = x[first + at.offset()];
    f.product *= f.Factor(v);
    f.zeros += f.Zero(v);
  }
  for (int64_t i = 0; i < p.reduced; ++i, at.Next()) {  // the odometer is back at the first
    const Acc d = dy * f.Others(f.product, f.zeros, x[first + at.offset()]);
    dx.Store(first + at.offset(), 1, &d);
  }
  if (!IsFarProduct(f.product)) [[likely]]
    return;
  const FarNumber all = FarProduct(p.reduced, [&](int64_t) {
    const Acc v = x[first + at.offset()];
    at.Next();
    return static_cast<double>(v);
  });
  for (int64_t i = 0; i < p.reduced; ++i, at.Next()) {
    Acc d;
    if (!FarGrad(all, f.zeros, x[first + at.offset()], dy, d)) return;
    dx.Store(first + at.offset(), 1, &d);
  }
}

// The lines over which `dims`, normalised and in order, go; none if others lie between them.
std::optional<Lines> LinesOver(const Shape& shape, const Dims& dims) {
  if (dims.rank > 0 && dims[dims.rank - 1] - dims[0] != dims.rank - 1) return {};
  Lines l;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool outer = dims.rank > 0 && d < dims[0];
    const bool inner = dims.rank == 0 || d > dims[dims.rank - 1];
    (outer ? l.outer : inner ? l.inner : l.length) *= shape[d];
  }
  return l;
}

absl::Status RunGrad(KernelContext& k) {
  const Shape& shape = k.in_spec(1).shape;
  FIRN_ASSIGN_OR_RETURN(const Dims dims, NormalizeDims(k.attrs<ReduceAttrs>().dims, shape));
  const std::optional<Lines> lines = LinesOver(shape, dims);
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    const cpu::RowsIn<Acc> dy(k, 0), x(k, 1);
    const cpu::RowsOut<Acc> dx(k, 0);
    if (lines) {
      const auto strip = [&](const cpu::Strip& s, const auto& to, const auto& from) {
        GradOfStrip(s, to, from, dy);
      };
      return cpu::ForEachStrip(*lines, dx, strip, x);
    }
    const ReducePlan p = PlanReduction(k.in_spec(1), k.attrs<ReduceAttrs>().dims);
    const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, p.reduced));
    ParallelFor(p.kept, grain, [&](int64_t begin, int64_t end) {
      cpu::internal::Odometer at(p.kept_sizes, p.kept_strides, p.kept_sizes.rank, begin);
      for (int64_t j = begin; j < end; ++j, at.Next()) GradOfOne(p, at.offset(), x, dy[j], dx);
    });
  });
  return absl::OkStatus();
}

Tensor ProdGrad(const Tensor& dy, const Tensor& x, const ReduceAttrs& attrs) {
  return Apply1(TheOp<"prod_grad">(), {dy, x}, attrs);
}

void Grad(GradContext& g) {
  g.set_grad_input(0, ProdGrad(g.grad_output(), g.input(0), g.attrs<ReduceAttrs>()));
}

// x as three dimensions, with the reduced ones as the second, and the way back.
struct AsLines {
  DimList order, back;  // the dimensions that stay come first; empty where they need not move
  Shape moved;
  Lines lines;

  AsLines(const Shape& x, const Dims& dims) {
    if (const std::optional<Lines> l = LinesOver(x, dims)) {
      lines = *l;
      moved = x;
      return;
    }
    Dims sizes;
    for (const bool reduced : {false, true}) {
      for (int d = 0; d < x.rank(); ++d) {
        const bool is = std::find(dims.d, dims.d + dims.rank, d) != dims.d + dims.rank;
        if (is != reduced) continue;
        order.d[order.rank++] = d;
        sizes.push_back(x[d]);
        (reduced ? lines.length : lines.outer) *= x[d];
      }
    }
    back.rank = order.rank;
    for (int i = 0; i < order.rank; ++i) back.d[order.d[i]] = i;
    moved = Shape::Trusted(sizes);
  }
  Tensor To(const Tensor& x) const {
    return SeenAsLines(order.empty() ? x : Permute(x, order), lines);
  }
  Tensor From(const Tensor& y) const {
    const Tensor x = Reshape(y, moved);
    return back.empty() ? x : Permute(x, back);
  }
};

// For u flowing into dx, what flows into x_k is dy times the sum over i != k of u_i times the
// product of all x but x_i and x_k. Over the elements before k this is a linear scan, and so it is
// over those after k: with p and s the products of these, q and r the scans,
//   q_(k + 1) = x_k q_k + u_k p_k,   q_k s_k + p_k r_k.
// In f64: products of some elements leave the range of f32 although those of all others do not.
Tensor GradOfGradInX(const Tensor& u, const Tensor& dy, const Tensor& x, const ReduceAttrs& attrs) {
  const absl::StatusOr<Dims> dims = NormalizeDims(attrs.dims, x.shape());
  if (x.num_elements() == 0 || dims->rank == 0) return ZerosLike(x);  // a scalar: dx = dy
  constexpr DType kWide = DType::kF64;
  const AsLines l(x.shape(), *dims);
  const Tensor xs = l.To(Cast(x, kWide)), us = l.To(Cast(u, kWide));
  const auto of_side = [&](bool after) -> std::pair<Tensor, Tensor> {
    const Tensor products = Cumprod(xs, 1, {.exclusive = true, .reverse = after});
    const Tensor starts = Neighbours(Mul(us, products), 1, after);
    return {products, LinearScan(xs, starts, {.dim = 1, .reverse = after, .previous = true})};
  };
  const auto [p, q] = of_side(false);
  const auto [s, r] = of_side(true);
  const Tensor sums = l.From(Add(Mul(q, s), Mul(p, r)));
  return Cast(Mul(sums, Cast(KeepReduced(dy, attrs, x.shape()), kWide)), x.dtype());
}

void GradOfGrad(GradContext& g) {
  const ReduceAttrs& a = g.attrs<ReduceAttrs>();
  const Tensor &u = g.grad_output(), &dy = g.input(0), &x = g.input(1);
  if (g.needs(0)) {
    g.set_grad_input(0, Sum(Mul(u, ProdGrad(OnesLike(dy), x, a)), a.dims, a.keepdim));
  }
  if (g.needs(1)) g.set_grad_input(1, GradOfGradInX(u, dy, x, a));
}

FIRN_REGISTER_OP(prod) {
  return cpu::ReductionOp<ProdReducer>("The product over dims (empty: all).", Grad,
                                       {Saved::Input(0)});
}

FIRN_REGISTER_OP(prod_grad) {
  return {
      .doc = "dy times the product of the other elements: the gradient of prod.",
      .inputs = {{.name = "dy", .dtypes = kFloating}, {.name = "x", .same_dtype_as = "dy"}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = InferGrad,
      .grad = GradOfGrad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = {{.name = "loop", .run = RunGrad}},
  };
}

}  // namespace

Tensor Prod(const Tensor& x, const DimList& dims, Flag keepdim) {
  return Apply1(TheOp<"prod">(), {x}, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

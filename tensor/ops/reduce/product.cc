// prod: the product over dimensions.
//
// The gradient dx_i = dy * prod_{j != i} x_j is dy * prod / x_i without zeros among the elements of
// a result; with one zero only that element has a gradient, with more none. Its own gradient is
// again that of a product: with m(i, j) = x_j but 1 where i = j, dx_i = dy * prod_j m(i, j).

#include "firn/tensor/ops/reduce/product.h"

#include <algorithm>
#include <optional>

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/reduction_ops.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/cpu/softmax.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/ops/reduce/sum.h"
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

// What is known of the elements of a result: the product of those that are not 0, and how many are.
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
  cpu::MapStrip(
      s, dx,
      [&](int64_t c, int64_t, Acc v) { return flow[c] * F::Others(product[c], zeros[c], v); }, x);
}

// One result's elements, which lie anywhere.
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

// [n, x's dimensions with the kept ones of size 1]: true where the first index counts to the place
// among the n reduced elements.
Tensor Diagonal(const Tensor& x, const ReduceAttrs& attrs) {
  const int64_t n = ReducedCount(x.shape(), attrs);
  const Tensor counted = Arange(int64_t{0}, n, 1, {.device = x.device()});
  Dims places;
  places.push_back(1);
  const absl::StatusOr<Dims> dims = NormalizeDims(attrs.dims, x.shape());
  for (int d = 0, r = 0; d < x.rank(); ++d) {
    const bool reduced = r < dims->rank && (*dims)[r] == d;
    places.push_back(reduced ? x.shape()[d] : 1);
    r += reduced ? 1 : 0;
  }
  Dims first(places.rank, 1);
  first[0] = n;
  return Eq(Reshape(counted, first.span()), Reshape(counted, places.span()));
}

// x with a leading dimension of size 1, and the dimensions that `attrs` reduces counted with it.
Tensor Lead(const Tensor& x) {
  Dims d(1, 1);
  for (int64_t size : x.shape()) d.push_back(size);
  return Reshape(x, d.span());
}
ReduceAttrs Led(const Tensor& x, const ReduceAttrs& attrs) {
  ReduceAttrs led{{}, false};
  const absl::StatusOr<Dims> dims = NormalizeDims(attrs.dims, x.shape());
  for (int64_t d : dims->span()) led.dims.push_back(d + 1);
  return led;
}

// For u flowing into dx, with m as above: through w(i) = u_i dy into dy * prod_j m(i, j).
Tensor GradOfGradInX(const Tensor& u, const Tensor& dy, const Tensor& x, const ReduceAttrs& attrs) {
  if (x.rank() == kMaxRank) {
    RaiseStatus(Unimplemented("second derivatives take tensors of up to ", kMaxRank - 1,
                              " dimensions, got ", x.shape().ToString()),
                "prod_grad");
  }
  const Tensor diagonal = Diagonal(x, attrs);
  const ReduceAttrs led = Led(x, attrs);
  const Tensor flow = Mul(u, KeepReduced(dy, attrs, x.shape()));
  if (led.dims.empty()) return ZerosLike(x);  // a scalar: dx = dy
  const Tensor w = Sum(Where(diagonal, Lead(flow), 0), led.dims);
  const Tensor m = Where(diagonal, 1, Lead(x));
  return Sum(Where(diagonal, 0, ProdGrad(w, m, led)), 0);
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

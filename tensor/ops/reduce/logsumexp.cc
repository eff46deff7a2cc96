// logsumexp: see kernels/cpu/logsumexp.h for how it is computed. Its gradient is a softmax.

#include "firn/tensor/ops/reduce/logsumexp.h"

#include <limits>
#include <optional>

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/logsumexp.h"
#include "firn/tensor/kernels/cpu/reduction_ops.h"
#include "firn/tensor/kernels/cpu/softmax.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

// The softmax is computed anew: y lacks the digits for exp(x - y) where it is large. It does not
// depend on the shift, which is therefore taken as a constant; where all elements are -inf it is 0.
void Grad(GradContext& g) {
  const ReduceAttrs& a = g.attrs<ReduceAttrs>();
  const Tensor& x = g.input(0);
  if (x.num_elements() == 0) return g.set_grad_input(0, ZerosLike(x));
  if (const std::optional<Lines> l = ReducedLines(x, a)) {
    const Tensor dx =
        Apply1(TheOp<"logsumexp_grad">(),
               {SeenAsLines(x, *l), SeenAsLineResults(g.grad_output(), *l)}, DimAttrs{1});
    return g.set_grad_input(0, Reshape(dx, x.shape()));
  }
  const Tensor top = Amax(Detach(x), a.dims, true);
  const Tensor infinite = Eq(top, -std::numeric_limits<double>::infinity());
  const Tensor terms = Exp(Sub(x, Where(infinite, 0, top)));
  const Tensor sum = Where(infinite, 1, Sum(terms, a.dims, true));
  const Tensor dy = KeepReduced(g.grad_output(), a, x.shape());
  g.set_grad_input(0, Mul(terms, Div(dy, sum)));
}

template <class Acc>
void GradStrip(const cpu::Strip& s, const cpu::RowsOut<Acc>& dx, const cpu::RowsIn<Acc>& x,
               const cpu::RowsIn<Acc>& dys) {
  constexpr Acc kNone = -std::numeric_limits<Acc>::infinity();
  Acc top[cpu::kStripWidth], shift[cpu::kStripWidth], dy[cpu::kStripWidth];
  dys.Load(s.first, s.width, dy);
  cpu::MaxStrip(s, x, top);
  for (int64_t c = 0; c < s.width; ++c) shift[c] = top[c] == kNone ? 0 : top[c];
  cpu::ScaledExpStrip(s, dx, x, shift,
                      [&](int64_t c, Acc sum) { return dy[c] / (top[c] == kNone ? 1 : sum); });
}

absl::Status RunGrad(KernelContext& k) {
  const Lines lines = LinesAlong(k.in_spec(0).shape, k.attrs<DimAttrs>().dim);
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    using Out = cpu::RowsOut<Acc>;
    using In = cpu::RowsIn<Acc>;
    const In dy(k, 1);
    const auto strip = [&](const cpu::Strip& s, const Out& dx, const In& x) {
      GradStrip(s, dx, x, dy);
    };
    cpu::ForEachStrip(lines, Out(k, 0), strip, In(k, 0));
  });
  return absl::OkStatus();
}

// For u flowing into p dy, p = softmax(x): p (u dy - sum(u dy p)) to x, sum(u p) to dy.
void GradOfGrad(GradContext& g) {
  const int64_t dim = g.attrs<DimAttrs>().dim;
  const Tensor &u = g.grad_output(), &x = g.input(0), &dy = g.input(1);
  const Tensor p = Apply1(TheOp<"logsumexp_grad">(), {x, OnesLike(dy)}, DimAttrs{dim});
  if (g.needs(0)) g.set_grad_input(0, SoftmaxGrad(Mul(u, dy), p, dim));
  if (g.needs(1)) g.set_grad_input(1, Sum(Mul(u, p), {dim}, true));
}

FIRN_REGISTER_OP(logsumexp_grad) {
  return {
      .doc = "softmax(x) * dy along dim, 0 where all is -inf: the gradient of logsumexp.",
      .inputs = {{.name = "x", .dtypes = kFloating}, {.name = "dy", .same_dtype_as = "x"}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = InferWithLineNumbers,
      .grad = GradOfGrad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = RunGrad}},
  };
}

FIRN_REGISTER_OP(logsumexp) {
  return InFullPrecision(cpu::ReductionOp<cpu::LogsumexpReducer>(
      "log(sum(exp(x))) over dims (empty: all).", Grad, {Saved::Input(0)}));
}

}  // namespace

Tensor Logsumexp(const Tensor& x, const DimList& dims, Flag keepdim) {
  return ApplyFloating(TheOp<"logsumexp">(), x, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

// logsumexp: see kernels/cpu/logsumexp.h for how it is computed. Its gradient is a softmax.

#include "tensor/ops/reduce/logsumexp.h"

#include <limits>

#include "tensor/kernels/cpu/logsumexp.h"
#include "tensor/kernels/cpu/reduction_ops.h"
#include "tensor/ops/compare/compare.h"
#include "tensor/ops/create/constant.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/elementwise/choose.h"
#include "tensor/ops/elementwise/exponential.h"
#include "tensor/ops/elementwise/promotion.h"
#include "tensor/ops/reduce/extreme.h"
#include "tensor/ops/reduce/reduction.h"
#include "tensor/ops/reduce/sum.h"
#include "tensor/ops/shape/copies.h"

namespace firn {
namespace {

// The softmax is computed anew: y lacks the digits for exp(x - y) where it is large. It does not
// depend on the shift, which is a constant therefore; where all is -inf it is 0.
void Grad(GradContext& g) {
  const ReduceAttrs& a = g.attrs<ReduceAttrs>();
  const Tensor& x = g.input(0);
  if (x.num_elements() == 0) return g.set_grad_input(0, ZerosLike(x));
  const Tensor top = Amax(Detach(x), a.dims, true);
  const Tensor infinite = Eq(top, -std::numeric_limits<double>::infinity());
  const Tensor terms = Exp(Sub(x, Where(infinite, 0, top)));
  const Tensor sum = Where(infinite, 1, Sum(terms, a.dims, true));
  const Tensor dy = KeepReduced(g.grad_output(), a, x.shape());
  g.set_grad_input(0, Mul(terms, Div(dy, sum)));
}

FIRN_REGISTER_OP(logsumexp) {
  return InFullPrecision(cpu::ReductionOp<cpu::LogsumexpReducer>(
      "log(sum(exp(x))) over dims (empty: all).", Grad, {Saved::Input(0)}));
}

}  // namespace

Tensor Logsumexp(const Tensor& x, const DimList& dims, bool keepdim) {
  return ApplyFloating(TheOp<"logsumexp">(), x, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

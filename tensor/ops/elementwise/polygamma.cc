// polygamma: see polygamma_body.h for how it is computed. For n = 1 to 3 there are loops of their
// own, which are vectorised. It is not part of fused chains, because it calls the standard library
// and branches.

#include "firn/tensor/ops/elementwise/polygamma.h"

#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/polygamma_body.h"
#include "firn/tensor/ops/elementwise/special.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const int64_t n = c.attrs<PolygammaAttrs>().n;
  FIRN_RETURN_IF(n < 1 || n > kMostPolygamma,
                 InvalidArgument("n must be 0 to ", kMostPolygamma, ", got ", n));
  return InferLikeInput(c);
}

Tensor Grad(const Tensor& dy, const Tensor& x, const PolygammaAttrs& a) {
  return Mul(dy, Polygamma(a.n + 1, x));
}

absl::Status Run(KernelContext& k) {
  switch (k.attrs<PolygammaAttrs>().n) {
    case 1:
      return cpu::RunFloat<LowPolygammaFn<1>>(k);
    case 2:
      return cpu::RunFloat<LowPolygammaFn<2>>(k);
    case 3:
      return cpu::RunFloat<LowPolygammaFn<3>>(k);
    default:
      return cpu::RunFloat<PolygammaFn>(k);
  }
}

FIRN_REGISTER_OP(polygamma) {
  OpDef op =
      cpu::FloatOp<PolygammaFn>("The n-th derivative of digamma, n > 0.", cpu::FromInput<Grad>());
  op.infer = Infer;
  op.kernels = {cpu::ElementwiseKernel(Run)};
  op.elementwise = {};
  return InFullPrecision(std::move(op));
}

}  // namespace

Tensor Polygamma(Integer n, const Tensor& x) {
  return n == 0 ? Digamma(x) : FloatUnary<"polygamma">(x, PolygammaAttrs{n});
}

}  // namespace firn

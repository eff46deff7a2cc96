// mul: x * y with broadcasting. d(xy) = y dx + x dy.

#include "tensor/ops/mul.h"

#include "tensor/apply.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/cpu/elementwise.h"
#include "tensor/op.h"
#include "tensor/ops/mul_fn.h"

namespace firn {
namespace {

absl::Status Run(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype,
             [&]<class T>(TypeTag<T>) { cpu::ElementwiseLoop<T, T, T>(k, MulFn()); });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  if (g.needs(0)) g.set_grad_input(0, Mul(g.grad_output(), g.input(1)));
  if (g.needs(1)) g.set_grad_input(1, Mul(g.grad_output(), g.input(0)));
}

FIRN_REGISTER_OP(mul) {
  return {
      .name = "mul",
      .doc = "x * y, broadcast.",
      .inputs = {{.name = "x"}, {.name = "y", .same_dtype_as = "x"}},
      .outputs = {{.name = "product"}},
      .infer = InferBroadcast,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .may_reuse = {{0, 0}, {0, 1}},
      .kernels = {cpu::ElementwiseKernel(Run)},
  };
}

}  // namespace

Tensor Mul(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("mul");
  return ApplyPromoted(op, x, y);
}

}  // namespace firn

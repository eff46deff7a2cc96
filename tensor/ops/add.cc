// add: x + alpha * y with broadcasting. The gradient of a broadcast operand is summed to its shape
// by the tape.

#include "tensor/ops/add.h"

#include "tensor/apply.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/cpu/elementwise.h"
#include "tensor/op.h"
#include "tensor/ops/add_fn.h"
#include "tensor/ops/mul.h"

namespace firn {
namespace {

absl::Status Run(KernelContext& k) {
  const double alpha = k.attrs<AddAttrs>().alpha;
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    if (alpha == 1) {
      cpu::ElementwiseLoop<T, T, T>(k, AddFn());
    } else {
      cpu::ElementwiseLoop<T, T, T>(k, AddScaledFn{alpha});
    }
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const double alpha = g.attrs<AddAttrs>().alpha;
  g.set_grad_input(0, g.grad_output());
  if (g.needs(1)) g.set_grad_input(1, alpha == 1 ? g.grad_output() : Mul(g.grad_output(), alpha));
}

FIRN_REGISTER_OP(add) {
  return {
      .name = "add",
      .doc = "x + alpha * y, broadcast.",
      .inputs = {{.name = "x"}, {.name = "y", .same_dtype_as = "x"}},
      .outputs = {{.name = "sum"}},
      .attrs = AttrsOf<AddAttrs>(),
      .infer = InferBroadcast,
      .grad = Grad,
      .may_reuse = {{0, 0}, {0, 1}},
      .kernels = {cpu::ElementwiseKernel(Run)},
  };
}

}  // namespace

Tensor Add(const Tensor& x, const Tensor& y, double alpha) {
  static const OpDef& op = Op("add");
  return ApplyPromoted(op, x, y, AddAttrs{alpha});
}

}  // namespace firn

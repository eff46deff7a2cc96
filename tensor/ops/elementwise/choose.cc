// where: the gradient is chosen as the values were, so no NaN or infinity leaks from the other
// side.
//
// masked_fill: where with the value in x's dtype; not an operation of its own.

#include "tensor/ops/elementwise/choose.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/kernels/width.h"
#include "tensor/ops/elementwise/choose_fn.h"
#include "tensor/ops/elementwise/promotion.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) { return InferBroadcastAs(c, c.dtype(1)); }

absl::Status Run(KernelContext& k) {
  VisitWidth(k.in_spec(1).dtype,
             [&]<class T>(TypeTag<T>) { cpu::MovedLoop<T, bool, T, T>(k, WhereFn()); });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const Tensor& condition = g.input(0);
  if (g.needs(1)) g.set_grad_input(1, Where(condition, g.grad_output(), 0.0));
  if (g.needs(2)) g.set_grad_input(2, Where(condition, 0.0, g.grad_output()));
}

FIRN_REGISTER_OP(where) {
  return {
      .doc = "x where the condition holds, else y; broadcast.",
      .inputs = {{.name = "condition", .dtypes = kBoolean},
                 {.name = "x"},
                 {.name = "y", .same_dtype_as = "x"}},
      .outputs = {{.name = "z"}},
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0)},
      .may_reuse = {{0, 1}, {0, 2}},
      .kernels = {cpu::ElementwiseKernel(Run)},
      .elementwise = cpu::ElementwiseOf<WhereFn>(Elementwise::Kind::kMoved),
  };
}

}  // namespace

Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  const OpDef& op = TheOp<"where">();
  const Promoted p = PromoteOperands(x, y, op.name);
  return Apply1(op, {condition, p.x(), p.y()});
}

Tensor MaskedFill(const Tensor& x, const Tensor& mask, const Tensor& value) {
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), "masked_fill");
  if (!value.defined() || value.rank() != 0) {
    RaiseStatus(InvalidArgument("value must be a number or a 0-d tensor, got ",
                                value.defined() ? value.spec().ToString() : "an undefined tensor"),
                "masked_fill");
  }
  return Where(mask, AsDType(value, x.dtype(), x.device()), x);
}

}  // namespace firn

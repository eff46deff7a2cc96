// dropout_grad: dropout at a known position; its own adjoint.

#include "tensor/ops/dropout_grad.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/dropout.h"
#include "tensor/random_rules.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const double p = c.attrs<DropoutAttrs>().p;
  FIRN_RETURN_IF(!(p >= 0 && p <= 1), InvalidArgument("p ", p, " is outside [0, 1]"));
  FIRN_RETURN_IF(c.shape(1) != Shape({2}),
                 InvalidArgument("position ", c.shape(1).ToString(), " is not {seed, offset}"));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const int64_t* position = k.in<int64_t>(1);
  cpu::DropElements(k, {static_cast<uint64_t>(position[0]), static_cast<uint64_t>(position[1])},
                    k.attrs<DropoutAttrs>().p);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  g.set_grad_input(0, DropoutGrad(g.grad_output(), g.input(1), g.attrs<DropoutAttrs>().p));
}

FIRN_REGISTER_OP(dropout_grad) {
  return {
      .name = "dropout_grad",
      .doc = "Drops and scales the elements that the dropout at a position did.",
      .inputs = {{.name = "dy", .dtypes = kFloating},
                 {.name = "position", .dtypes = SetOf(DType::kI64)}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<DropoutAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(1)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor inner::DropoutGrad(const Tensor& dy, const Tensor& position, double p) {
  static const OpDef& op = Op("dropout_grad");
  return Apply1(op, {dy, position}, DropoutAttrs{p});
}

}  // namespace firn

// contiguous: a row-major copy of a view or of a blocked tensor.

#include "tensor/ops/contiguous.h"

#include "tensor/apply.h"
#include "tensor/elementwise.h"
#include "tensor/error.h"
#include "tensor/op.h"
#include "tensor/reorder.h"

namespace firn {
namespace {

absl::Status Run(KernelContext& k) {
  return CopyElements(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>(), k.stream());
}

void Grad(GradContext& g) { g.set_grad_input(0, g.grad_output()); }

FIRN_REGISTER_OP(contiguous) {
  return {

      .name = "contiguous",
      .doc = "A row-major copy.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .infer = InferLikeInput,
      .grad = Grad,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .takes = Takes::kAny}),
  };
}

}  // namespace

Tensor Contiguous(const Tensor& x) {
  static const OpDef& op = Op("contiguous");
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), op.name);
  return x.is_contiguous() ? x : Apply1(op, {x});
}

}  // namespace firn

// clone: a copy with its own storage.

#include "tensor/ops/clone.h"

#include "tensor/apply.h"
#include "tensor/elementwise.h"
#include "tensor/op.h"
#include "tensor/reorder.h"

namespace firn {
namespace {

absl::Status Run(KernelContext& k) {
  return CopyElements(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>(), k.stream());
}

void Grad(GradContext& g) { g.set_grad_input(0, g.grad_output()); }

FIRN_REGISTER_OP(clone) {
  return {
      .name = "clone",
      .doc = "A copy with its own storage.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .infer = InferLikeInput,
      .grad = Grad,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .takes = Takes::kElementwise}),
  };
}

}  // namespace

Tensor Clone(const Tensor& x) {
  static const OpDef& op = Op("clone");
  return Apply1(op, {x});
}

}  // namespace firn

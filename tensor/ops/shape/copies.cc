// clone: a copy with its own storage.
//
// contiguous: a row-major copy of a view or of a blocked tensor.
//
// identity: exists for the names of values in imported graphs.

#include "firn/tensor/ops/shape/copies.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/promotion.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

absl::Status RunClone(KernelContext& k) {
  return CopyElements(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>(), k.stream());
}

void GradClone(GradContext& g) { g.set_grad_input(0, g.grad_output()); }

FIRN_REGISTER_OP(clone) {
  return {
      .doc = "A copy with its own storage.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .infer = InferLikeInput,
      .grad = GradClone,
      .kernels = OnEveryDevice({.name = "copy", .run = RunClone, .takes = Takes::kElementwise}),
      .elementwise = {.kind = Elementwise::Kind::kConverted},
  };
}

absl::Status RunContiguous(KernelContext& k) {
  return CopyElements(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>(), k.stream());
}

void GradContiguous(GradContext& g) { g.set_grad_input(0, g.grad_output()); }

FIRN_REGISTER_OP(contiguous) {
  return {
      .doc = "A row-major copy.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .infer = InferLikeInput,
      .grad = GradContiguous,
      .kernels = OnEveryDevice({.name = "copy", .run = RunContiguous, .takes = Takes::kAny}),
  };
}

absl::Status Infer(InferContext& c) {
  c.set_view(c.shape(0), ViewStrides(c.in(0)), 0);
  return absl::OkStatus();
}

void GradIdentity(GradContext& g) { g.set_grad_input(0, g.grad_output()); }

FIRN_REGISTER_OP(identity) { return ViewOp("x itself.", nullptr, Infer, GradIdentity); }

}  // namespace

Tensor Clone(const Tensor& x) { return Apply1(TheOp<"clone">(), {x}); }

Tensor Contiguous(const Tensor& x) {
  const OpDef& op = TheOp<"contiguous">();
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), op.name);
  return x.is_contiguous() ? x : Apply1(op, {x});
}

Tensor Identity(const Tensor& x) { return Apply1(TheOp<"identity">(), {x}); }

}  // namespace firn

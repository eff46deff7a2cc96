// assign: a copy into existing memory, whatever the two layouts. The front function broadcasts and
// converts, so kernels only move elements.
//
// accumulate: target += source, how gradients of several uses add up without a new tensor each.

#include "firn/tensor/ops/optimizer/update.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/elementwise.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic_fn.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/promotion.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

absl::Status InferAssign(InferContext& c) {
  FIRN_RETURN_IF(c.shape(0) != c.shape(1),
                 InvalidArgument("target ", c.shape(0).ToString(), " and source ",
                                 c.shape(1).ToString(), " differ"));
  if (c.in(0).layout.blocked()) return absl::OkStatus();
  for (int d = 0; d < c.shape(0).rank(); ++d) {
    FIRN_RETURN_IF(c.shape(0)[d] > 1 && c.in(0).layout.strides[d] == 0,
                   InvalidArgument("target ", c.in(0).ToString(),
                                   " is an expanded view: its elements share memory"));
  }
  return absl::OkStatus();
}

absl::Status RunAssign(KernelContext& k) {
  return CopyElements(k.in_spec(1), k.in<void>(1), k.in_spec(0), k.inout<void>(0), k.stream());
}

FIRN_REGISTER_OP(assign) {
  return {
      .doc = "target = source in place. Not differentiable.",
      .inputs = {{.name = "target", .inout = true}, {.name = "source", .same_dtype_as = "target"}},
      .infer = InferAssign,
      .kernels = OnEveryDevice({.name = "copy", .run = RunAssign, .takes = Takes::kAny}),
  };
}

absl::Status InferAccumulate(InferContext& c) {
  FIRN_RETURN_IF(c.shape(0) != c.shape(1),
                 InvalidArgument("target ", c.shape(0).ToString(), " and source ",
                                 c.shape(1).ToString(), " differ"));
  return absl::OkStatus();
}

absl::Status RunAccumulate(KernelContext& k) {
  // The loop's output is the target itself.
  KernelContext in_place(k.operands_in(), k.operands_in().subspan(0, 1), k.attrs_ref(), nullptr);
  VisitDType(k.in_spec(0).dtype,
             [&]<class T>(TypeTag<T>) { cpu::ElementwiseLoop<T, T, T>(in_place, AddFn()); });
  return absl::OkStatus();
}

constexpr GraphTraits kAddsToTarget = {.adds_to = 0};

FIRN_REGISTER_OP(accumulate) {
  return {
      .doc = "target += source in place. Not differentiable.",
      .inputs = {{.name = "target", .inout = true}, {.name = "source", .same_dtype_as = "target"}},
      .infer = InferAccumulate,
      .kernels = {{.name = "loop", .run = RunAccumulate, .takes = Takes::kStrided}},
      .graph = &kAddsToTarget,
  };
}

}  // namespace

void inner::Assign(const Tensor& target, const Tensor& source) {
  const OpDef& op = TheOp<"assign">();
  CheckDefined(target, op.name, "target");
  CheckDefined(source, op.name, "source");
  if (GradEnabled() && source.requires_grad()) {
    RaiseStatus(FailedPrecondition("the gradient of source is being recorded and would be lost; "
                                   "use NoGradScope or Detach()"),
                op.name);
  }
  if (!BroadcastsTo(source.shape(), target.shape())) {
    RaiseStatus(InvalidArgument("source ", source.shape().ToString(),
                                " does not broadcast to target ", target.shape().ToString()),
                op.name);
  }
  const Tensor elements = AsElement(source, target.dtype(), target.device(), op.name, "source");
  Apply(op, {target, Expand(elements, target.shape())});
}

void inner::Accumulate(const Tensor& target, const Tensor& source) {
  Apply(TheOp<"accumulate">(), {target, source});
}

}  // namespace firn

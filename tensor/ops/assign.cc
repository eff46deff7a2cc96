// assign: a copy into existing memory, whatever the two layouts. The front function broadcasts and
// converts, so kernels only move elements.

#include "tensor/ops/assign.h"

#include "tensor/apply.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/op.h"
#include "tensor/ops/cast.h"
#include "tensor/ops/expand.h"
#include "tensor/reorder.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
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

absl::Status Run(KernelContext& k) {
  return CopyElements(k.in_spec(1), k.in<void>(1), k.in_spec(0), k.inout<void>(0), k.stream());
}

FIRN_REGISTER_OP(assign) {
  return {
      .name = "assign",
      .doc = "target = source in place. Not differentiable.",
      .inputs = {{.name = "target", .inout = true}, {.name = "source", .same_dtype_as = "target"}},
      .infer = Infer,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .takes = Takes::kAny}),
  };
}

}  // namespace

void Assign(const Tensor& target, const Tensor& source) {
  static const OpDef& op = Op("assign");
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
  Apply(op, {target, Expand(Cast(source, target.dtype()), target.shape())});
}

}  // namespace firn

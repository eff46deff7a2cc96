// accumulate: target += source, how gradients of several uses add up without a new tensor each.

#include "tensor/ops/accumulate.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise.h"
#include "tensor/op.h"
#include "tensor/ops/add_fn.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF(c.shape(0) != c.shape(1),
                 InvalidArgument("target ", c.shape(0).ToString(), " and source ",
                                 c.shape(1).ToString(), " differ"));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  // The loop's output is the target itself.
  KernelContext in_place(k.operands_in(), k.operands_in().subspan(0, 1), k.attrs_ref(), nullptr);
  VisitDType(k.in_spec(0).dtype,
             [&]<class T>(TypeTag<T>) { cpu::ElementwiseLoop<T, T, T>(in_place, AddFn()); });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(accumulate) {
  return {

      .name = "accumulate",
      .doc = "target += source in place. Not differentiable.",
      .inputs = {{.name = "target", .inout = true}, {.name = "source", .same_dtype_as = "target"}},
      .infer = Infer,
      .kernels = {{.name = "loop", .run = Run, .takes = Takes::kStrided}},
  };
}

}  // namespace

void inner::Accumulate(const Tensor& target, const Tensor& source) {
  static const OpDef& op = Op("accumulate");
  Apply(op, {target, source});
}

}  // namespace firn

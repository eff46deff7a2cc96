// reorder: elements stay what they are, their places change.

#include "tensor/ops/reorder.h"

#include "device/status_macros.h"
#include "tensor/op.h"
#include "tensor/reorder.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const int64_t block = c.attrs<ReorderAttrs>().channel_block;
  const Shape& shape = c.shape(0);
  FIRN_RETURN_IF(block < 0 || block > INT32_MAX,
                 InvalidArgument("channel_block ", block, " (want 0 to ", INT32_MAX, ")"));
  FIRN_RETURN_IF(block != 0 && (shape.rank() < 3 || shape[1] % block != 0),
                 InvalidArgument("x ", shape.ToString(), " has no channels in blocks of ", block));
  c.set_out_blocked(0, c.dtype(0), shape, static_cast<int>(block));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  return CopyElements(k.in_spec(0), k.in<char>(0), k.out_spec(), k.out<char>(), k.stream());
}

void Grad(GradContext& g) { g.set_grad_input(0, g.grad_output()); }

FIRN_REGISTER_OP(reorder) {
  return {
      .name = "reorder",
      .doc = "A copy of x in another layout.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ReorderAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .takes = Takes::kAny}),
  };
}

}  // namespace

}  // namespace firn

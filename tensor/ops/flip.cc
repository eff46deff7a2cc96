// flip: a copy from a view with negative strides.

#include "tensor/ops/flip.h"

#include "tensor/apply.h"
#include "tensor/op.h"
#include "tensor/reorder.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDims(c.attrs<FlipAttrs>().dims, c.shape(0)).status());
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  Dims strides = x.layout.strides;
  int64_t offset = 0;
  for (int64_t given : k.attrs<FlipAttrs>().dims) {
    if (x.shape.rank() == 0) continue;
    const int d = static_cast<int>(given < 0 ? given + x.shape.rank() : given);
    offset += (x.shape[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  const TensorSpec reversed = TensorSpec::Strided(x.dtype, x.shape, x.device, strides);
  return CopyElements(reversed, k.in<char>(0) + offset * SizeOf(x.dtype), k.out_spec(),
                      k.out<char>(), k.stream());
}

void Grad(GradContext& g) { g.set_grad_input(0, Flip(g.grad_output(), g.attrs<FlipAttrs>().dims)); }

FIRN_REGISTER_OP(flip) {
  return {
      .name = "flip",
      .doc = "A copy with the order along dims reversed.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<FlipAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .takes = Takes::kStrided}),
  };
}

}  // namespace

Tensor Flip(const Tensor& x, const DimList& dims) {
  static const OpDef& op = Op("flip");
  return Apply1(op, {x}, FlipAttrs{dims});
}

}  // namespace firn

// conv2d_weight_grad: Winograd where it wins; for a first layer (a few row-major channels in,
// blocked channels out) a loop of its own, because oneDNN has only its reference there; oneDNN; the
// definition.

#include "tensor/ops/conv2d_weight_grad.h"

#include "tensor/apply.h"
#include "tensor/conv.h"
#include "tensor/kernels/cpu/conv_kernels.h"
#include "tensor/op.h"
#include "tensor/ops/conv2d.h"
#include "tensor/ops/conv_transpose2d.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ConvBackwardWeight(c.shape(0), c.shape(1), c.attrs<ConvAttrs>()));
  FIRN_ASSIGN_OR_RETURN(const Shape w,
                        Shape::Make({p.out, p.in_per_group(), p.kernel.h, p.kernel.w}));
  c.set_out(0, c.dtype(0), w);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  ConvAttrs a = g.attrs<ConvAttrs>();
  const Tensor& dw = g.grad_output();
  if (g.needs(0)) {
    a.result = {g.input_shape(0)[2], g.input_shape(0)[3]};
    g.set_grad_input(0, ConvTranspose2dTo(g.input(1), dw, a));
  }
  if (g.needs(1)) {
    g.set_grad_input(1, Conv2d(g.input(0), dw, {},
                               {.stride = a.stride,
                                .padding = a.padding,
                                .dilation = a.dilation,
                                .groups = a.groups}));
  }
}

FIRN_REGISTER_OP(conv2d_weight_grad) {
  return {
      .name = "conv2d_weight_grad",
      .doc = "The gradient of conv2d with respect to its weight.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 4, .max_rank = 4},
                 {.name = "grad", .same_dtype_as = "x", .min_rank = 4, .max_rank = 4}},
      .outputs = {{.name = "weight_grad"}},
      .attrs = AttrsOf<ConvAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = cpu::ConvKernels(ConvPass::kBackwardWeight),
  };
}

}  // namespace

Tensor inner::Conv2dWeightGrad(const Tensor& x, const Tensor& grad, const ConvAttrs& attrs) {
  static const OpDef& op = Op("conv2d_weight_grad");
  return Apply1(op, {x, grad}, attrs);
}

}  // namespace firn

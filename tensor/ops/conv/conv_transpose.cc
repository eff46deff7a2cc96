// conv_transpose2d: the convolution problem whose image is unknown. Its weight has conv2d's layout,
// so dx of conv2d is ConvTranspose2dTo(dy, weight).

#include "tensor/ops/conv/conv_transpose.h"

#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/conv_kernels.h"
#include "tensor/op.h"
#include "tensor/ops/conv/channels.h"
#include "tensor/ops/conv/conv.h"
#include "tensor/ops/conv/conv_problem.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ConvBackwardData(c.shape(0), c.shape(1), c.attrs<ConvAttrs>()));
  FIRN_ASSIGN_OR_RETURN(const Shape y, Shape::Make({p.batch, p.in, p.in_size.h, p.in_size.w}));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  ConvAttrs a = g.attrs<ConvAttrs>();
  const Tensor& dy = g.grad_output();
  if (g.needs(0)) {
    g.set_grad_input(0, Conv2d(dy, g.input(1), {},
                               {.stride = a.stride,
                                .padding = a.padding,
                                .dilation = a.dilation,
                                .groups = a.groups}));
  }
  if (g.needs(1)) {
    a.result = {g.input_shape(1)[2], g.input_shape(1)[3]};
    g.set_grad_input(1, Conv2dWeightGrad(dy, g.input(0), a));
  }
}

FIRN_REGISTER_OP(conv_transpose2d) {
  return {
      .doc = "The transposed convolution, without bias.",
      .autocast = Autocast::kLow,
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 4, .max_rank = 4},
                 {.name = "weight", .same_dtype_as = "x", .min_rank = 4, .max_rank = 4}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ConvAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = cpu::ConvKernels(ConvPass::kBackwardData),
  };
}

int64_t ResultSize(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                   int64_t extra) {
  return (in - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1;
}

}  // namespace

Tensor inner::ConvTranspose2dTo(const Tensor& x, const Tensor& weight, const ConvAttrs& attrs,
                                const Tensor& bias) {
  const Tensor y = Apply1(TheOp<"conv_transpose2d">(), {x, weight}, attrs);
  return bias.defined() ? ChannelAffine(y, {}, bias) : y;
}

Tensor ConvTranspose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const ConvTranspose2dOptions& o) {
  ConvAttrs a{o.stride, o.padding, o.dilation, o.groups, {}};
  const Size2 extra = o.output_padding;
  if (extra.h < 0 || extra.w < 0 || extra.h >= std::max(o.stride.h, o.dilation.h) ||
      extra.w >= std::max(o.stride.w, o.dilation.w)) {
    RaiseStatus(InvalidArgument("output_padding (", extra.h, ", ", extra.w,
                                ") must be at least 0 and smaller than stride or dilation"),
                TheOp<"conv_transpose2d">().name);
  }
  if (x.defined() && weight.defined() && x.rank() == 4 && weight.rank() == 4) {
    a.result.h =
        ResultSize(x.size(2), weight.size(2), o.stride.h, o.padding.h, o.dilation.h, extra.h);
    a.result.w =
        ResultSize(x.size(3), weight.size(3), o.stride.w, o.padding.w, o.dilation.w, extra.w);
  }
  return ConvTranspose2dTo(x, weight, a, bias);
}

}  // namespace firn

// conv2d: Winograd where it wins, oneDNN otherwise, the definition in other dtypes.
//
// Data and weight gradients are operations of their own (conv_transpose2d, conv2d_weight_grad), and
// each of the three is made of the other two when differentiated again.

#include "tensor/ops/conv2d.h"

#include "tensor/apply.h"
#include "tensor/conv.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/batch_norm.h"
#include "tensor/kernels/cpu/conv_kernels.h"
#include "tensor/op.h"
#include "tensor/ops/channel_sum.h"
#include "tensor/ops/conv2d_weight_grad.h"
#include "tensor/ops/conv_transpose2d.h"
#include "tensor/ops/pad.h"

namespace firn {
namespace {

absl::Status InferWith(InferContext& c, const ConvAttrs& attrs) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p, ConvForward(c.shape(0), c.shape(1), attrs));
  FIRN_RETURN_IF(c.has(2) && c.shape(2)[0] != p.out,
                 InvalidArgument("bias ", c.shape(2).ToString(), " does not fit the ", p.out,
                                 " output channels of weight ", c.shape(1).ToString()));
  FIRN_ASSIGN_OR_RETURN(const Shape y, Shape::Make({p.batch, p.out, p.out_size.h, p.out_size.w}));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

absl::Status Infer(InferContext& c) { return InferWith(c, c.attrs<ConvAttrs>()); }

absl::Status InferActivated(InferContext& c) {
  const auto& a = c.attrs<ConvActAttrs>();
  FIRN_RETURN_IF(
      a.activation != FusedActivation::kRelu && a.activation != FusedActivation::kTanh,
      InvalidArgument("activation ", static_cast<int>(a.activation), ", want 1 (relu), 2 (tanh)"));
  return InferWith(c, a.conv);
}

void Grad(GradContext& g) {
  ConvAttrs a = g.attrs<ConvAttrs>();
  const Tensor& dy = g.grad_output();
  if (g.needs(0)) {
    a.result = {g.input_shape(0)[2], g.input_shape(0)[3]};
    g.set_grad_input(0, ConvTranspose2dTo(dy, g.input(1), a));
  }
  if (g.needs(1)) {
    a.result = {g.input_shape(1)[2], g.input_shape(1)[3]};
    g.set_grad_input(1, Conv2dWeightGrad(g.input(0), dy, a));
  }
  if (g.needs(2)) g.set_grad_input(2, ChannelSum(dy));
}

// The definition of the convolution, then the activation where the result lies.
absl::Status RunActivated(KernelContext& k) {
  static const Kernel convolution = cpu::ConvKernels(ConvPass::kForward).back();
  const auto& a = k.attrs<ConvActAttrs>();
  KernelContext inner(k.operands_in(), k.operands_out(), a.conv, nullptr);
  FIRN_RETURN_IF_ERROR(convolution.run(inner));
  VisitFloat(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    cpu::VisitActivation(a.activation, [&](auto activation) {
      T* const y = k.out<T>();
      for (int64_t i = 0; i < k.out_spec().num_elements(); ++i) {
        y[i] = static_cast<T>(
            cpu::Activate<decltype(activation)::value>(static_cast<AccumulatorOf<T>>(y[i])));
      }
    });
  });
  return absl::OkStatus();
}

std::vector<ArgDecl> Inputs() {
  return {{.name = "x", .dtypes = kFloating, .min_rank = 4, .max_rank = 4},
          {.name = "weight", .same_dtype_as = "x", .min_rank = 4, .max_rank = 4},
          {.name = "bias", .same_dtype_as = "x", .min_rank = 1, .max_rank = 1, .optional = true}};
}

FIRN_REGISTER_OP(conv2d) {
  return {
      .name = "conv2d",
      .doc = "Cross-correlation of images with a set of kernels.",
      .autocast = Autocast::kLow,
      .inputs = Inputs(),
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ConvAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = cpu::ConvKernels(ConvPass::kForward),
  };
}

// What compiled graphs run on a CUDA device. On the CPU it is there to be compared with.
FIRN_REGISTER_OP(conv2d_act) {
  return {
      .name = "conv2d_act",
      .doc =
          "conv2d and an activation of its result. Not differentiable: compiled graphs make it "
          "of two operations, whose gradients are recorded before.",
      .autocast = Autocast::kLow,
      .inputs = Inputs(),
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ConvActAttrs>(),
      .infer = InferActivated,
      .kernels = {{.name = "loop", .run = RunActivated}},
  };
}

// The lines of zeros that kSame puts before and after one axis.
std::pair<int64_t, int64_t> SamePadding(int64_t kernel, int64_t dilation) {
  const int64_t total = dilation * (kernel - 1);
  return {total / 2, total - total / 2};
}

}  // namespace

Tensor Conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& o) {
  static const OpDef& op = Op("conv2d");
  ConvAttrs a{o.stride, o.padding.size, o.dilation, o.groups, {}};
  if (!o.padding.same) return Apply1(op, {x, weight, bias}, a);
  if (o.stride != Size2(1)) {
    RaiseStatus(InvalidArgument("padding kSame wants stride 1"), op.name);
  }
  if (!weight.defined() || weight.rank() != 4) return Apply1(op, {x, weight, bias}, a);
  const auto [top, bottom] = SamePadding(weight.size(2), o.dilation.h);
  const auto [left, right] = SamePadding(weight.size(3), o.dilation.w);
  a.padding = {top, left};
  if (top == bottom && left == right) return Apply1(op, {x, weight, bias}, a);
  return Apply1(op, {Pad(x, {0, right - left, 0, bottom - top}), weight, bias}, a);
}

}  // namespace firn

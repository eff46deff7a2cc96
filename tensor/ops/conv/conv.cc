// conv1d: conv2d of images of height 1.
//
// conv2d: Winograd where it wins, oneDNN otherwise, the definition in other dtypes.
//
// Data and weight gradients are operations of their own (conv_transpose2d, conv2d_weight_grad), and
// each of the three is made of the other two when differentiated again.
//
// conv2d_weight_grad: Winograd where it wins; for a first layer (a few row-major channels in,
// blocked channels out) a loop of its own, because oneDNN has only its reference there; oneDNN; the
// definition.

#include "tensor/ops/conv/conv.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/batch_norm.h"
#include "tensor/kernels/cpu/conv_kernels.h"
#include "tensor/op.h"
#include "tensor/ops/conv/channels.h"
#include "tensor/ops/conv/conv_problem.h"
#include "tensor/ops/conv/conv_transpose.h"
#include "tensor/ops/shape/pad.h"
#include "tensor/ops/shape/views.h"

namespace firn {
namespace {

void CheckRank(const Tensor& t, const char* name) {
  CheckDefined(t, "conv1d", name);
  if (t.rank() == 3) return;
  RaiseStatus(InvalidArgument(name, " must have 3 dimensions, got ", t.spec().ToString()),
              "conv1d");
}

absl::Status InferWith(InferContext& c, const ConvAttrs& attrs) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p, ConvForward(c.shape(0), c.shape(1), attrs));
  FIRN_RETURN_IF(c.has(2) && c.shape(2)[0] != p.out,
                 InvalidArgument("bias ", c.shape(2).ToString(), " does not fit the ", p.out,
                                 " output channels of weight ", c.shape(1).ToString()));
  FIRN_ASSIGN_OR_RETURN(const Shape y, Shape::Make({p.batch, p.out, p.out_size.h, p.out_size.w}));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

absl::Status InferConv2d(InferContext& c) { return InferWith(c, c.attrs<ConvAttrs>()); }

absl::Status InferActivated(InferContext& c) {
  const auto& a = c.attrs<ConvActAttrs>();
  FIRN_RETURN_IF(
      a.activation != FusedActivation::kRelu && a.activation != FusedActivation::kTanh,
      InvalidArgument("activation ", static_cast<int>(a.activation), ", want 1 (relu), 2 (tanh)"));
  return InferWith(c, a.conv);
}

void GradConv2d(GradContext& g) {
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
    VisitActivation(a.activation, [&](auto activation) {
      T* const y = k.out<T>();
      for (int64_t i = 0; i < k.out_spec().num_elements(); ++i) {
        y[i] = static_cast<T>(
            Activate<decltype(activation)::value>(static_cast<AccumulatorOf<T>>(y[i])));
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
      .doc = "Cross-correlation of images with a set of kernels.",
      .autocast = Autocast::kLow,
      .inputs = Inputs(),
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ConvAttrs>(),
      .infer = InferConv2d,
      .grad = GradConv2d,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = cpu::ConvKernels(ConvPass::kForward),
  };
}

// What compiled graphs run on a CUDA device. On the CPU it is there to be compared with.
FIRN_REGISTER_OP(conv2d_act) {
  return {
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

absl::Status InferConv2dWeightGrad(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ConvBackwardWeight(c.shape(0), c.shape(1), c.attrs<ConvAttrs>()));
  FIRN_ASSIGN_OR_RETURN(const Shape w,
                        Shape::Make({p.out, p.in_per_group(), p.kernel.h, p.kernel.w}));
  c.set_out(0, c.dtype(0), w);
  return absl::OkStatus();
}

void GradConv2dWeightGrad(GradContext& g) {
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
      .doc = "The gradient of conv2d with respect to its weight.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 4, .max_rank = 4},
                 {.name = "grad", .same_dtype_as = "x", .min_rank = 4, .max_rank = 4}},
      .outputs = {{.name = "weight_grad"}},
      .attrs = AttrsOf<ConvAttrs>(),
      .infer = InferConv2dWeightGrad,
      .grad = GradConv2dWeightGrad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = cpu::ConvKernels(ConvPass::kBackwardWeight),
  };
}

}  // namespace

Tensor Conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv1dOptions& options) {
  CheckRank(x, "x");
  CheckRank(weight, "weight");
  const ConvPadding& p = options.padding;
  const Conv2dOptions in_two{.stride = {1, options.stride},
                             .padding = p.same ? kSame : ConvPadding(0, p.size.w),
                             .dilation = {1, options.dilation},
                             .groups = options.groups};
  return Squeeze(Conv2d(Unsqueeze(x, 2), Unsqueeze(weight, 2), bias, in_two), 2);
}

Tensor Conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& o) {
  const OpDef& op = TheOp<"conv2d">();
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

Tensor inner::Conv2dWeightGrad(const Tensor& x, const Tensor& grad, const ConvAttrs& attrs) {
  return Apply1(TheOp<"conv2d_weight_grad">(), {x, grad}, attrs);
}

}  // namespace firn

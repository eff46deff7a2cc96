// conv1d, conv2d, conv3d: one definition. It runs Winograd where that is faster, oneDNN otherwise,
// and the definition in other dtypes.
//
// Data and weight gradients are operations of their own (conv_transpose, conv_weight_grad), and
// each of the three is made of the other two when differentiated again.
//
// conv_weight_grad: tiles of matrices for bf16; Winograd where it wins; for a first layer (a few
// row-major channels in, blocked channels out) a loop of its own, because oneDNN has only its
// reference there; oneDNN; the definition.

#include "firn/tensor/ops/conv/conv.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/internal/packed_conv.h"
#include "firn/tensor/kernels/cpu/conv_kernels.h"
#include "firn/tensor/kernels/fused_activation.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/conv/channels.h"
#include "firn/tensor/ops/conv/conv_transpose.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/quantize/products.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn {
namespace {

using In = ConvIn;

absl::Status InferWith(InferContext& c, const ConvAttrs& attrs) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ConvForward(c.shape(In::kX), c.shape(In::kWeight), attrs));
  FIRN_RETURN_IF(
      c.has(In::kBias) && c.shape(In::kBias)[0] != p.out,
      InvalidArgument("bias ", c.shape(In::kBias).ToString(), " does not fit the ", p.out,
                      " output channels of weight ", c.shape(In::kWeight).ToString()));
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(p.batch, p.out, p.out_size));
  c.set_out(0, c.dtype(In::kX), y);
  return absl::OkStatus();
}

absl::Status InferConv(InferContext& c) { return InferWith(c, c.attrs<ConvAttrs>()); }

absl::Status InferActivated(InferContext& c) {
  const auto& a = c.attrs<ConvActAttrs>();
  FIRN_RETURN_IF(
      a.activation != FusedActivation::kRelu && a.activation != FusedActivation::kTanh,
      InvalidArgument("activation ", static_cast<int>(a.activation), ", want 1 (relu), 2 (tanh)"));
  return InferWith(c, a.conv);
}

void GradConv(GradContext& g) {
  ConvAttrs a = g.attrs<ConvAttrs>();
  const Tensor& dy = g.grad_output();
  if (g.needs(In::kX)) {
    a.result = ImageOf(g.input_shape(In::kX));
    g.set_grad_input(In::kX, ConvTransposeTo(dy, g.input(In::kWeight), a));
  }
  if (g.needs(In::kWeight)) {
    a.result = ImageOf(g.input_shape(In::kWeight));
    g.set_grad_input(In::kWeight, ConvWeightGrad(g.input(In::kX), dy, a));
  }
  if (g.needs(In::kBias)) g.set_grad_input(In::kBias, ChannelSum(dy));
}

// Runs the definition of the convolution, then the activation in place.
absl::Status RunActivated(KernelContext& k) {
  static const Kernel convolution = cpu::ConvKernels(ConvPass::kForward, 2).back();
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

std::vector<ArgDecl> Inputs(int dims) {
  const int rank = dims + 2;
  return {{.name = "x", .dtypes = kFloating, .min_rank = rank, .max_rank = rank},
          {.name = "weight", .same_dtype_as = "x", .min_rank = rank, .max_rank = rank},
          {.name = "bias", .same_dtype_as = "x", .min_rank = 1, .max_rank = 1, .optional = true}};
}

// Only on a CUDA device; the CPU's own kernels are faster without fusion. In the half types the
// convolution would no longer be rounded before the activation; for relu that makes no difference.
std::optional<OpCall> WithActivation(AttrsRef attrs, const TensorSpec& y, FusedActivation f) {
  const bool half = y.dtype != DType::kF32 && y.dtype != DType::kF64;
  if (y.device.is_cpu() || (half && f != FusedActivation::kRelu)) return {};
  return OpCall{&TheOp<"conv2d_act">(), Attrs(ConvActAttrs{attrs.get<ConvAttrs>(), f})};
}

constexpr GraphTraits kTraits = {
    .channel_map = ChannelMap{.x = In::kX, .weight = In::kWeight, .bias = In::kBias},
    .packing = Packing{.input = In::kWeight, .pack = internal::PackConv},
};

Tensor IntegerSums(const Tensor& x, const Tensor& x_zero, const Tensor& weight, AttrsRef attrs) {
  const Tensor none = Zeros({}, DType::kI8, x.device());
  return IntConv2d(x, x_zero, weight, none, attrs.get<ConvAttrs>());
}

constexpr GraphTraits kConv2dTraits = {
    .with_activation = WithActivation,
    .channel_map = kTraits.channel_map,
    .packing = kTraits.packing,
    .integer_sums = IntegerSums,
};

OpDef ConvOp(int dims, std::string_view doc) {
  return {
      .doc = doc,
      .autocast = Autocast::kLow,
      .inputs = Inputs(dims),
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ConvAttrs>(),
      .infer = InferConv,
      .grad = GradConv,
      .saves = {Saved::Input(In::kX), Saved::Input(In::kWeight)},
      .kernels = cpu::ConvKernels(ConvPass::kForward, dims),
      .graph = &kTraits,
  };
}

FIRN_REGISTER_OP(conv1d) {
  return ConvOp(1, "Cross-correlation of sequences with a set of kernels.");
}

FIRN_REGISTER_OP(conv2d) {
  return WithTraits(kConv2dTraits, ConvOp(2, "Cross-correlation of images with a set of kernels."));
}

FIRN_REGISTER_OP(conv3d) {
  return ConvOp(3, "Cross-correlation of volumes with a set of kernels.");
}

// Compiled graphs run it on a CUDA device. On the CPU it serves for comparison.
FIRN_REGISTER_OP(conv2d_act) {
  return {
      .doc =
          "conv2d and an activation of its result. Not differentiable: compiled graphs make it "
          "of two operations, whose gradients are recorded before.",
      .autocast = Autocast::kLow,
      .inputs = Inputs(2),
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ConvActAttrs>(),
      .infer = InferActivated,
      .kernels = {{.name = "loop", .run = RunActivated}},
  };
}

absl::Status InferWeightGrad(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ConvBackwardWeight(c.shape(0), c.shape(1), c.attrs<ConvAttrs>()));
  FIRN_ASSIGN_OR_RETURN(const Shape w, ShapeOfImages(p.out, p.in_per_group(), p.kernel));
  c.set_out(0, c.dtype(0), w);
  return absl::OkStatus();
}

void GradWeightGrad(GradContext& g) {
  ConvAttrs a = g.attrs<ConvAttrs>();
  const Tensor& dw = g.grad_output();
  if (g.needs(0)) {
    a.result = ImageOf(g.input_shape(0));
    g.set_grad_input(0, ConvTransposeTo(g.input(1), dw, a));
  }
  if (g.needs(1)) g.set_grad_input(1, ConvWith(g.input(0), dw, a));
}

OpDef WeightGradOp(int dims, std::string_view doc) {
  const int rank = dims + 2;
  return {
      .doc = doc,
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = rank, .max_rank = rank},
                 {.name = "grad", .same_dtype_as = "x", .min_rank = rank, .max_rank = rank}},
      .outputs = {{.name = "weight_grad"}},
      .attrs = AttrsOf<ConvAttrs>(),
      .infer = InferWeightGrad,
      .grad = GradWeightGrad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = cpu::ConvKernels(ConvPass::kBackwardWeight, dims),
  };
}

FIRN_REGISTER_OP(conv1d_weight_grad) {
  return WeightGradOp(1, "The gradient of conv1d with respect to its weight.");
}

FIRN_REGISTER_OP(conv2d_weight_grad) {
  return WeightGradOp(2, "The gradient of conv2d with respect to its weight.");
}

FIRN_REGISTER_OP(conv3d_weight_grad) {
  return WeightGradOp(3, "The gradient of conv3d with respect to its weight.");
}

// x with the additional lines of zeros that kSame needs at the end only; `a` gets the padding of
// both sides.
absl::StatusOr<Tensor> PadToSame(const Tensor& x, const Sizes& kernel, ConvAttrs& a) {
  const int dims = kernel.count();
  FIRN_RETURN_IF(!a.stride.Are(1),
                 InvalidArgument("padding kSame wants stride 1, got ", a.stride.ToString()));
  FIRN_ASSIGN_OR_RETURN(const Sizes dilation,
                        internal::CheckedOption("dilation", a.dilation, 1, dims));
  a.padding = Sizes::Each(dims, 0);
  std::vector<int64_t> ends;  // in the order of Pad: the last dimension first
  bool more = false;
  for (int i = dims - 1; i >= 0; --i) {
    const int64_t total = dilation[i] * (kernel[i] - 1);
    a.padding.set(i, total / 2);
    ends.push_back(0);
    ends.push_back(total % 2);
    more |= total % 2 != 0;
  }
  return more ? Pad(x, ends) : x;
}

Tensor Conv(int dims, const Tensor& x, const Tensor& weight, const Tensor& bias,
            const ConvOptions& o) {
  const OpDef& op = OpOfDims<"conv1d", "conv2d", "conv3d">(dims);
  if (LacksBatch(x, dims, op.name)) {
    return Squeeze(Conv(dims, Unsqueeze(x, 0), weight, bias, o), 0);
  }
  ConvAttrs a{
      .stride = o.stride, .padding = o.padding.size, .dilation = o.dilation, .groups = o.groups};
  const bool same = o.padding.same && x.defined() && weight.defined() && weight.rank() == dims + 2;
  if (!same) return Apply1(op, {x, weight, bias}, a);
  absl::StatusOr<Tensor> padded = PadToSame(x, ImageOf(weight.shape()), a);
  RaiseIfError(padded.status(), op.name);
  return Apply1(op, {*padded, weight, bias}, a);
}

}  // namespace

Tensor Conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  return Conv(1, x, weight, bias, o);
}

Tensor Conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  return Conv(2, x, weight, bias, o);
}

Tensor Conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  return Conv(3, x, weight, bias, o);
}

Tensor inner::ConvWith(const Tensor& x, const Tensor& weight, const ConvAttrs& attrs) {
  return Apply1(OpOfDims<"conv1d", "conv2d", "conv3d">(x.rank() - 2), {x, weight, Tensor()}, attrs);
}

Tensor inner::ConvWeightGrad(const Tensor& x, const Tensor& grad, const ConvAttrs& attrs) {
  return Apply1(
      OpOfDims<"conv1d_weight_grad", "conv2d_weight_grad", "conv3d_weight_grad">(x.rank() - 2),
      {x, grad}, attrs);
}

}  // namespace firn

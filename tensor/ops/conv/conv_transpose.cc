// conv_transpose1d, 2d, 3d: the convolution problem whose image is unknown. Its weight has the
// layout of a convolution's, so dx of conv(x, weight) is ConvTransposeTo(dy, weight).

#include "firn/tensor/ops/conv/conv_transpose.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/internal/packed_conv.h"
#include "firn/tensor/kernels/cpu/conv_kernels.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/conv/channels.h"
#include "firn/tensor/ops/conv/conv.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const ConvProblem p,
                        ConvBackwardData(c.shape(0), c.shape(1), c.attrs<ConvAttrs>()));
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(p.batch, p.in, p.in_size));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  ConvAttrs a = g.attrs<ConvAttrs>();
  const Tensor& dy = g.grad_output();
  if (g.needs(0)) g.set_grad_input(0, ConvWith(dy, g.input(1), a));
  if (g.needs(1)) {
    a.result = ImageOf(g.input_shape(1));
    g.set_grad_input(1, ConvWeightGrad(dy, g.input(0), a));
  }
}

constexpr GraphTraits kTraits = {
    .packing = Packing{.input = 1, .pack = internal::PackConv},
};

OpDef TransposeOp(int dims, std::string_view doc) {
  const int rank = dims + 2;
  return {
      .doc = doc,
      .autocast = Autocast::kLow,
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = rank, .max_rank = rank},
                 {.name = "weight", .same_dtype_as = "x", .min_rank = rank, .max_rank = rank}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ConvAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = cpu::ConvKernels(ConvPass::kBackwardData, dims),
      .graph = &kTraits,
  };
}

FIRN_REGISTER_OP(conv_transpose1d) {
  return TransposeOp(1, "The transposed convolution of sequences, without bias.");
}

FIRN_REGISTER_OP(conv_transpose2d) {
  return TransposeOp(2, "The transposed convolution, without bias.");
}

FIRN_REGISTER_OP(conv_transpose3d) {
  return TransposeOp(3, "The transposed convolution of volumes, without bias.");
}

const OpDef& OpOf(int dims) {
  return OpOfDims<"conv_transpose1d", "conv_transpose2d", "conv_transpose3d">(dims);
}

// The image's size of conv_transpose(x, weight), or the error in the options.
absl::StatusOr<Sizes> ResultSize(const Sizes& in, const Sizes& kernel,
                                 const ConvTransposeOptions& o) {
  const int dims = kernel.count();
  FIRN_ASSIGN_OR_RETURN(const Sizes stride, internal::CheckedOption("stride", o.stride, 1, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes padding,
                        internal::CheckedOption("padding", o.padding, 0, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes dilation,
                        internal::CheckedOption("dilation", o.dilation, 1, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes extra,
                        internal::FittedOption("output_padding", o.output_padding, dims));
  Sizes result = in;
  for (int i = 0; i < dims; ++i) {
    FIRN_RETURN_IF(extra[i] < 0 || extra[i] >= std::max(stride[i], dilation[i]),
                   InvalidArgument("output_padding ", extra.ToString(),
                                   " must be at least 0 and smaller than stride or dilation"));
    FIRN_RETURN_IF(in[i] > internal::kMaxImage / stride[i],
                   InvalidArgument("x has images of ", in.ToString(),
                                   ", which are too large (want a result of at most ",
                                   internal::kMaxImage, " each way)"));
    result.set(
        i, (in[i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel[i] - 1) + extra[i] + 1);
  }
  return result;
}

Tensor ConvTranspose(int dims, const Tensor& x, const Tensor& weight, const Tensor& bias,
                     const ConvTransposeOptions& o) {
  const OpDef& op = OpOf(dims);
  if (LacksBatch(x, dims, op.name)) {
    return Squeeze(ConvTranspose(dims, Unsqueeze(x, 0), weight, bias, o), 0);
  }
  ConvAttrs a{.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
  if (x.defined() && weight.defined() && weight.rank() == dims + 2) {
    const absl::StatusOr<Sizes> result = ResultSize(ImageOf(x.shape()), ImageOf(weight.shape()), o);
    RaiseIfError(result.status(), op.name);
    a.result = *result;
  }
  const Tensor y = Apply1(op, {x, weight}, a);
  return bias.defined() ? ChannelAffine(y, {}, bias) : y;
}

}  // namespace

Tensor inner::ConvTransposeTo(const Tensor& x, const Tensor& weight, const ConvAttrs& attrs) {
  return Apply1(OpOf(x.rank() - 2), {x, weight}, attrs);
}

Tensor ConvTranspose1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const ConvTransposeOptions& o) {
  return ConvTranspose(1, x, weight, bias, o);
}

Tensor ConvTranspose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const ConvTransposeOptions& o) {
  return ConvTranspose(2, x, weight, bias, o);
}

Tensor ConvTranspose3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const ConvTransposeOptions& o) {
  return ConvTranspose(3, x, weight, bias, o);
}

}  // namespace firn

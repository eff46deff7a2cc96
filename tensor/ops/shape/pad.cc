// pad and its adjoint; the gradient of constant padding is the opposite padding.

#include "tensor/ops/shape/pad.h"

#include <vector>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/for_each.h"
#include "tensor/kernels/cpu/in_f32.h"
#include "tensor/op.h"
#include "tensor/ops/shape/pad_body.h"
#include "tensor/ops/shape/padding.h"

namespace firn {
namespace {

absl::Status InferPad(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const PadDims dims, ResolvePadding(c.shape(0), c.attrs<PadAttrs>()));
  Dims sizes;
  for (const PadDim& d : dims) sizes.push_back(d.padded());
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

void GradPad(GradContext& g) {
  const PadAttrs& a = g.attrs<PadAttrs>();
  if (a.mode != PadMode::kConstant) {
    g.set_grad_input(0, PadGrad(g.grad_output(), a));
    return;
  }
  std::vector<int64_t> opposite = a.pad;
  for (int64_t& p : opposite) p = -p;
  g.set_grad_input(0, Pad(g.grad_output(), opposite));
}

FIRN_REGISTER_OP(pad) {
  return {
      .doc = "x with elements added (or cut off) around it.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<PadAttrs>(),
      .infer = InferPad,
      .grad = GradPad,
      .kernels = cpu::Portable<PadKernel>(),
  };
}

absl::Status InferPadGrad(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const PadDims dims, ResolveUnpadding(c.shape(0), c.attrs<PadAttrs>()));
  Dims sizes;
  for (const PadDim& d : dims) sizes.push_back(d.size);
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

void GradPadGrad(GradContext& g) {
  const PadAttrs& a = g.attrs<PadAttrs>();
  g.set_grad_input(0, Pad(g.grad_output(), a.pad, {.mode = a.mode}));
}

const std::vector<Kernel>& PadGradKernels() {
  static const std::vector<Kernel> kernels = cpu::Portable<PadGradKernel>();
  return kernels;
}

FIRN_REGISTER_OP(pad_grad) {
  return {
      .doc = "The adjoint of pad.",
      .inputs = {{.name = "dy", .dtypes = kFloating}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<PadAttrs>(),
      .infer = InferPadGrad,
      .grad = GradPadGrad,
      .kernels = cpu::Portable<PadGradKernel>({.name = "loop"}, {cpu::InF32<PadGradKernels>()}),
  };
}

}  // namespace

Tensor Pad(const Tensor& x, const std::vector<int64_t>& pad, const PadOptions& options) {
  return Apply1(TheOp<"pad">(), {x}, PadAttrs{pad, options.mode, options.value});
}

Tensor inner::PadGrad(const Tensor& dy, const PadAttrs& attrs) {
  return Apply1(TheOp<"pad_grad">(), {dy}, attrs);
}

}  // namespace firn

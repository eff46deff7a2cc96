// div: x / y, and the two roundings. Integer operands are searched for zeros before anything is
// divided, for a division by zero would end the process.

#include "tensor/ops/div.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/div_fn.h"
#include "tensor/ops/full.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/neg.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const DivRounding rounding = c.attrs<DivAttrs>().rounding;
  FIRN_RETURN_IF(rounding < DivRounding::kNone || rounding > DivRounding::kFloor,
                 InvalidArgument("no such rounding: ", static_cast<int>(rounding)));
  FIRN_RETURN_IF(rounding == DivRounding::kNone && !IsFloating(c.dtype(0)),
                 InvalidArgument("integers are divided with rounding trunc or floor, got ",
                                 c.in(0).ToString(), " and rounding none"));
  return InferBroadcast(c);
}

absl::Status CheckDivisor(const KernelContext& k) {
  if (IsFloating(k.in_spec(1).dtype)) return absl::OkStatus();
  const bool zero = VisitNumeric(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    return cpu::AnyElement<T>(k, 1, [](T v) { return v == T(0); });
  });
  FIRN_RETURN_IF(zero, InvalidArgument("y ", k.in_spec(1).ToString(),
                                       " has a 0: integers cannot be divided by 0"));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(CheckDivisor(k));
  switch (k.attrs<DivAttrs>().rounding) {
    case DivRounding::kTrunc:
      return cpu::RunBinaryNumeric<DivTruncFn>(k);
    case DivRounding::kFloor:
      return cpu::RunBinaryNumeric<DivFloorFn>(k);
    case DivRounding::kNone:
      break;
  }
  return cpu::RunBinaryFloat<DivFn>(k);
}

// z = x / y: dx = dz / y, dy = -dx z.
void Grad(GradContext& g) {
  if (g.attrs<DivAttrs>().rounding != DivRounding::kNone) {
    const Tensor zeros = ZerosLike(g.grad_output());
    g.set_grad_input(0, zeros);
    g.set_grad_input(1, zeros);
    return;
  }
  const Tensor dx = Div(g.grad_output(), g.input(1));
  g.set_grad_input(0, dx);
  if (g.needs(1)) g.set_grad_input(1, Neg(Mul(dx, g.output(0))));
}

FIRN_REGISTER_OP(div) {
  OpDef op = cpu::BinaryFloatOp<DivFn>("div", "x / y, broadcast; rounded when asked for.", Grad,
                                       {Saved::Input(1), Saved::Output(0)});
  op.inputs[0].dtypes = kNumeric;
  op.attrs = AttrsOf<DivAttrs>();
  op.infer = Infer;
  op.kernels = {cpu::ElementwiseKernel(Run)};
  return op;
}

}  // namespace

Tensor Div(const Tensor& x, const Tensor& y, DivRounding rounding) {
  static const OpDef& op = Op("div");
  return ApplyPromoted(op, x, y, DivAttrs{rounding}, rounding == DivRounding::kNone);
}

}  // namespace firn

// add: x + alpha * y with broadcasting. The gradient of a broadcast operand is summed to its shape
// by the tape.
//
// add_n: four tensors in a pass (tensor/kernels/sum_of_many.h).
//
// sub: x - alpha * y.
//
// mul: x * y with broadcasting. d(xy) = y dx + x dy.
//
// div: x / y, and the two roundings. Integer operands are searched for zeros before anything is
// divided, because a division by zero would end the process. addcmul, addcdiv: in one pass where
// all three are of one floating dtype; for other dtypes, which promote one after the other, they
// are composed.

#include "firn/tensor/ops/elementwise/arithmetic.h"

#include <cmath>
#include <type_traits>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/elementwise.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/kernels/sum_of_many.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic_fn.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

absl::Status RunAdd(KernelContext& k) {
  const double alpha = k.attrs<AddAttrs>().alpha;
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    if (alpha == 1) {
      cpu::ElementwiseLoop<T, T, T>(k, AddFn());
    } else {
      cpu::ElementwiseLoop<T, T, T>(k, AddScaledFn{alpha});
    }
  });
  return absl::OkStatus();
}

void GradAdd(GradContext& g) {
  const double alpha = g.attrs<AddAttrs>().alpha;
  g.set_grad_input(0, g.grad_output());
  if (g.needs(1)) g.set_grad_input(1, alpha == 1 ? g.grad_output() : Mul(g.grad_output(), alpha));
}

FIRN_REGISTER_OP(add) {
  return {
      .doc = "x + alpha * y, broadcast.",
      .inputs = {{.name = "x"}, {.name = "y", .same_dtype_as = "x"}},
      .outputs = {{.name = "sum"}},
      .attrs = AttrsOf<AddAttrs>(),
      .infer = InferBroadcast,
      .grad = GradAdd,
      .may_reuse = {{0, 0}, {0, 1}},
      .kernels = {cpu::ElementwiseKernel(RunAdd)},
      .elementwise = cpu::ElementwiseOf<AddAnyFn>(),
  };
}

absl::Status RunAddN(KernelContext& k) {
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return SumOfMany<T>(k, []<class Out, class First, class In>(KernelContext& pass, int count) {
      // Halves are converted in registers only where every input moves.
      if constexpr (cpu::kIsHalf<In> && std::is_same_v<Out, In> && std::is_same_v<First, In>) {
        if (count == 3) {
          cpu::ElementwiseLoop<Out, First, In, In>(pass, AddThreeFn());
          return absl::OkStatus();
        }
      }
      cpu::ElementwiseLoop<Out, First, In, In, In>(pass, AddSomeFn{count});
      return absl::OkStatus();
    });
  });
}

void GradAddN(GradContext& g) {
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (g.needs(i)) g.set_grad_input(i, g.grad_output());
  }
}

FIRN_REGISTER_OP(add_n) {
  Kernel loop = cpu::ElementwiseKernel(RunAddN);
  loop.workspace = WorkspaceOfSum;
  return {
      .doc = "The sum of the tensors, broadcast.",
      .inputs = {{.name = "tensors", .same_dtype_as = "tensors", .variadic = true}},
      .outputs = {{.name = "sum"}},
      .infer = InferBroadcast,
      .grad = GradAddN,
      .may_reuse = {{0, 0}},
      .kernels = {loop},
  };
}

absl::Status InferSub(InferContext& c) {
  const double alpha = c.attrs<SubAttrs>().alpha;
  const bool whole = alpha == std::trunc(alpha) && std::abs(alpha) < 0x1p53;
  FIRN_RETURN_IF(!IsFloating(c.dtype(0)) && !whole,
                 InvalidArgument("alpha must be whole for integers, got ", alpha));
  return InferBroadcast(c);
}

absl::Status RunSub(KernelContext& k) {
  return k.attrs<SubAttrs>().alpha == 1 ? cpu::RunNumeric<SubFn, 2>(k)
                                        : cpu::RunNumeric<SubScaledFn, 2>(k);
}

void GradSub(GradContext& g) {
  const double alpha = g.attrs<SubAttrs>().alpha;
  g.set_grad_input(0, g.grad_output());
  if (!g.needs(1)) return;
  g.set_grad_input(1, alpha == 1 ? Neg(g.grad_output()) : Mul(g.grad_output(), -alpha));
}

FIRN_REGISTER_OP(sub) {
  OpDef op = cpu::BinaryNumericOp<SubScaledFn>("x - alpha * y, broadcast.", GradSub);
  op.infer = InferSub;
  op.kernels = {cpu::ElementwiseKernel(RunSub)};
  return op;
}

absl::Status RunMul(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype,
             [&]<class T>(TypeTag<T>) { cpu::ElementwiseLoop<T, T, T>(k, MulFn()); });
  return absl::OkStatus();
}

void GradMul(GradContext& g) {
  if (g.needs(0)) g.set_grad_input(0, Mul(g.grad_output(), g.input(1)));
  if (g.needs(1)) g.set_grad_input(1, Mul(g.grad_output(), g.input(0)));
}

FIRN_REGISTER_OP(mul) {
  return {
      .doc = "x * y, broadcast.",
      .inputs = {{.name = "x"}, {.name = "y", .same_dtype_as = "x"}},
      .outputs = {{.name = "product"}},
      .infer = InferBroadcast,
      .grad = GradMul,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .may_reuse = {{0, 0}, {0, 1}},
      .kernels = {cpu::ElementwiseKernel(RunMul)},
      .elementwise = cpu::ElementwiseOf<MulFn>(),
  };
}

absl::Status InferDiv(InferContext& c) {
  const DivRounding rounding = c.attrs<DivAttrs>().rounding;
  FIRN_RETURN_IF(rounding < DivRounding::kNone || rounding > DivRounding::kFloor,
                 InvalidArgument("no such rounding: ", static_cast<int>(rounding)));
  FIRN_RETURN_IF(rounding == DivRounding::kNone && !IsFloating(c.dtype(0)),
                 InvalidArgument("integers are divided with rounding trunc or floor, got ",
                                 c.in(0).ToString(), " and rounding none"));
  return InferBroadcast(c);
}

absl::Status RunDiv(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(cpu::CheckDivisor(k));
  switch (k.attrs<DivAttrs>().rounding) {
    case DivRounding::kTrunc:
      return cpu::RunNumeric<DivTruncFn, 2>(k);
    case DivRounding::kFloor:
      return cpu::RunNumeric<DivFloorFn, 2>(k);
    case DivRounding::kNone:
      break;
  }
  return cpu::RunFloat<DivFn, 2>(k);
}

// z = x / y: dx = dz / y, dy = -dx z.
void GradDiv(GradContext& g) {
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
  OpDef op = cpu::BinaryFloatOp<DivFn>("x / y, broadcast; rounded when asked for.", GradDiv,
                                       {Saved::Input(1), Saved::Output(0)});
  op.inputs[0].dtypes = kNumeric;
  op.attrs = AttrsOf<DivAttrs>();
  op.infer = InferDiv;
  op.kernels = {cpu::ElementwiseKernel(RunDiv)};
  op.elementwise = cpu::ElementwiseOf<DivAnyFn>();
  return op;
}

// `value` times the gradient that flows back.
Tensor ScaledFlow(GradContext& g) {
  const double value = g.attrs<AddcmulAttrs>().value;
  return value == 1 ? g.grad_output() : Mul(g.grad_output(), value);
}

// w = x + value y z: dy = value dw z, dz = value dw y.
void GradAddcmul(GradContext& g) {
  g.set_grad_input(0, g.grad_output());
  if (!g.needs(1) && !g.needs(2)) return;
  const Tensor flow = ScaledFlow(g);
  if (g.needs(1)) g.set_grad_input(1, Mul(flow, g.input(2)));
  if (g.needs(2)) g.set_grad_input(2, Mul(flow, g.input(1)));
}

// w = x + value y / z: dy = value dw / z, dz = -dy (y / z).
void GradAddcdiv(GradContext& g) {
  g.set_grad_input(0, g.grad_output());
  if (!g.needs(1) && !g.needs(2)) return;
  const Tensor dy = Div(ScaledFlow(g), g.input(2));
  g.set_grad_input(1, dy);
  if (g.needs(2)) g.set_grad_input(2, Neg(Mul(dy, Div(g.input(1), g.input(2)))));
}

template <class F>
OpDef TernaryOp(std::string_view doc, GradFn grad) {
  return {
      .doc = doc,
      .inputs = {{.name = "x", .dtypes = kFloating},
                 {.name = "y", .same_dtype_as = "x"},
                 {.name = "z", .same_dtype_as = "x"}},
      .outputs = {{.name = "w"}},
      .attrs = AttrsOf<AddcmulAttrs>(),
      .infer = InferBroadcast,
      .grad = grad,
      .saves = {Saved::Input(1), Saved::Input(2)},
      .may_reuse = {{0, 0}, {0, 1}, {0, 2}},
      .kernels = {cpu::ElementwiseKernel(cpu::RunFloat<F, 3>)},
      .elementwise = cpu::ElementwiseOf<F>(),
  };
}

FIRN_REGISTER_OP(addcmul) {
  return TernaryOp<AddcmulFn>("x + value * y * z, broadcast.", GradAddcmul);
}

FIRN_REGISTER_OP(addcdiv) {
  return TernaryOp<AddcdivFn>("x + value * y / z, broadcast.", GradAddcdiv);
}

bool OfOneFloatingDType(const Tensor& x, const Tensor& y, const Tensor& z) {
  return x.defined() && y.defined() && z.defined() && IsFloating(x.dtype()) &&
         y.dtype() == x.dtype() && z.dtype() == x.dtype();
}

}  // namespace

Tensor Add(const Tensor& x, const Tensor& y, Number alpha) {
  if (NeedsIntegers(alpha, y)) [[unlikely]]
    return Add(x, Mul(y, alpha.integer()));
  return ApplyPromoted(TheOp<"add">(), x, y, AddAttrs{alpha.value()});
}

Tensor AddN(const std::vector<Tensor>& tensors) {
  const OpDef& op = TheOp<"add_n">();
  if (tensors.empty()) RaiseStatus(InvalidArgument("takes at least 1 tensor, got 0"), op.name);
  CheckAllDefined(tensors, op.name);
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = Promote(dtype, ResultType(tensors[0], t));
  std::vector<Tensor> cast;
  for (const Tensor& t : tensors) cast.push_back(AsDType(t, dtype, tensors[0].device()));
  const absl::InlinedVector<TensorRef, 8> in(cast.begin(), cast.end());
  return Apply1(op, in);
}

Tensor Sub(const Tensor& x, const Tensor& y, Number alpha) {
  if (NeedsIntegers(alpha, y)) [[unlikely]]
    return Sub(x, Mul(y, alpha.integer()));
  return ApplyPromoted(TheOp<"sub">(), x, y, SubAttrs{alpha.value()});
}

Tensor Mul(const Tensor& x, const Tensor& y) { return ApplyPromoted(TheOp<"mul">(), x, y); }

Tensor Div(const Tensor& x, const Tensor& y, DivRounding rounding) {
  return ApplyPromoted(TheOp<"div">(), x, y, DivAttrs{rounding}, rounding == DivRounding::kNone);
}

Tensor inner::MulInFloat(const Tensor& x, const Tensor& y) {
  return Cast(Mul(Cast(x, ComputeDType(x.dtype())), y), x.dtype());
}

Tensor inner::DivInFloat(const Tensor& x, const Tensor& y) {
  return Cast(Div(Cast(x, ComputeDType(x.dtype())), y), x.dtype());
}

Tensor Addcmul(const Tensor& x, const Tensor& y, const Tensor& z, Number value) {
  if (!OfOneFloatingDType(x, y, z)) return Add(x, Mul(y, z), value);
  return Apply1(TheOp<"addcmul">(), {x, y, z}, AddcmulAttrs{value.value()});
}

Tensor Addcdiv(const Tensor& x, const Tensor& y, const Tensor& z, Number value) {
  if (!OfOneFloatingDType(x, y, z)) return Add(x, Div(y, z), value);
  return Apply1(TheOp<"addcdiv">(), {x, y, z}, AddcmulAttrs{value.value()});
}

}  // namespace firn

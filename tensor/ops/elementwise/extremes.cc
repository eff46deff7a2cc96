// maximum and its gradient, which minimum shares with its operands exchanged.
//
// minimum: the gradient goes to x where y would be the maximum.
//
// clamp: one pass for each combination of bounds. The bounds are inputs and not attributes, so that
// a tensor and a number are the same operation; a number costs a 0-d tensor.
//
// A number outside of an integer tensor's dtype bounds nothing, or leaves no element (AsBound).

#include "firn/tensor/ops/elementwise/extremes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes_fn.h"

namespace firn {
namespace {

void GradMaximum(GradContext& g) {
  const Tensor &dz = g.grad_output(), &x = g.input(0), &y = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, MaximumGrad(dz, x, y));
  if (g.needs(1)) g.set_grad_input(1, MaximumGrad(dz, y, x));
}

void GradOfGradMaximum(GradContext& g) {
  if (g.needs(0)) {
    g.set_grad_input(0, MaximumGrad(g.grad_output(), g.input(1), g.input(2)));
  }
  for (int i : {1, 2}) {
    if (g.needs(i)) g.set_grad_input(i, ZerosLike(g.grad_output()));
  }
}

FIRN_REGISTER_OP(maximum) {
  return cpu::BinaryAnyOp<MaximumFn>("The larger of x and y, broadcast.", GradMaximum,
                                     {Saved::Input(0), Saved::Input(1)});
}
FIRN_REGISTER_OP(maximum_grad) {
  return {
      .doc = "The gradient of maximum to its first operand.",
      .inputs = {{.name = "dz", .dtypes = kFloating},
                 {.name = "x", .same_dtype_as = "dz"},
                 {.name = "y", .same_dtype_as = "dz"}},
      .outputs = {{.name = "dx"}},
      .infer = InferBroadcast,
      .grad = GradOfGradMaximum,
      .saves = {Saved::Input(1), Saved::Input(2)},
      .may_reuse = {{0, 0}},
      .kernels = {cpu::ElementwiseKernel(cpu::RunFloat<MaximumGradFn, 3>)},
      .elementwise = cpu::ElementwiseOf<MaximumGradFn>(),
  };
}

void GradMinimum(GradContext& g) {
  const Tensor &dz = g.grad_output(), &x = g.input(0), &y = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, MaximumGrad(dz, y, x));
  if (g.needs(1)) g.set_grad_input(1, MaximumGrad(dz, x, y));
}

FIRN_REGISTER_OP(minimum) {
  return cpu::BinaryAnyOp<MinimumFn>("The smaller of x and y, broadcast.", GradMinimum,
                                     {Saved::Input(0), Saved::Input(1)});
}

absl::Status Infer(InferContext& c) {
  const int first = c.num_inputs() - 2;
  FIRN_RETURN_IF(!c.has(first) && !c.has(first + 1), InvalidArgument("give min, max or both"));
  return InferBroadcast(c);
}

// The context without the absent bound: the loops read inputs by position.
KernelContext WithoutBound(const KernelContext& k, int absent, Operand (&rest)[3]) {
  int n = 0;
  for (int i = 0; i < k.num_inputs(); ++i) {
    if (i != absent) rest[n++] = k.operands_in()[static_cast<size_t>(i)];
  }
  return {absl::MakeConstSpan(rest, static_cast<size_t>(n)), k.operands_out(), k.attrs_ref(),
          nullptr};
}

absl::Status Run(KernelContext& k) {
  Operand rest[3];
  if (!k.has(1)) {
    KernelContext c = WithoutBound(k, 1, rest);
    return cpu::RunNumeric<ClampMaxFn, 2>(c);
  }
  if (!k.has(2)) {
    KernelContext c = WithoutBound(k, 2, rest);
    return cpu::RunNumeric<ClampMinFn, 2>(c);
  }
  VisitNumeric(k.in_spec(0).dtype,
               [&]<class T>(TypeTag<T>) { cpu::ElementwiseLoop<T, T, T, T>(k, ClampFn()); });
  return absl::OkStatus();
}

absl::Status RunGrad(KernelContext& k) {
  Operand rest[3];
  if (!k.has(2)) {
    KernelContext c = WithoutBound(k, 2, rest);
    return cpu::RunFloat<ClampMaxGradFn, 3>(c);
  }
  if (!k.has(3)) {
    KernelContext c = WithoutBound(k, 3, rest);
    return cpu::RunFloat<ClampMinGradFn, 3>(c);
  }
  VisitFloat(k.in_spec(0).dtype,
             [&]<class T>(TypeTag<T>) { cpu::ElementwiseLoop<T, T, T, T, T>(k, ClampGradFn()); });
  return absl::OkStatus();
}

// Where min > max, max wins.
void GradClamp(GradContext& g) {
  const Tensor &dy = g.grad_output(), &x = g.input(0), &min = g.input(1), &max = g.input(2);
  if (g.needs(0)) g.set_grad_input(0, ClampGrad(dy, x, min, max));
  if (g.needs(1)) {
    const Tensor below = Lt(x, min);
    g.set_grad_input(1, Where(max.defined() ? LogicalAnd(below, Lt(min, max)) : below, dy, 0.0));
  }
  if (g.needs(2)) {
    const Tensor above = Gt(x, max);
    g.set_grad_input(2, Where(min.defined() ? LogicalOr(above, Lt(max, min)) : above, dy, 0.0));
  }
}

void GradOfGradClamp(GradContext& g) {
  if (g.needs(0)) {
    g.set_grad_input(0, ClampGrad(g.grad_output(), g.input(1), g.input(2), g.input(3)));
  }
  for (int i : {1, 2, 3}) {
    if (g.needs(i)) g.set_grad_input(i, ZerosLike(g.grad_output()));
  }
}

// Where one functor serves all combinations of bounds.
Elementwise OfClamp() {
  Elementwise e = cpu::ElementwiseOf<ClampAnyFn>();
  e.make = [](const KernelContext& k, void* to) { new (to) ClampAnyFn{k.has(1), k.has(2)}; };
  e.absent = 0;
  return e;
}
Elementwise OfClampGrad() {
  Elementwise e = cpu::ElementwiseOf<ClampGradFn>();
  e.absent = 1;
  return e;
}

FIRN_REGISTER_OP(clamp) {
  return {
      .doc = "x cut off at min and max, broadcast.",
      .inputs = {{.name = "x", .dtypes = kNumeric},
                 {.name = "min", .same_dtype_as = "x", .optional = true},
                 {.name = "max", .same_dtype_as = "x", .optional = true}},
      .outputs = {{.name = "y"}},
      .infer = Infer,
      .grad = GradClamp,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2)},
      .may_reuse = {{0, 0}},
      .kernels = {cpu::ElementwiseKernel(Run)},
      .elementwise = OfClamp(),
  };
}
FIRN_REGISTER_OP(clamp_grad) {
  return {
      .doc = "dy where min <= x <= max, else 0: the gradient of clamp.",
      .inputs = {{.name = "dy", .dtypes = kFloating},
                 {.name = "x", .same_dtype_as = "dy"},
                 {.name = "min", .same_dtype_as = "dy", .optional = true},
                 {.name = "max", .same_dtype_as = "dy", .optional = true}},
      .outputs = {{.name = "dx"}},
      .infer = Infer,
      .grad = GradOfGradClamp,
      .saves = {Saved::Input(1), Saved::Input(2), Saved::Input(3)},
      .may_reuse = {{0, 0}, {0, 1}},
      .kernels = {cpu::ElementwiseKernel(RunGrad)},
      .elementwise = OfClampGrad(),
  };
}

// The side on which an argument bounds elements.
enum class Side { kMin, kMax };

// An argument of `op` as `dtype`, the result's. AsDType would wrap a number that an integer dtype
// does not hold, for u8 300 to 44. A number that bounds no element is replaced by the dtype's last
// value, and one that leaves no element is refused.
Tensor AsBound(const Tensor& t, Side side, DType dtype, Device device, const char* name,
               std::string_view op) {
  const bool integer = t.impl()->weak_number && t.dtype() == DType::kI64;
  if (!integer || !IsIntegral(dtype)) return AsDType(t, dtype, device);
  const int64_t v = *reinterpret_cast<const int64_t*>(t.impl()->data);
  int64_t least = v, largest = v;
  VisitNumeric(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      least = std::numeric_limits<T>::min();
      largest = std::numeric_limits<T>::max();
    }
  });
  if (side == Side::kMin && v > largest) {
    RaiseStatus(InvalidArgument(name, " is ", v, " (want at most ", largest, ", the largest ",
                                DTypeName(dtype), ")"),
                op);
  }
  if (side == Side::kMax && v < least) {
    RaiseStatus(InvalidArgument(name, " is ", v, " (want at least ", least, ", the least ",
                                DTypeName(dtype), ")"),
                op);
  }
  const int64_t held = std::clamp(v, least, largest);
  return AsDType(held == v ? t : Tensor(held), dtype, device);
}

Tensor ApplyExtreme(const OpDef& op, Side side, const Tensor& x, const Tensor& y) {
  if (!x.defined() || !y.defined() || x.dtype() == y.dtype() || IsFloating(x.dtype()) ||
      IsFloating(y.dtype())) {
    return ApplyPromoted(op, x, y);
  }
  const DType d = ResultType(x, y);
  return Apply1(op, {AsBound(x, side, d, y.device(), "x", op.name),
                     AsBound(y, side, d, x.device(), "y", op.name)});
}

}  // namespace

Tensor Maximum(const Tensor& x, const Tensor& y) {
  return ApplyExtreme(TheOp<"maximum">(), Side::kMin, x, y);
}
Tensor inner::MaximumGrad(const Tensor& dz, const Tensor& x, const Tensor& y) {
  return Apply1(TheOp<"maximum_grad">(), {dz, x, y});
}

Tensor Minimum(const Tensor& x, const Tensor& y) {
  return ApplyExtreme(TheOp<"minimum">(), Side::kMax, x, y);
}

Tensor Clamp(const Tensor& x, const Tensor& min, const Tensor& max) {
  const OpDef& op = TheOp<"clamp">();
  if (!x.defined() || (!min.defined() && !max.defined())) return Apply1(op, {x, min, max});
  DType d = x.dtype();
  for (const Tensor* bound : {&min, &max}) {
    if (bound->defined()) d = Promote(d, ResultType(x, *bound));
  }
  const auto as = [&](const Tensor& t, Side side, const char* name) {
    return t.defined() ? AsBound(t, side, d, x.device(), name, op.name) : t;
  };
  return Apply1(op, {AsDType(x, d), as(min, Side::kMin, "min"), as(max, Side::kMax, "max")});
}

Tensor inner::ClampGrad(const Tensor& dy, const Tensor& x, const Tensor& min, const Tensor& max) {
  return Apply1(TheOp<"clamp_grad">(), {dy, x, min, max});
}

}  // namespace firn

// var and std: see kernels/cpu/moments.h for how they are computed. Both give the mean as well: it
// costs nothing and the gradients need it,
//   d var / dx_i = 2 (x_i - mean) / (n - correction),  d std / dx_i = d var / dx_i / (2 std).

#include "tensor/ops/reduce/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/moments.h"
#include "tensor/kernels/cpu/reduce_loop.h"
#include "tensor/op.h"
#include "tensor/ops/compare/compare.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/elementwise/choose.h"
#include "tensor/ops/reduce/reduction.h"
#include "tensor/ops/reduce/sum.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const ReduceAttrs& over = c.attrs<VarAttrs>().over;
  FIRN_RETURN_IF_ERROR(InferReduction(c, over, 0, c.dtype(0)));
  return InferReduction(c, over, 1, c.dtype(0));
}

size_t Workspace(const KernelQuery& q) {
  return cpu::ReduceWorkspace(q.in(0), q.attrs<VarAttrs>().over.dims, sizeof(Moments<double>));
}

// What the sum of squares is divided by.
double Divisor(const Shape& x, const VarAttrs& a) {
  const auto n = static_cast<double>(ReducedCount(x, a.over));
  return std::max(0.0, n - static_cast<double>(a.correction));
}

template <bool kRoot>
absl::Status Run(KernelContext& k) {
  const VarAttrs& a = k.attrs<VarAttrs>();
  const TensorSpec& spec = k.in_spec(0);
  const double divisor = Divisor(spec.shape, a);
  VisitFloat(spec.dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    T *var = k.out<T>(0), *mean = k.out<T>(1);
    cpu::ReduceWith(
        k, a.over.dims, cpu::MomentsReducer<Acc>(), [&](int64_t j, const Moments<Acc>& m) {
          const Acc v = m.squares / static_cast<Acc>(divisor);
          var[j] = static_cast<T>(kRoot ? std::sqrt(v) : v);
          mean[j] = static_cast<T>(m.count == 0 ? std::numeric_limits<Acc>::quiet_NaN() : m.mean);
        });
  });
  return absl::OkStatus();
}

// Adds what flows back from the mean to `dx`, which may be undefined.
void SetGradient(GradContext& g, Tensor dx) {
  const VarAttrs& a = g.attrs<VarAttrs>();
  const Shape& x = g.input_shape(0);
  if (g.has_grad_output(1) || !dx.defined()) {
    const double share = 1 / static_cast<double>(ReducedCount(x, a.over));
    const Tensor from_mean = SpreadReduced(Mul(g.grad_output(1), share), a.over, x);
    dx = dx.defined() ? Add(dx, from_mean) : from_mean;
  }
  g.set_grad_input(0, std::move(dx));
}

// x - mean. The mean was rounded to x's dtype; what it lacks is the mean of the differences.
Tensor Centered(GradContext& g) {
  const ReduceAttrs& over = g.attrs<VarAttrs>().over;
  const Tensor d = Sub(g.input(0), KeepReduced(g.output(1), over, g.input_shape(0)));
  return Sub(d, Mean(d, over.dims, true));
}

void GradVar(GradContext& g) {
  const VarAttrs& a = g.attrs<VarAttrs>();
  Tensor dx;
  if (g.has_grad_output(0)) {
    const Tensor scaled = Mul(g.grad_output(0), 2 / Divisor(g.input_shape(0), a));
    dx = Mul(Centered(g), KeepReduced(scaled, a.over, g.input_shape(0)));
  }
  SetGradient(g, std::move(dx));
}

void GradStd(GradContext& g) {
  const VarAttrs& a = g.attrs<VarAttrs>();
  Tensor dx;
  if (g.has_grad_output(0)) {
    const Tensor& std = g.output(0);
    const Tensor scaled = Mul(g.grad_output(0), 1 / Divisor(g.input_shape(0), a));
    const Tensor zero = Eq(std, 0);
    const Tensor factor = Where(zero, 0, Div(scaled, Where(zero, 1, std)));
    dx = Mul(Centered(g), KeepReduced(factor, a.over, g.input_shape(0)));
  }
  SetGradient(g, std::move(dx));
}

OpDef Definition(std::string_view doc, std::string_view result) {
  return {
      .doc = doc,
      .inputs = {{.name = "x", .dtypes = kFloating}},
      .outputs = {{.name = result}, {.name = "mean"}},
      .attrs = AttrsOf<VarAttrs>(),
      .infer = Infer,
  };
}

FIRN_REGISTER_OP(var) {
  OpDef op = Definition("The variance over dims (empty: all), and the mean.", "var");
  op.grad = GradVar;
  op.saves = {Saved::Input(0), Saved::Output(1)};
  op.kernels = {
      {.name = "loop", .workspace = Workspace, .run = Run<false>, .takes = Takes::kStrided}};
  op.autocast = Autocast::kFull;
  return op;
}

FIRN_REGISTER_OP(std) {
  OpDef op = Definition("The standard deviation over dims (empty: all), and the mean.", "std");
  op.grad = GradStd;
  op.saves = {Saved::Input(0), Saved::Output(0), Saved::Output(1)};
  op.kernels = {
      {.name = "loop", .workspace = Workspace, .run = Run<true>, .takes = Takes::kStrided}};
  return op;
}

}  // namespace

VarMeanResult VarMean(const Tensor& x, const DimList& dims, int64_t correction, bool keepdim) {
  const TensorList out = Apply(TheOp<"var">(), {x}, VarAttrs{{dims, keepdim}, correction});
  return {out[0], out[1]};
}

Tensor Var(const Tensor& x, const DimList& dims, int64_t correction, bool keepdim) {
  return VarMean(x, dims, correction, keepdim).var;
}

Tensor Std(const Tensor& x, const DimList& dims, int64_t correction, bool keepdim) {
  return Apply(TheOp<"std">(), {x}, VarAttrs{{dims, keepdim}, correction})[0];
}

}  // namespace firn

// var and std: see kernels/cpu/moments.h for how they are computed. Both give the mean as well: it
// costs nothing and the gradients need it,
//   d var / dx_i = 2 (x_i - mean) / (n - correction),  d std / dx_i = d var / dx_i / (2 std).
// Where sums are infinite or lack digits, they are computed again from scaled elements.

#include "firn/tensor/ops/reduce/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/kernels/cpu/moments.h"
#include "firn/tensor/kernels/cpu/reduce_loop.h"
#include "firn/tensor/kernels/cpu/reduced_elements.h"
#include "firn/tensor/kernels/cpu/softmax.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/ratio.h"
#include "firn/tensor/ops/elementwise/ratio_fn.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/dim_attrs.h"

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

// The divisor of the sum of squares.
double Divisor(const Shape& x, const VarAttrs& a) {
  const auto n = static_cast<double>(ReducedCount(x, a.over));
  return std::max(0.0, n - static_cast<double>(a.correction));
}

// Computes those results again of which the mean or the squares left the range of their type, or
// its lower end.
template <bool kRoot, class T>
void Rescale(KernelContext& k, double divisor) {
  using Acc = AccumulatorOf<T>;
  if constexpr (std::is_same_v<T, Half>) return;  // f32 holds the squares of all
  constexpr double kLeast = cpu::kLeastSum<Acc>;
  const Acc least = static_cast<Acc>(kRoot ? std::sqrt(kLeast) : kLeast);
  const TensorSpec& spec = k.in_spec(0);
  T *const var = k.out<T>(0), *const mean = k.out<T>(1);
  const int64_t n = k.out_spec(0).num_elements();
  cpu::ForEachPartOutside(var, n, least, [&](int64_t begin, int64_t end) {
    std::optional<ReducePlan> plan;
    for (int64_t j = begin; j < end; ++j) {
      const Acc v = static_cast<Acc>(var[j]);
      if (v >= least && v <= std::numeric_limits<Acc>::max()) [[likely]]
        continue;
      if (!plan) plan = PlanReduction(spec, k.attrs<VarAttrs>().over.dims);
      const cpu::ScaledMoments m = cpu::ScaledMomentsOf(
          [&](const auto& f) { cpu::ForEachReduced(*plan, k.in<T>(0), j, f); }, plan->reduced);
      if (!m.known) continue;
      const double scaled = m.squares / divisor;
      const double right = kRoot ? std::sqrt(scaled) / m.unit : scaled / m.unit / m.unit;
      var[j] = static_cast<T>(static_cast<Acc>(right));
      mean[j] = static_cast<T>(static_cast<Acc>(m.mean / m.unit));
    }
  });
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
    if (divisor > 0 && spec.num_elements() > 0) Rescale<kRoot, T>(k, divisor);
  });
  return absl::OkStatus();
}

// Adds the gradient that flows back from the mean to `dx`, which may be undefined.
void SetGradient(GradContext& g, Tensor dx) {
  const VarAttrs& a = g.attrs<VarAttrs>();
  const Shape& x = g.input_shape(0);
  if (g.has_grad_output(1) || !dx.defined()) {
    const double share = 1 / static_cast<double>(ReducedCount(x, a.over));
    const Tensor from_mean = SpreadReduced(MulInFloat(g.grad_output(1), share), a.over, x);
    dx = dx.defined() ? Add(dx, from_mean) : from_mean;
  }
  g.set_grad_input(0, std::move(dx));
}

// x - mean. The mean was rounded to x's dtype; its error is the mean of the differences.
Tensor Centered(GradContext& g) {
  const ReduceAttrs& over = g.attrs<VarAttrs>().over;
  const Tensor d = Sub(g.input(0), KeepReduced(g.output(1), over, g.input_shape(0)));
  return Sub(d, Mean(d, over.dims, true));
}

// (x - mean) * factor, or times factor / over, which have a number for each mean. Along lines that
// is one pass.
Tensor ScaledCentered(GradContext& g, const Tensor& factor, const Tensor& over = {}) {
  const ReduceAttrs& dims = g.attrs<VarAttrs>().over;
  const Tensor& x = g.input(0);
  if (const std::optional<Lines> l = ReducedLines(x, dims)) {
    const Tensor dx =
        Apply1(TheOp<"var_grad">(),
               {SeenAsLines(x, *l), SeenAsLineResults(Detach(g.output(1)), *l),
                SeenAsLineResults(factor, *l), over.defined() ? SeenAsLineResults(over, *l) : over},
               DimAttrs{1});
    return Reshape(dx, x.shape());
  }
  const auto kept = [&](const Tensor& t) { return KeepReduced(t, dims, x.shape()); };
  if (over.defined()) return MulRatio(Centered(g), kept(factor), kept(over));
  return Mul(Centered(g), kept(factor));
}

void GradVar(GradContext& g) {
  const VarAttrs& a = g.attrs<VarAttrs>();
  Tensor dx;
  if (g.has_grad_output(0)) {
    dx = ScaledCentered(g, MulInFloat(g.grad_output(0), 2 / Divisor(g.input_shape(0), a)));
  }
  SetGradient(g, std::move(dx));
}

void GradStd(GradContext& g) {
  const VarAttrs& a = g.attrs<VarAttrs>();
  Tensor dx;
  if (g.has_grad_output(0)) {
    const double share = 1 / Divisor(g.input_shape(0), a);
    // Deviations over std are never far from 1; dy over std may overflow.
    dx = ScaledCentered(g, MulInFloat(g.grad_output(0), share), g.output(0));
  }
  SetGradient(g, std::move(dx));
}

// A number for each line, or the ratio of two.
template <class Acc>
struct LineScales {
  Acc number[cpu::kStripWidth], over[cpu::kStripWidth], scale[cpu::kStripWidth];
  bool far = false;  // some ratios do not have their digits

  LineScales(KernelContext& k, const cpu::Strip& s) {
    cpu::RowsIn<Acc>(k, 2).Load(s.first, s.width, k.has(3) ? number : scale);
    if (!k.has(3)) return;
    cpu::RowsIn<Acc>(k, 3).Load(s.first, s.width, over);
    for (int64_t c = 0; c < s.width; ++c) {
      scale[c] = RatioOf(number[c], over[c]);
      far |= !IsNearRatio(number[c], over[c], scale[c]);
    }
  }
};

// Rows of few elements without gaps are taken several at a time. Only where a strip has all of the
// `inner` lines side by side: a last strip of fewer would add up in another order than the others.
template <class Acc>
void GradStrip(int64_t inner, const cpu::Strip& s, const cpu::RowsOut<Acc>& dx,
               const cpu::RowsIn<Acc>& x, const cpu::RowsIn<Acc>& means, LineScales<Acc>& scales) {
  Acc mean[cpu::kStripWidth], rest[cpu::kStripWidth];
  Acc* const scale = scales.scale;
  means.Load(s.first, s.width, mean);
  const bool whole = !s.line() && s.width == inner && s.stride == inner;
  const int64_t rows = whole ? cpu::kStripWidth / s.width : 1;
  const int64_t width = rows * s.width;
  cpu::Strip most = s, last = s;
  most.length /= rows;
  most.stride *= rows;
  most.width *= rows;
  last.offset += most.length * most.stride;
  last.length -= most.length * rows;
  const auto repeat = [&](Acc* v) {
    for (int64_t c = s.width; c < width; ++c) v[c] = v[c - s.width];
  };
  repeat(mean);
  repeat(scale);
  const auto centered = [&](int64_t c, int64_t, Acc v) { return v - mean[c]; };
  cpu::SumStrip(most, centered, rest, x);
  for (int64_t c = s.width; c < width; ++c) rest[c % s.width] += rest[c];
  if (last.length > 0) {
    Acc more[cpu::kStripWidth];
    cpu::SumStrip(last, centered, more, x);
    for (int64_t c = 0; c < s.width; ++c) rest[c] += more[c];
  }
  for (int64_t c = 0; c < s.width; ++c) rest[c] /= static_cast<Acc>(s.length);
  repeat(rest);
  if (scales.far) [[unlikely]] {
    repeat(scales.number);
    repeat(scales.over);
    const auto far = [&](int64_t c, int64_t, Acc v) {
      return MulRatioFn()((v - mean[c]) - rest[c], scales.number[c], scales.over[c]);
    };
    cpu::MapStrip(most, dx, far, x);
    return cpu::MapStrip(last, dx, far, x);
  }
  const auto term = [&](int64_t c, int64_t, Acc v) { return ((v - mean[c]) - rest[c]) * scale[c]; };
  cpu::MapStrip(most, dx, term, x);
  cpu::MapStrip(last, dx, term, x);
}

absl::Status RunGrad(KernelContext& k) {
  const Lines lines = LinesAlong(k.in_spec(0).shape, k.attrs<DimAttrs>().dim);
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    using Out = cpu::RowsOut<Acc>;
    using In = cpu::RowsIn<Acc>;
    const In mean(k, 1);
    const auto strip = [&](const cpu::Strip& s, const Out& dx, const In& x) {
      LineScales<Acc> scales(k, s);
      GradStrip(lines.inner, s, dx, x, mean, scales);
    };
    cpu::ForEachStrip(lines, Out(k, 0), strip, In(k, 0));
  });
  return absl::OkStatus();
}

// For u flowing into (x - mean(x)) s / o: (u - mean(u)) s / o to x, t = sum(u (x - mean(x)) / o) to
// s and -t s / o to o. The given mean is only an origin for differences and does not change the
// result.
void GradOfGrad(GradContext& g) {
  const DimAttrs a = g.attrs<DimAttrs>();
  const Tensor &u = g.grad_output(), &scale = g.input(2), &over = g.input(3);
  const auto apply = [&](const Tensor& x, const Tensor& mean, const Tensor& by) {
    return Apply1(TheOp<"var_grad">(), {x, mean, by, over}, a);
  };
  if (g.needs(0)) g.set_grad_input(0, apply(u, Mean(Detach(u), {a.dim}, true), scale));
  if (!g.needs(2) && !g.needs(3)) return;
  const Tensor centered = apply(g.input(0), Detach(g.input(1)), OnesLike(scale));
  const Tensor t = Sum(Mul(u, centered), {a.dim}, true);
  if (g.needs(2)) g.set_grad_input(2, t);
  if (g.needs(3)) g.set_grad_input(3, Neg(MulRatio(t, scale, over)));
}

FIRN_REGISTER_OP(var_grad) {
  return {
      .doc =
          "(x - the mean of x along dim) * scale, or times scale / over: the gradients of var and "
          "std. `mean` is near it.",
      .inputs = {{.name = "x", .dtypes = kFloating},
                 {.name = "mean", .same_dtype_as = "x"},
                 {.name = "scale", .same_dtype_as = "x"},
                 {.name = "over", .same_dtype_as = "x", .optional = true}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = InferWithLineNumbers,
      .grad = GradOfGrad,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2), Saved::Input(3)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = RunGrad}},
  };
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

VarMeanResult VarMean(const Tensor& x, const DimList& dims, Integer correction, Flag keepdim) {
  const TensorList out = Apply(TheOp<"var">(), {x}, VarAttrs{{dims, keepdim}, correction});
  return {out[0], out[1]};
}

Tensor Var(const Tensor& x, const DimList& dims, Integer correction, Flag keepdim) {
  return VarMean(x, dims, correction, keepdim).var;
}

Tensor Std(const Tensor& x, const DimList& dims, Integer correction, Flag keepdim) {
  return Apply(TheOp<"std">(), {x}, VarAttrs{{dims, keepdim}, correction})[0];
}

}  // namespace firn

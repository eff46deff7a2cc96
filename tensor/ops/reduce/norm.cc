// norm: vector norms over dimensions. With n = (sum |x|^p)^(1/p),
//   dn / dx_i = sign(x_i) (|x_i| / n)^(p - 1),
// and 0 for n = 0; with a scale, the operation's result is scale n. Norms with an infinite p are
// extremes and have their gradient. Where the sum of powers is infinite or so small that it lacks
// digits, the norm is computed again from scaled elements.

#include "firn/tensor/ops/reduce/norm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "firn/device/parallel.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/reduce_loop.h"
#include "firn/tensor/kernels/cpu/reduced_elements.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/ratio.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/reduce/norm_fn.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const NormAttrs& a = c.attrs<NormAttrs>();
  FIRN_RETURN_IF(!(a.p >= 0) && !std::isinf(a.p),
                 InvalidArgument("p must be at least 0, or infinite; got ", a.p));
  FIRN_RETURN_IF(!(a.scale > 0) || std::isinf(a.scale),
                 InvalidArgument("scale must be above 0 and finite; got ", a.scale));
  if (std::isinf(a.p)) {
    FIRN_RETURN_IF_ERROR(RefuseEmptyReduction(c.shape(0), a.over, "an infinite norm"));
  }
  return InferReduction(c, a.over, 0, c.dtype(0));
}

size_t Workspace(const KernelQuery& q) {
  return cpu::ReduceWorkspace(q.in(0), q.attrs<NormAttrs>().over.dims, sizeof(double));
}

// Whether the norm is computed from powers, which may exceed a type that holds the norm.
bool HasPowers(double p) { return p != 0 && p != 1 && !std::isinf(p); }

// Computes result j from powers of elements over the largest one.
template <class T>
double FarNorm(const ReducePlan& plan, const T* x, int64_t j, double p) {
  const auto for_each = [&](const auto& f) { cpu::ForEachReduced(plan, x, j, f); };
  const double top = cpu::LargestOf(for_each);
  if (!(top > 0) || top > std::numeric_limits<double>::max()) return top;
  cpu::ExactSum sum;
  if (p == 2) {
    const double unit = cpu::UnitFor(top);
    for_each([&](double v) { sum.Add((v * unit) * (v * unit)); });
    return std::sqrt(sum.total()) / unit;
  }
  for_each([&](double v) { sum.Add(std::pow(std::abs(v) / top, p)); });
  return std::pow(sum.total(), 1 / p) * top;
}

// The least norm whose sum of powers has all its digits.
template <class Acc>
Acc LeastNorm(double p) {
  constexpr double kLeast = cpu::kLeastSum<Acc>;
  if (!HasPowers(p)) return 0;
  return static_cast<Acc>(p == 2 ? std::sqrt(kLeast) : std::pow(kLeast, 1 / p));
}

// Computes those results again whose sums left the range of their type, or its lower end, and
// scales all.
template <class T>
void Rescale(KernelContext& k, const NormAttrs& a) {
  using Acc = AccumulatorOf<T>;
  const Acc least = LeastNorm<Acc>(a.p), scale = static_cast<Acc>(a.scale);
  T* const norms = k.out<T>();
  const auto rescale = [&](int64_t begin, int64_t end) {
    std::optional<ReducePlan> plan;
    for (int64_t j = begin; j < end; ++j) {
      const Acc norm = static_cast<Acc>(norms[j]);
      const bool within = norm >= least && norm <= std::numeric_limits<Acc>::max();
      if (within || norm != norm) [[likely]] {
        norms[j] = static_cast<T>(norm * scale);
        continue;
      }
      if (!plan) plan = PlanReduction(k.in_spec(0), a.over.dims);
      const double right = FarNorm(*plan, k.in<T>(0), j, a.p);
      norms[j] = static_cast<T>(static_cast<Acc>(right * a.scale));
    }
  };
  const int64_t n = k.out_spec(0).num_elements();
  constexpr int64_t kPart = 1 << 14;
  if (a.scale == 1) return cpu::ForEachPartOutside(norms, n, least, rescale);
  n <= kPart ? rescale(0, n) : ParallelFor(n, kPart, rescale);
}

absl::Status Run(KernelContext& k) {
  const NormAttrs& a = k.attrs<NormAttrs>();
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitNorm<AccumulatorOf<T>>(
        a.p, [&](const auto& reducer) { cpu::Reduce<T>(k, a.over.dims, reducer); });
    if (k.in_spec(0).num_elements() == 0) return;
    const bool held = std::is_same_v<T, Half> && a.p == 2;  // f32 holds the squares of all
    if (a.scale != 1 || (HasPowers(a.p) && !held)) Rescale<T>(k, a);
  });
  return absl::OkStatus();
}

// dx for a norm times its scale and its gradient `dy`, both with the reduced dimensions of size 1.
Tensor NormGrad(const Tensor& dy, const Tensor& x, const Tensor& norm, const NormAttrs& a) {
  const auto scaled = [&](const Tensor& t, double by) { return a.scale == 1 ? t : Mul(t, by); };
  const Tensor flow = scaled(dy, a.scale);
  if (a.p == 1) return Mul(Sign(x), flow);
  if (std::isinf(a.p)) {
    const ReduceAttrs kept{a.over.dims, true};
    return Mul(Sign(x), SpreadToEqual(flow, Abs(x), scaled(norm, 1 / a.scale), kept));
  }
  if (a.p == 2) return MulRatio(x, scaled(flow, a.scale), norm);
  const Tensor zero = Eq(norm, 0);
  const Tensor safe = Where(zero, 1, norm);
  // Where x is 0, sign(x) is too, and the power of 1 keeps infinity away: 1 / norm would not, of a
  // small norm.
  const Tensor ratio = Where(Eq(x, 0), 1, Div(scaled(Abs(x), a.scale), safe));
  return Mul(Mul(Sign(x), Pow(ratio, a.p - 1)), Where(zero, 0, flow));
}

void Grad(GradContext& g) {
  const NormAttrs& a = g.attrs<NormAttrs>();
  const Tensor& x = g.input(0);
  if (a.p == 0) return g.set_grad_input(0, ZerosLike(x));
  const Tensor dy = KeepReduced(g.grad_output(), a.over, x.shape());
  const DType dtype = x.dtype(), wide = ComputeDType(dtype);
  if (dtype != wide && GradEnabled()) {
    // Derivatives of this use squares of 1 / norm, which a half type does not hold.
    const Tensor wide_x = Cast(x, wide);
    const Tensor norm =
        Apply1(TheOp<"norm">(), {wide_x}, NormAttrs{a.p, {a.over.dims, true}, a.scale});
    return g.set_grad_input(0, Cast(NormGrad(Cast(dy, wide), wide_x, norm, a), dtype));
  }
  g.set_grad_input(0, NormGrad(dy, x, KeepReduced(g.output(0), a.over, x.shape()), a));
}

FIRN_REGISTER_OP(norm) {
  return {
      .doc = "The p-norm over dims (empty: all), times scale.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x", .dtypes = kFloating}},
      .outputs = {{.name = "norm"}},
      .attrs = AttrsOf<NormAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Output(0)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run, .takes = Takes::kStrided}},
  };
}

}  // namespace

inner::ScaledNorms inner::ScaledNorm(const Tensor& x, double p, const DimList& dims) {
  CheckDefined(x, "norm");
  NormAttrs a{p, {dims, true}};
  const absl::StatusOr<Dims> over = NormalizeDims(dims, x.shape());
  if (over.ok() && p > 0 && !std::isinf(p)) {
    const auto n = static_cast<double>(std::max<int64_t>(1, ReducedCount(x.shape(), a.over)));
    // n of the largest numbers have a norm of n^(1 / p) times the largest.
    a.scale = std::exp2(-std::min(64.0, std::ceil(std::log2(n) / p)));
  }
  return {Apply1(TheOp<"norm">(), {x}, a), a.scale};
}

Tensor Norm(const Tensor& x, Real p, const DimList& dims, Flag keepdim) {
  return Apply1(TheOp<"norm">(), {x}, NormAttrs{p, {dims, keepdim}});
}

}  // namespace firn

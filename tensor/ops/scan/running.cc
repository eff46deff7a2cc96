// running_extreme: cummax and cummin. Its gradient is scatter_add.
//
// logcumsumexp: dx_i = sum over j >= i of dy_j e^(x_i - y_j). Large y_j lack the digits for that:
// with running maxima t and s_j = sum over k <= j of e^(x_k - t_j), it is e^(x_i - t_i) A_i, where
// A_i = dy_i / s_i + e^(t_i - t_(i + 1)) A_(i + 1), and no power is above 1. Both s and A are
// linear scans.
//
// diff: made of slices.

#include "firn/tensor/ops/scan/running.h"

#include <algorithm>
#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/scan/cumulative.h"
#include "firn/tensor/ops/scan/running_body.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

absl::Status InferRunningExtreme(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDim(c.attrs<RunningExtremeAttrs>().dim, c.shape(0)).status());
  c.set_out(0, c.dtype(0), c.shape(0));
  c.set_out(1, DType::kI64, c.shape(0));
  return absl::OkStatus();
}

void GradRunningExtreme(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  const Tensor& dy = g.grad_output(0);
  const Tensor zeros = ExpandedZeros(x.shape, x.dtype, x.device);
  const bool one = x.shape.rank() == 0;
  g.set_grad_input(
      0, one ? dy : ScatterAdd(zeros, g.attrs<RunningExtremeAttrs>().dim, g.output(1), dy));
}

FIRN_REGISTER_OP(running_extreme) {
  return {
      .doc = "The largest or smallest element so far, and where it is.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "values"}, {.name = "indices", .constant = true}},
      .attrs = AttrsOf<RunningExtremeAttrs>(),
      .infer = InferRunningExtreme,
      .grad = GradRunningExtreme,
      .saves = {Saved::Output(1)},
      .kernels = cpu::Portable<RunningExtremeKernel>(),
  };
}

absl::Status InferLogcumsumexp(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDim(c.attrs<LogcumsumexpAttrs>().dim, c.shape(0)).status());
  return InferLikeInput(c);
}

// e^(x_i - t_i) for running maxima t, and the factors between those, e^(t_(i - 1) - t_i). Before
// the first finite element there is no maximum; any number stands in for it, since all powers are
// 0. What is infinite has no gradient.
struct RunningPowers {
  Tensor powers, factors;
};
RunningPowers PowersBelowTop(const Tensor& x, int64_t dim) {
  const Tensor running = Cummax(Detach(x), dim).values;
  const Tensor top = Where(Isfinite(running), running, 0.0);
  return {Exp(Sub(x, top)), Exp(Clamp(Sub(Neighbours(top, dim, false), top), {}, 0.0))};
}

// The results do not depend on the maxima, which are therefore constants, also in recorded
// gradients.
Tensor LogcumsumexpGrad(const Tensor& dy, const Tensor& x, int64_t dim) {
  const RunningPowers p = PowersBelowTop(x, dim);
  const Tensor sums = LinearScan(p.factors, p.powers, {.dim = dim});
  const Tensor none = Eq(sums, 0);
  const Tensor shares = Where(none, 0.0, Div(dy, Where(none, 1.0, sums)));
  return Mul(p.powers,
             LinearScan(p.factors, shares, {.dim = dim, .reverse = true, .previous = true}));
}

void GradLogcumsumexp(GradContext& g) {
  const LogcumsumexpAttrs& a = g.attrs<LogcumsumexpAttrs>();
  const DType dtype = g.input(0).dtype(), wide = ComputeDType(dtype);
  const Tensor x = Cast(g.input(0), wide), dy = Cast(g.grad_output(), wide);
  const auto turned = [&](const Tensor& t) { return a.reverse ? Flip(t, a.dim) : t; };
  g.set_grad_input(0, Cast(turned(LogcumsumexpGrad(turned(dy), turned(x), a.dim)), dtype));
}

FIRN_REGISTER_OP(logcumsumexp) {
  return {
      .doc = "Running logarithms of sums of e to the power x.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x", .dtypes = kFloating}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<LogcumsumexpAttrs>(),
      .infer = InferLogcumsumexp,
      .grad = GradLogcumsumexp,
      .saves = {Saved::Input(0)},
      .kernels = cpu::Portable<LogcumsumexpKernel>(),
  };
}

}  // namespace

ValuesAndIndices inner::RunningExtreme(const Tensor& x, const RunningExtremeAttrs& attrs) {
  TensorList out = Apply(TheOp<"running_extreme">(), {x}, attrs);
  return {out[0], out[1]};
}

ValuesAndIndices Cummax(const Tensor& x, Integer dim) { return RunningExtreme(x, {dim, true}); }

ValuesAndIndices Cummin(const Tensor& x, Integer dim) { return RunningExtreme(x, {dim, false}); }

Tensor Logcumsumexp(const Tensor& x, Integer dim) {
  return ApplyFloating(TheOp<"logcumsumexp">(), x, LogcumsumexpAttrs{dim});
}

Tensor Diff(const Tensor& x, const DiffOptions& o) {
  constexpr const char* kName = "diff";
  CheckDefined(x, kName);
  const absl::StatusOr<int> dim = NormalizeDim(o.dim, x.shape());
  RaiseIfError(dim.status(), kName);
  if (x.rank() == 0) RaiseStatus(InvalidArgument("x is 0-d: it has no neighbours"), kName);
  if (o.n < 0) RaiseStatus(InvalidArgument("n must be at least 0, got ", o.n), kName);
  std::vector<Tensor> parts;
  for (const Tensor& part : {o.prepend, x, o.append}) {
    if (part.defined()) parts.push_back(part);
  }
  Tensor y = parts.size() == 1 ? x : Concat(parts, *dim);
  const bool truth = y.dtype() == DType::kBool;
  for (int64_t i = 0; i < o.n && y.size(*dim) > 0; ++i) {
    const int64_t n = y.size(*dim);
    const Tensor next = Slice(y, *dim, 1, n), here = Slice(y, *dim, 0, n - 1);
    y = truth ? LogicalXor(next, here) : Sub(next, here);
  }
  return y;
}

}  // namespace firn

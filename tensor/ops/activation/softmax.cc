// softmax: y_i = exp(x_i - m) / sum_j exp(x_j - m) with m = max x, so that exp stays in range.
// The gradient needs only y: dx = y (dy - sum(dy y)). It is linear in dy and symmetric, so the
// gradient of the gradient with respect to dy is the same operation again.
//
// log_softmax: y_i = (x_i - m) - log sum_j exp(x_j - m) with m = max x: no logarithm of a rounded
// probability. The gradient needs only y: dx = dy - exp(y) sum(dy).

#include "firn/tensor/ops/activation/softmax.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/line_blocks.h"
#include "firn/tensor/kernels/cpu/softmax.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/softmax_rules.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn {
namespace {

template <class Acc>
void SoftmaxStrip(const cpu::Strip& s, const cpu::RowsOut<Acc>& y, const cpu::RowsIn<Acc>& x) {
  Acc top[cpu::kStripWidth];
  cpu::MaxStrip(s, x, top);
  cpu::ScaledExpStrip(s, y, x, top, [](int64_t, Acc sum) { return 1 / sum; });
}

absl::Status RunSoftmax(KernelContext& k) {
  return cpu::RunAlong<1>(
      k, k.attrs<DimAttrs>().dim,
      [](const cpu::Strip& s, const auto& y, const auto& x) { SoftmaxStrip(s, y, x); });
}

template <class Acc>
void SoftmaxGradStrip(const cpu::Strip& s, const cpu::RowsOut<Acc>& dx, const cpu::RowsIn<Acc>& dy,
                      const cpu::RowsIn<Acc>& y) {
  Acc sum[cpu::kStripWidth];
  cpu::SumStrip(
      s, [](int64_t, int64_t, Acc g, Acc v) { return g * v; }, sum, dy, y);
  cpu::MapStrip(
      s, dx, [&](int64_t c, int64_t, Acc g, Acc v) { return v * (g - sum[c]); }, dy, y);
}

absl::Status RunGradientSoftmax(KernelContext& k) {
  const auto product = [](auto g, auto v) { return g * v; };
  const auto result = [](auto sum, auto g, auto v) { return v * (g - sum); };
  if (cpu::SumAndMapLines(k, k.attrs<DimAttrs>().dim, product, result)) {
    return absl::OkStatus();
  }
  return cpu::RunAlong<2>(k, k.attrs<DimAttrs>().dim,
                          [](const cpu::Strip& s, const auto& dx, const auto&... in) {
                            SoftmaxGradStrip(s, dx, in...);
                          });
}

void GradSoftmax(GradContext& g) {
  g.set_grad_input(0, SoftmaxGrad(g.grad_output(), g.output(0), g.attrs<DimAttrs>().dim));
}

// For u flowing into dx = y (dy - s), s = sum(dy y):
//   to dy: y (u - sum(u y))      to y: u (dy - s) - dy sum(u y)
void GradOfGradientSoftmax(GradContext& g) {
  const int64_t dim = g.attrs<DimAttrs>().dim;
  const Tensor &u = g.grad_output(), &y = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, SoftmaxGrad(u, y, dim));
  if (g.needs(1)) {
    const Tensor& dy = g.input(0);
    const auto dot = [&](const Tensor& v) { return Sum(Mul(v, y), dim, true); };
    g.set_grad_input(1, Sub(Mul(u, Sub(dy, dot(dy))), Mul(dy, dot(u))));
  }
}

FIRN_REGISTER_OP(softmax) {
  return {
      .doc = "x normalised to probabilities along dim.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x", .dtypes = kFloating}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = InferSoftmax,
      .grad = GradSoftmax,
      .saves = {Saved::Output(0)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = RunSoftmax}},
  };
}

FIRN_REGISTER_OP(softmax_grad) {
  return {
      .doc = "y * (dy - sum(dy * y)): the gradient of softmax.",
      .inputs = {{.name = "dy", .dtypes = kFloating}, {.name = "y", .same_dtype_as = "dy"}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = InferSoftmaxGrad,
      .grad = GradOfGradientSoftmax,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = RunGradientSoftmax}},
  };
}

template <class Acc>
void LogSoftmaxStrip(const cpu::Strip& s, const cpu::RowsOut<Acc>& y, const cpu::RowsIn<Acc>& x) {
  Acc top[cpu::kStripWidth], log_sum[cpu::kStripWidth];
  Acc* const none = nullptr;
  cpu::MaxStrip(s, x, top);
  cpu::SumExpStrip(s, x, top, none, log_sum);
  for (int64_t c = 0; c < s.width; ++c) log_sum[c] = math::Log(log_sum[c]);
  cpu::MapStrip(
      s, y, [&](int64_t c, int64_t, Acc v) { return (v - top[c]) - log_sum[c]; }, x);
}

absl::Status RunLogSoftmax(KernelContext& k) {
  return cpu::RunAlong<1>(
      k, k.attrs<DimAttrs>().dim,
      [](const cpu::Strip& s, const auto& y, const auto& x) { LogSoftmaxStrip(s, y, x); });
}

template <class Acc>
void LogSoftmaxGradStrip(const cpu::Strip& s, const cpu::RowsOut<Acc>& dx,
                         const cpu::RowsIn<Acc>& dy, const cpu::RowsIn<Acc>& y) {
  Acc sum[cpu::kStripWidth];
  cpu::SumStrip(
      s, [](int64_t, int64_t, Acc g) { return g; }, sum, dy);
  const auto term = [&](int64_t c, int64_t, Acc g, Acc v) { return g - math::Exp(v) * sum[c]; };
  cpu::MapStrip(s, dx, term, dy, y);
}

absl::Status RunGradientLogSoftmax(KernelContext& k) {
  const auto gradient = [](auto g, auto) { return g; };
  const auto result = [](auto sum, auto g, auto v) { return g - math::Exp(v) * sum; };
  if (cpu::SumAndMapLines(k, k.attrs<DimAttrs>().dim, gradient, result)) {
    return absl::OkStatus();
  }
  return cpu::RunAlong<2>(k, k.attrs<DimAttrs>().dim,
                          [](const cpu::Strip& s, const auto& dx, const auto&... in) {
                            LogSoftmaxGradStrip(s, dx, in...);
                          });
}

void GradLogSoftmax(GradContext& g) {
  g.set_grad_input(0, LogSoftmaxGrad(g.grad_output(), g.output(0), g.attrs<DimAttrs>().dim));
}

// For u flowing into dx = dy - p sum(dy), p = exp(y):
//   to dy: u - sum(u p)      to y: -u p sum(dy)
void GradOfGradientLogSoftmax(GradContext& g) {
  const DimList dim = g.attrs<DimAttrs>().dim;
  const Tensor weighted = Mul(g.grad_output(), Exp(g.input(1)));
  if (g.needs(0)) g.set_grad_input(0, Sub(g.grad_output(), Sum(weighted, dim, true)));
  if (g.needs(1)) g.set_grad_input(1, Mul(weighted, Mul(Sum(g.input(0), dim, true), -1)));
}

FIRN_REGISTER_OP(log_softmax) {
  return {
      .doc = "The logarithm of softmax along dim.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x", .dtypes = kFloating}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = InferSoftmax,
      .grad = GradLogSoftmax,
      .saves = {Saved::Output(0)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = RunLogSoftmax}},
  };
}

FIRN_REGISTER_OP(log_softmax_grad) {
  return {
      .doc = "dy - exp(y) * sum(dy): the gradient of log_softmax.",
      .inputs = {{.name = "dy", .dtypes = kFloating}, {.name = "y", .same_dtype_as = "dy"}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = InferSoftmaxGrad,
      .grad = GradOfGradientLogSoftmax,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = RunGradientLogSoftmax}},
  };
}

}  // namespace

Tensor Softmax(const Tensor& x, Integer dim) {
  return Apply1(TheOp<"softmax">(), {x}, DimAttrs{dim});
}
Tensor Softmin(const Tensor& x, Integer dim) { return Softmax(Mul(x, -1), dim); }

Tensor inner::SoftmaxGrad(const Tensor& dy, const Tensor& y, int64_t dim) {
  return Apply1(TheOp<"softmax_grad">(), {dy, y}, DimAttrs{dim});
}

Tensor LogSoftmax(const Tensor& x, Integer dim) {
  return Apply1(TheOp<"log_softmax">(), {x}, DimAttrs{dim});
}

Tensor inner::LogSoftmaxGrad(const Tensor& dy, const Tensor& y, int64_t dim) {
  return Apply1(TheOp<"log_softmax_grad">(), {dy, y}, DimAttrs{dim});
}

}  // namespace firn

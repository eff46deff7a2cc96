// log_softmax: y_i = (x_i - m) - log sum_j exp(x_j - m) with m = max x: no logarithm of a rounded
// probability. The gradient needs only y: dx = dy - exp(y) sum(dy).

#include "tensor/ops/log_softmax.h"

#include <vector>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/softmax.h"
#include "tensor/op.h"
#include "tensor/ops/exp.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sub.h"
#include "tensor/ops/sum.h"
#include "tensor/softmax_rules.h"

namespace firn {
namespace {

template <class T>
void RunStrip(const cpu::Strip& s, const T* x, T* y) {
  using Acc = AccumulatorOf<T>;
  Acc top[cpu::kStripWidth], log_sum[cpu::kStripWidth];
  cpu::MaxStrip(s, x, top);
  const auto centered = [&](int64_t i, int64_t c) { return static_cast<Acc>(x[i]) - top[c]; };
  cpu::SumExpStrip<Acc>(s, centered, nullptr, log_sum);
  for (int64_t c = 0; c < s.width; ++c) log_sum[c] = math::Log(log_sum[c]);
  cpu::MapStrip(s, y, [&](int64_t i, int64_t c) { return centered(i, c) - log_sum[c]; });
}

absl::Status Run(KernelContext& k) {
  return cpu::RunAlong(
      k, k.attrs<SoftmaxAttrs>().dim,
      [&]<class T>(TypeTag<T>, const cpu::Strip& s) { RunStrip(s, k.in<T>(0), k.out<T>()); });
}

absl::Status RunGradient(KernelContext& k) {
  return cpu::RunAlong(
      k, k.attrs<SoftmaxAttrs>().dim, [&]<class T>(TypeTag<T>, const cpu::Strip& s) {
        using Acc = AccumulatorOf<T>;
        const T *dy = k.in<T>(0), *y = k.in<T>(1);
        Acc sum[cpu::kStripWidth];
        const auto at = [](const T* p, int64_t i) { return static_cast<Acc>(p[i]); };
        cpu::SumStrip(
            s, [&](int64_t i, int64_t) { return at(dy, i); }, sum);
        cpu::MapStrip(s, k.out<T>(), [&](int64_t i, int64_t c) {
          return at(dy, i) - math::Exp(at(y, i)) * sum[c];
        });
      });
}

void Grad(GradContext& g) {
  g.set_grad_input(0, LogSoftmaxGrad(g.grad_output(), g.output(0), g.attrs<SoftmaxAttrs>().dim));
}

// For u flowing into dx = dy - p sum(dy), p = exp(y):
//   to dy: u - sum(u p)      to y: -u p sum(dy)
void GradOfGradient(GradContext& g) {
  const std::vector<int64_t> dim = {g.attrs<SoftmaxAttrs>().dim};
  const Tensor weighted = Mul(g.grad_output(), Exp(g.input(1)));
  if (g.needs(0)) g.set_grad_input(0, Sub(g.grad_output(), Sum(weighted, dim, true)));
  if (g.needs(1)) g.set_grad_input(1, Mul(weighted, Mul(Sum(g.input(0), dim, true), -1)));
}

FIRN_REGISTER_OP(log_softmax) {
  return {
      .name = "log_softmax",
      .doc = "The logarithm of softmax along dim.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x", .dtypes = kFloating}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<SoftmaxAttrs>(),
      .infer = InferSoftmax,
      .grad = Grad,
      .saves = {Saved::Output(0)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = Run}},
  };
}

FIRN_REGISTER_OP(log_softmax_grad) {
  return {
      .name = "log_softmax_grad",
      .doc = "dy - exp(y) * sum(dy): the gradient of log_softmax.",
      .inputs = {{.name = "dy", .dtypes = kFloating}, {.name = "y", .same_dtype_as = "dy"}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<SoftmaxAttrs>(),
      .infer = InferSoftmaxGrad,
      .grad = GradOfGradient,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = RunGradient}},
  };
}

}  // namespace

Tensor LogSoftmax(const Tensor& x, int64_t dim) {
  static const OpDef& op = Op("log_softmax");
  return Apply1(op, {x}, SoftmaxAttrs{dim});
}

Tensor inner::LogSoftmaxGrad(const Tensor& dy, const Tensor& y, int64_t dim) {
  static const OpDef& op = Op("log_softmax_grad");
  return Apply1(op, {dy, y}, SoftmaxAttrs{dim});
}

}  // namespace firn

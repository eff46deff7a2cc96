// ONNX's forms of optimizers' steps, except Adam's family (adam_steps.cc), and of operations on
// gradients before them. The formulas are those of optim/*_rule.h.
#include <cmath>

#include "firn/io/onnx/internal/onnx_steps.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

FIRN_ONNX_EXPORT(sgd_step) {
  const double momentum = n.Real("momentum");
  const bool in_velocity =
      momentum != 0 && (n.Flag("lr_in_velocity") || n.Word("semantics") == "nnabla");
  WriteSteps(n, 1, [&](OnnxStep& s) {
    s.Decay(n.Real("weight_decay"));
    const V rate = s.Of(s.lr);
    V p = s.p;
    if (const double shrink = n.Real("shrink_per_lr"); shrink != 0) p = p * s.Of(1 - s.lr * shrink);
    if (!s.has(0)) {
      s.p = p - (in_velocity ? s.g : rate * s.g);
      return;
    }
    const V first = Equal(s.t, 1), one = n.Number(1, DType::kF64);
    const V keep = s.Of(Where(first, n.Number(0, DType::kF64), n.Number(momentum, DType::kF64)));
    V take = Where(first, one, n.Number(1 - n.Real("dampening"), DType::kF64));
    if (momentum == 0) take = one;
    V& v = s.state[0];
    v = keep * v + s.Of(in_velocity ? take * s.lr : take) * s.g;
    const V move = in_velocity ? v : rate * v;
    s.p = n.Flag("nesterov") ? p - (move * momentum + rate * s.g) : p - move;
  });
}
FIRN_ONNX_EXPORT(adagrad_step) {
  WriteSteps(n, 1, [&](OnnxStep& s) {
    s.Decay(n.Real("weight_decay"));
    const V start = n.Number(n.Real("initial_accumulator_value"), DType::kF64);
    s.state[0] = s.state[0] + s.Of(ZeroUnless(Equal(s.t, 1), start)) + s.g * s.g;
    const V rate = s.Of(s.lr / ((s.t - 1.0) * n.Real("lr_decay") + 1.0));
    s.p = s.p - rate * s.g / (Sqrt(s.state[0]) + n.Real("eps"));
  });
}
FIRN_ONNX_EXPORT(adadelta_step) {
  const double rho = n.Real("rho"), eps = n.Real("eps");
  WriteSteps(n, 2, [&](OnnxStep& s) {
    s.Decay(n.Real("weight_decay"));
    s.Average(0, rho, s.g * s.g);
    const V d = Sqrt(s.state[1] + eps) / Sqrt(s.state[0] + eps) * s.g;
    s.Average(1, rho, d * d);
    s.p = s.p - s.Of(s.lr) * d;
  });
}
FIRN_ONNX_EXPORT(rmsprop_step) {
  const double alpha = n.Real("alpha"), eps = n.Real("eps");
  const bool inside = n.Flag("eps_inside"), in_velocity = n.Flag("lr_in_velocity");
  WriteSteps(n, 3, [&](OnnxStep& s) {
    s.Decay(n.Real("weight_decay"));
    s.Average(0, alpha, s.g * s.g);
    V spread = s.state[0];
    if (s.has(1)) {
      s.Average(1, alpha, s.g);
      spread = spread - s.state[1] * s.state[1];
    }
    spread = Where(Below(spread, 0), Zero(spread), spread);
    const V root = inside ? Sqrt(spread + eps) : Sqrt(spread) + eps, rate = s.Of(s.lr);
    V d = (in_velocity ? rate * s.g : s.g) / root;
    if (s.has(2)) d = s.state[2] = s.state[2] * n.Real("momentum") + d;
    s.p = s.p - (in_velocity ? d : rate * d);
  });
}

// 0 for NaN.
V SignOfStep(OnnxExportCall& n, const V& x) {
  const V one = n.Number(1, x.dtype);
  return ZeroUnless(Above(x, 0), one) - ZeroUnless(Below(x, 0), one);
}
FIRN_ONNX_EXPORT(lion_step) {
  const double beta1 = n.Real("beta1");
  WriteSteps(n, 1, [&](OnnxStep& s) {
    const V way = s.state[0] * beta1 + s.g * (1 - beta1);
    const V kept = s.p * s.Of(1 - s.lr * n.Real("weight_decay"));
    s.p = kept - s.Of(s.lr) * SignOfStep(n, way);
    s.Average(0, n.Real("beta2"), s.g);
  });
}
FIRN_ONNX_EXPORT(rprop_step) {
  WriteSteps(n, 2, [&](OnnxStep& s) {
    const V agree = s.state[0] * s.g, other = Below(agree, 0);
    const V plus = n.Number(n.Real("eta_plus"), s.p.dtype);
    const V minus = n.Number(n.Real("eta_minus"), s.p.dtype);
    const V factor = Where(Above(agree, 0), plus, Where(other, minus, One(s.p)));
    const V start = s.Of(ZeroUnless(Equal(s.t, 1), s.lr));
    const V size = Min(Max((s.state[1] + start) * factor, n.Real("min_step")), n.Real("max_step"));
    s.state[1] = size;
    s.state[0] = ZeroUnless(!other, s.g);
    s.p = s.p - SignOfStep(n, s.state[0]) * size;
  });
}

// The length of a tensor, in f64.
V Length(OnnxExportCall& n, const V& x) {
  const V wide = n.Cast(x, DType::kF64);
  return Sqrt(n.Reduce("ReduceSum", n.Reshape(wide * wide, {-1}), {0}, false));
}
FIRN_ONNX_EXPORT(lars_step) {
  const double eps = n.Real("eps"), decay = n.Real("weight_decay");
  WriteSteps(n, 1, [&](OnnxStep& s) {
    const V length = Length(n, s.p), step = Length(n, s.g) + length * decay;
    const V below = Where(Below(step, eps), step + eps, step);
    const V scaled = s.lr * n.Real("coefficient") * length / below;
    const V rate = s.Of(Where(Below(length, eps), s.lr, scaled));
    s.state[0] = s.state[0] * n.Real("momentum") + rate * (s.g + s.p * decay);
    s.p = s.p - s.state[0];
  });
}
FIRN_ONNX_EXPORT(lamb_step) {
  const double beta1 = n.Real("beta1"), beta2 = n.Real("beta2"), eps = n.Real("eps");
  WriteSteps(n, 2, [&](OnnxStep& s) {
    s.Average(0, beta1, s.g);
    s.Average(1, beta2, s.g * s.g);
    V mean = s.state[0], root = Sqrt(s.state[1]);
    if (n.Flag("bias_correction")) {
      mean = mean * s.Of(1.0 / s.Corrected(beta1));
      root = root * s.Of(InverseSqrt(s.Corrected(beta2)));
    }
    const V way = mean / (root + eps) + s.p * n.Real("weight_decay");
    const V length = Min(Max(Length(n, s.p), n.Real("gamma_l")), n.Real("gamma_u"));
    const V of_step = Length(n, way);
    const V rate = Where(Above(of_step, eps), s.lr * length / of_step, s.lr);
    s.p = s.p - s.Of(rate) * way;
  });
}

// All tensors to a joint norm of at most max_norm.
FIRN_ONNX_EXPORT(clip_grad_norm) {
  const double p = n.Real("p");
  const V power = n.Number(p, DType::kF64);
  std::vector<V> parts = {n.Cast(n.Constant(Zeros({1})), DType::kF64)};
  for (size_t i = 0; i < n.count(); ++i) {
    if (n.spec(i).shape.num_elements() == 0) continue;
    const V size = Abs(n.Reshape(n.in(i, DType::kF64), {-1}));
    parts.push_back(std::isinf(p) ? n.Reduce("ReduceMax", size, {0}, true)
                    : p == 1      ? SumOver(size, {0})
                    : p == 2      ? SumOver(size * size, {0})
                                  : SumOver(Power(size, power), {0}));
  }
  const V all = n.Concat(parts, 0);
  V norm = n.Reduce(std::isinf(p) ? "ReduceMax" : "ReduceSum", all, {0}, false);
  if (p == 2) norm = Sqrt(norm);
  if (p != 1 && p != 2 && !std::isinf(p)) norm = Power(norm, n.Number(1 / p, DType::kF64));
  n.Out(0, norm);
  const V factor = n.Number(n.Real("max_norm"), DType::kF64) / (norm + 1e-6);
  const V stays = n.Compare("GreaterOrEqual", factor, 1);
  for (size_t i = 0; i < n.count(); ++i) {
    n.Write(i, Where(stays, n.in(i), n.in(i)*n.Cast(factor, n.dtype(i))));
  }
}
FIRN_ONNX_EXPORT(clip_grad_value) {
  const double limit = n.Real("limit");
  for (size_t i = 0; i < n.count(); ++i) n.Write(i, Max(Min(n.in(i), limit), -limit));
}

// Whether there is an infinity or NaN.
V HasOdd(OnnxExportCall& n, const V& x) {
  const V flat = n.Reshape(x, {-1}), odd = !Equal(flat - flat, 0);
  return SumOver(AsNumber(odd, DType::kF32), {0});
}
FIRN_ONNX_EXPORT(unscale_gradients) {
  const V factor = 1.0 / n.in(0, DType::kF64);
  std::vector<V> odd;
  for (size_t i = 1; i < n.count(); ++i) {
    odd.push_back(HasOdd(n, n.in(i)));
    n.Write(i, n.in(i)*n.Cast(factor, n.dtype(i)));
  }
  n.Out(0, Above(SumOver(n.Concat(odd, 0), {0}, false), 0));
}
FIRN_ONNX_EXPORT(update_loss_scale) {
  const V scale = n.in(0), good = n.in(1) + 1.0, found = n.in(3);
  const double least = n.Real("min_scale");
  const V lowered = scale * n.Real("backoff_factor"), grown = scale * n.Real("growth_factor");
  // A scale that is below the least already stays.
  const V backed = Max(lowered, Min(scale, least));
  const V enough = n.Compare("GreaterOrEqual", good, static_cast<double>(n.Int("growth_interval")));
  const V finite = Equal(grown - grown, 0);
  n.Write(0, Where(found, backed, Where(enough & finite, grown, scale)));
  n.Write(1, Where(found | enough, n.Integer(0), good));
  n.Write(2, found);
}

}  // namespace
}  // namespace firn::io::internal

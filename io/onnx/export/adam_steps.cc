// ONNX's forms of the steps of Adam and its relatives. The formulas are those of optim/adam_rule.h
// and optim/adam_family_rule.h; factors that depend on the count of steps are computed from it in
// the file.
#include <cmath>

#include "firn/io/onnx/internal/onnx_steps.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

// Updates both moving averages, and the maximum of the second one if there is a state for it.
// Returns the value by whose root the step divides.
V Moments(OnnxExportCall& n, OnnxStep& s) {
  s.Average(0, n.Real("beta1"), s.g);
  s.Average(1, n.Real("beta2"), s.g * s.g);
  if (s.state.size() < 3 || !s.has(2)) return s.state[1];
  return s.state[2] = Max(s.state[2], s.state[1]);
}
// The decay: of the gradient, or of the parameter by `shrink`.
V Decayed(OnnxExportCall& n, OnnxStep& s, bool decoupled, const V& shrink) {
  const double decay = n.Real("weight_decay");
  if (!decoupled) s.Decay(decay);
  return decoupled && decay != 0 ? s.p * s.Of(1 - shrink * decay) : s.p;
}
// sqrt(u / (1 - beta2^t))
V CorrectedRoot(OnnxExportCall& n, const OnnxStep& s, const V& u) {
  return Sqrt(u) * s.Of(InverseSqrt(s.Corrected(n.Real("beta2"))));
}

FIRN_ONNX_EXPORT(adam_step) {
  const bool nnabla = n.Word("semantics") == "nnabla", corrects = n.Flag("bias_correction");
  const double base_lr = n.Real("base_lr"), eps = n.Real("eps");
  const bool eps_below = nnabla || n.Flag("eps_uncorrected");
  WriteSteps(n, 3, [&](OnnxStep& s) {
    const V shrink = nnabla && base_lr > 0 ? s.lr / base_lr : s.lr;
    const V p = Decayed(n, s, n.Flag("decoupled"), shrink), u = Moments(n, s);
    const V rate = corrects ? s.lr / s.Corrected(n.Real("beta1")) : s.lr;
    if (!corrects) {
      s.p = p - s.Of(rate) * s.state[0] / (Sqrt(u) + eps);
      return;
    }
    const V scale = InverseSqrt(s.Corrected(n.Real("beta2")));
    const V root = Sqrt(u) * s.Of(scale);
    s.p = p - s.Of(rate) * s.state[0] / (eps_below ? root + s.Of(scale * eps) : root + eps);
  });
}
FIRN_ONNX_EXPORT(adamax_step) {
  const bool within = n.Word("semantics") == "pytorch";
  const double eps = n.Real("eps");
  WriteSteps(n, 2, [&](OnnxStep& s) {
    s.Decay(n.Real("weight_decay"));
    s.Average(0, n.Real("beta1"), s.g);
    const V size = within ? Abs(s.g) + eps : Abs(s.g);
    const V top = s.state[1] = Max(s.state[1] * n.Real("beta2"), size);
    const V rate = s.Of(s.lr / s.Corrected(n.Real("beta1")));
    s.p = s.p - rate * s.state[0] / (within ? top : top + eps);
  });
}
// m_t = beta1 (1 - 0.96^(t momentum_decay) / 2), and the product of m_1, ..., m_t, by the series of
// logarithms whose sums over t are geometric (NadamRule::LogProduct).
V NadamProduct(OnnxExportCall& n, const OnnxStep& s, double log_q) {
  const double beta1 = n.Real("beta1");
  V sum = n.Number(0, DType::kF64);
  double half = 1;
  for (int k = 1; k <= 52; ++k) {
    half /= 2;
    const double step = k * log_q, ratio = std::exp(step), rest = std::expm1(step);
    const V powers = step == 0 ? s.t : (Exp(s.t * step) - 1) * (ratio / rest);
    sum = sum + powers * (half / k);
  }
  return Exp(s.t * std::log(beta1) - sum);
}
FIRN_ONNX_EXPORT(nadam_step) {
  const double beta1 = n.Real("beta1"), log_q = n.Real("momentum_decay") * std::log(0.96);
  WriteSteps(n, 2, [&](OnnxStep& s) {
    const V p = Decayed(n, s, n.Flag("decoupled_weight_decay"), s.lr), u = Moments(n, s);
    const V now = (1 - Exp(s.t * log_q) * 0.5) * beta1;
    const V next = (1 - Exp((s.t + 1.0) * log_q) * 0.5) * beta1;
    const V product = beta1 == 0 ? n.Number(0, DType::kF64) : NadamProduct(n, s, log_q);
    const V by_grad = s.lr * (1 - now) / (1 - product);
    const V by_mean = s.lr * next / (1 - product * next);
    s.p = p - (s.Of(by_grad) * s.g + s.Of(by_mean) * s.state[0]) /
                  (CorrectedRoot(n, s, u) + n.Real("eps"));
  });
}

// The factor of rectified Adam's step (Rectification), and whether the step uses second moments: it
// does if there are more than `least` of them.
struct Rectified {
  V by, adapts;
};
Rectified RectificationOf(OnnxExportCall& n, const OnnxStep& s, double least) {
  const double beta2 = n.Real("beta2"), most = 2 / (1 - beta2) - 1;
  const V power = s.Powered(beta2), length = most - s.t * 2 * power / (1 - power);
  const V adapts = Above(length, least), safe = Where(adapts, length, n.Number(most, DType::kF64));
  const double all = (most - 4) * (most - 2);
  return {Sqrt((safe - 4.0) * (safe - 2.0) * most / (safe * all)), adapts};
}
FIRN_ONNX_EXPORT(radam_step) {
  WriteSteps(n, 2, [&](OnnxStep& s) {
    const V p = Decayed(n, s, n.Flag("decoupled_weight_decay"), s.lr), u = Moments(n, s);
    const V rate = s.lr / s.Corrected(n.Real("beta1"));
    const Rectified r = RectificationOf(n, s, 5);
    const V scale = s.Of(rate * r.by * Sqrt(s.Corrected(n.Real("beta2"))));
    const V adapted = scale / (Sqrt(u) + n.Real("eps"));
    s.p = p - Where(r.adapts, adapted, s.Of(rate)) * s.state[0];
  });
}
FIRN_ONNX_EXPORT(adabelief_step) {
  const double eps = n.Real("eps");
  WriteSteps(n, 3, [&](OnnxStep& s) {
    const V shrink = n.Flag("fixed_decay") ? n.Number(1, DType::kF64) : s.lr;
    const V p = Decayed(n, s, n.Flag("weight_decouple"), shrink);
    s.Average(0, n.Real("beta1"), s.g);
    const V surprise = s.g - s.state[0];
    s.Average(1, n.Real("beta2"), surprise * surprise);
    s.state[1] = s.state[1] + eps;
    if (s.has(2)) s.state[2] = Max(s.state[2], s.state[1]);
    const V rate = s.lr / s.Corrected(n.Real("beta1"));
    const V root = CorrectedRoot(n, s, s.has(2) ? s.state[2] : s.state[1]) + eps;
    if (!n.Flag("rectify")) {
      s.p = p - s.Of(rate) / root * s.state[0];
      return;
    }
    const Rectified r = RectificationOf(n, s, 4);
    s.p = p - Where(r.adapts, s.Of(rate * r.by) / root, s.Of(rate)) * s.state[0];
  });
}
FIRN_ONNX_EXPORT(adabound_step) {
  const double base_lr = n.Real("base_lr"), final_lr = n.Real("final_lr"), gamma = n.Real("gamma");
  WriteSteps(n, 3, [&](OnnxStep& s) {
    s.Decay(n.Real("weight_decay"));
    const V u = Moments(n, s);
    V rate = s.lr;
    if (n.Flag("bias_correction")) {
      rate = rate * Sqrt(s.Corrected(n.Real("beta2"))) / s.Corrected(n.Real("beta1"));
    }
    const V last = base_lr > 0 ? s.lr * (final_lr / base_lr) : n.Number(final_lr, DType::kF64);
    const V low = last * (1 - 1.0 / (s.t * gamma + 1.0)), high = last * (1.0 / (s.t * gamma) + 1.0);
    const V wanted = s.Of(rate) / (Sqrt(u) + n.Real("eps"));
    s.p = s.p - Min(Max(wanted, s.Of(low)), s.Of(high)) * s.state[0];
  });
}

}  // namespace
}  // namespace firn::io::internal

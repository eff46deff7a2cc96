#include <algorithm>
#include <cmath>

#include "firn/optim/option_samples.h"
#include "firn/optim/step_samples.h"
#include "firn/optim/trust_ratio_rule.h"

namespace firn::testing {
namespace {

using namespace optim;  // NOLINT: the options of one page

double LengthOf(const RefTensor& x) {
  double sum = 0;
  for (int64_t i = 0; i < x.size(); ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

// Algorithm 2 of the paper, whose phi clamps.
void Lamb(const LambOptions& a, double lr, double t, RefTensor& p, const RefTensor& grad,
          const std::vector<RefTensor*>& state) {
  RefTensor &m = *state[0], &v = *state[1], r = p;
  for (int64_t i = 0; i < p.size(); ++i) {
    m[i] = a.beta1 * m[i] + (1 - a.beta1) * grad[i];
    v[i] = a.beta2 * v[i] + (1 - a.beta2) * grad[i] * grad[i];
    const double mean = a.bias_correction ? m[i] / (1 - std::pow(a.beta1, t)) : m[i];
    const double square = a.bias_correction ? v[i] / (1 - std::pow(a.beta2, t)) : v[i];
    r[i] = mean / (std::sqrt(square) + a.eps) + a.weight_decay * p[i];
  }
  const double of_step = LengthOf(r);
  const double ratio =
      of_step > a.eps ? std::clamp(LengthOf(p), a.gamma_l, a.gamma_u) / of_step : 1;
  for (int64_t i = 0; i < p.size(); ++i) p[i] -= lr * ratio * r[i];
}

FIRN_REGISTER_SAMPLES(lamb_step) {
  s.Internal("optim::Lamb calls it for all parameters");
  s.Reference(StepReference<LambOptions>(2, Lamb));
  AddStepSamples(s, 2, 3, LambOptions{.weight_decay = 0.1}, 25);
  const std::vector<Tensor> call = StepCall(0.1, {StepInputsOf({3, 5}, 2, 3, Step(3))});
  s.Add("corrected", call, LambOptions{.eps = 0.25, .bias_correction = true});
  s.Add("a short parameter", call, LambOptions{.gamma_l = 20, .gamma_u = 30});
  s.Add("a long parameter", call, LambOptions{.gamma_u = 0.5});
  s.Add("a step too short for a ratio", call, LambOptions{.eps = 1e6});
  s.AddError("limits", call, LambOptions{.gamma_l = 2, .gamma_u = 1},
             "gamma_l 2 must be at most gamma_u 1");
}

// NNabla's Lars.
void Lars(const LarsOptions& a, double lr, double, RefTensor& p, const RefTensor& grad,
          const std::vector<RefTensor*>& state) {
  const double length = LengthOf(p);
  if (length >= a.eps) {
    double step = LengthOf(grad) + a.weight_decay * length;
    if (step < a.eps) step += a.eps;
    lr *= a.coefficient * length / step;
  }
  RefTensor& v = *state[0];
  for (int64_t i = 0; i < p.size(); ++i) {
    v[i] = a.momentum * v[i] + lr * (grad[i] + a.weight_decay * p[i]);
    p[i] -= v[i];
  }
}

FIRN_REGISTER_SAMPLES(lars_step) {
  s.Internal("optim::Lars calls it for all parameters");
  s.Reference(StepReference<LarsOptions>(1, Lars));
  AddStepSamples(s, 1, 1, LarsOptions{.weight_decay = 0.1}, 11);
  const auto call = [](Tensor step) {
    return StepCall(0.1, {StepInputsOf({3, 5}, 1, 1, std::move(step))});
  };
  s.Add("not counted", call(Tensor()), LarsOptions{.coefficient = 0.5});
  s.Add("a short parameter", call(Step(3)), LarsOptions{.eps = 1e6});
  std::vector<Tensor> still = call(Step(3));
  still[3] = Values(std::vector<double>(15), {3, 5});
  s.Add("a gradient of zeros", std::move(still), LarsOptions{});
  s.AddError("momentum", call(Step(3)), LarsOptions{.momentum = -1},
             "momentum -1 must not be negative");
}

FIRN_REGISTER_OPTION_SAMPLES(lamb) {
  const LambOptions base = {
      .lr = 0.1, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.25, .weight_decay = 0.25};
  LambOptions longer = base, shorter = base;
  longer.gamma_l = 20, longer.gamma_u = 50;
  shorter.gamma_u = 0.5;
  return OfRule<LambRule>({base, longer, shorter});
}

FIRN_REGISTER_OPTION_SAMPLES(lars) {
  const LarsOptions base = {.lr = 0.5, .coefficient = 0.25, .weight_decay = 0.25};
  LarsOptions as_short = base;
  as_short.eps = 4;  // about as long as the parameter is
  return OfRule<LarsRule>({base, as_short});
}

}  // namespace
}  // namespace firn::testing

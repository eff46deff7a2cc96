#include <algorithm>

#include "firn/optim/option_samples.h"
#include "firn/optim/sign_steps_rule.h"
#include "firn/optim/step_samples.h"

namespace firn::testing {
namespace {

using namespace optim;  // NOLINT: the options of one page

double SignOf(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

// Algorithm 2 of the paper.
void Lion(const LionOptions& a, double lr, double, double& p, double grad, double* const* state) {
  double& m = *state[0];
  const double c = a.beta1 * m + (1 - a.beta1) * grad;
  p -= lr * (SignOf(c) + a.weight_decay * p);
  m = a.beta2 * m + (1 - a.beta2) * grad;
}

// Averages and gradients whose mixture is far enough from 0, so that its sign is the same in every
// dtype.
std::vector<Tensor> LionParam(Tensor step) {
  return {Values({1, -2, 3, 0.5}), Values({1, -1, -2, 3}), Values({2, -4, 1, -0.5}),
          std::move(step)};
}

FIRN_REGISTER_SAMPLES(lion_step) {
  s.Internal("optim::Lion calls it for all parameters");
  s.Reference(StepReference<LionOptions>(1, Lion));
  AddStepSamples(s, 1, 1, LionOptions{.beta1 = 0.99, .weight_decay = 0.1}, 9);
  s.Add("default", StepCall(0.1, {LionParam(Step(3))}), LionOptions{});
  s.Add("not counted", StepCall(0.1, {LionParam(Tensor())}), LionOptions{});
  s.Add("along the gradient", StepCall(0.1, {LionParam(Step(0))}),
        LionOptions{.beta1 = 0, .beta2 = 0.5});
  s.AddError("beta2", StepCall(0.1, {LionParam(Step(0))}), LionOptions{.beta2 = 1},
             "beta2 1 must be in [0, 1)");
}

// The loop of torch.optim.Rprop.
void Rprop(const RpropOptions& a, double lr, double t, double& p, double grad,
           double* const* state) {
  double &prev = *state[0], &size = *state[1], g = grad;
  if (t == 1) size += lr;
  const double agree = SignOf(g * prev);
  size *= agree > 0 ? a.eta_plus : agree < 0 ? a.eta_minus : 1;
  size = std::clamp(size, a.min_step, a.max_step);
  if (agree < 0) g = 0;
  p -= SignOf(g) * size;
  prev = g;
}

FIRN_REGISTER_SAMPLES(rprop_step) {
  s.Internal("optim::Rprop calls it for all parameters");
  s.Reference(StepReference<RpropOptions>(2, Rprop));
  AddStepSamples(s, 2, 3, RpropOptions{}, 8);
  const auto call = [](int64_t taken) {
    return StepCall(0.1, {{Values({1, -2, 3, 0.5}), Values({1, -1, 0, 3}), Values({2, 4, 1, 0}),
                           Values({0.5, 0.25, 2, 8}), Step(taken)}});
  };
  s.Add("agreeing, turning and neither", call(3), RpropOptions{});
  s.Add("the first of these", call(0), RpropOptions{});
  s.Add("limits", call(3), RpropOptions{.min_step = 0.4, .max_step = 0.5});
  s.AddError("eta_plus", call(3), RpropOptions{.eta_plus = 0.5}, "eta_plus 0.5 above 1");
  s.AddError("limits", call(3), RpropOptions{.min_step = 2, .max_step = 1},
             "min_step 2 must be at most max_step 1");
}

FIRN_REGISTER_OPTION_SAMPLES(lion) {
  return OfRule<LionRule>({{.lr = 0.1, .beta1 = 0.5, .beta2 = 0.5, .weight_decay = 0.25}});
}

FIRN_REGISTER_OPTION_SAMPLES(rprop) {
  return OfRule<RpropRule>({{.lr = 0.1, .eta_plus = 1.5},
                            {.lr = 0.1, .eta_plus = 1.5, .min_step = 0.08, .max_step = 0.12}});
}

}  // namespace
}  // namespace firn::testing

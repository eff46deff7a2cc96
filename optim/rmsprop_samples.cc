#include <cmath>

#include "firn/optim/option_samples.h"
#include "firn/optim/rmsprop_rule.h"
#include "firn/optim/step_samples.h"

namespace firn::testing {
namespace {

using namespace optim;  // NOLINT: the options of one page

// The loop of torch.optim.RMSprop, and NNabla's RMSpropGraves.
void Reference(const RmspropStepAttrs& a, double lr, double, double& p, double grad,
               double* const* state) {
  const double g = grad + a.weight_decay * p;
  double step = *state[0] = a.alpha * *state[0] + (1 - a.alpha) * g * g;
  if (state[1] != nullptr) {
    *state[1] += (1 - a.alpha) * (g - *state[1]);
    step -= *state[1] * *state[1];
  }
  step = g / (a.eps_inside ? std::sqrt(step + a.eps) : std::sqrt(step) + a.eps);
  if (a.lr_in_velocity) step *= lr;
  if (state[2] != nullptr) step = *state[2] = a.momentum * *state[2] + step;
  p -= a.lr_in_velocity ? step : lr * step;
}

FIRN_REGISTER_SAMPLES(rmsprop_step) {
  s.Internal("optim::Rmsprop calls it for all parameters");
  s.Reference(StepReference<RmspropStepAttrs>(3, Reference));
  AddStepSamples(s, 3, 1, RmspropStepAttrs{{.eps = 0.1, .weight_decay = 0.1}}, 10);
  const RmspropStepAttrs all{{.alpha = 0.5, .momentum = 0.9, .centered = true}};
  s.Add("centred, with momentum", StepCall(0.1, {StepInputsOf({3, 5}, 3, 7, Step(3))}), all);
  s.Add("centred, with momentum, several",
        StepCall(0.1, {StepInputsOf({300, 300}, 3, 7, Step(0)),
                       StepInputsOf({50000}, 3, 7, Step(7), 9)}),
        all);
  s.Add(
      "Graves'", StepCall(0.1, {StepInputsOf({3, 5}, 3, 7, Step(3))}),
      RmspropStepAttrs{{.alpha = 0.75, .eps = 0.5, .momentum = 0.9, .centered = true}, true, true});
  const std::vector<Tensor> call = StepCall(0.1, {StepInputsOf({3, 5}, 3, 1, Step(3))});
  s.AddError("no mean", call, RmspropStepAttrs{{.centered = true}},
             "these options need a grad_avg");
  s.AddError("alpha", call, RmspropStepAttrs{{.alpha = 2}}, "alpha 2 must be in [0, 1]");
}

void RmspropStep(const RmspropOptions& o, double lr, double, Moved& m) {
  for (size_t i = 0; i < Moved::kSize; ++i) {
    double &square = m.state[0][i], &mean = m.state[1][i], &buffer = m.state[2][i];
    const double g = m.grad[i] + o.weight_decay * m.x[i];
    square = o.alpha * square + (1 - o.alpha) * g * g;
    mean = o.alpha * mean + (1 - o.alpha) * g;
    const double d = g / (std::sqrt(square - (o.centered ? mean * mean : 0)) + o.eps);
    buffer = o.momentum * buffer + d;
    m.x[i] -= lr * buffer;
  }
}

FIRN_REGISTER_OPTION_SAMPLES(rmsprop) {
  const RmspropOptions base = {.lr = 0.1, .alpha = 0.5, .eps = 0.25, .weight_decay = 0.25};
  return OfStep<RmspropOptions>(
      {base, WithOption(WithOption(base, "momentum", 0.5), "centered", 1)}, RmspropStep);
}

void RmspropGravesStep(const RmspropGravesOptions& o, double lr, double, Moved& m) {
  for (size_t i = 0; i < Moved::kSize; ++i) {
    double &square = m.state[0][i], &mean = m.state[1][i], &buffer = m.state[2][i];
    const double g = m.grad[i] + o.weight_decay * m.x[i];
    square = o.alpha * square + (1 - o.alpha) * g * g;
    mean = o.alpha * mean + (1 - o.alpha) * g;
    buffer = o.momentum * buffer + lr * g / std::sqrt(square - mean * mean + o.eps);
    m.x[i] -= buffer;
  }
}

FIRN_REGISTER_OPTION_SAMPLES(rmsprop_graves) {
  return OfStep<RmspropGravesOptions>(
      {{.lr = 0.1, .alpha = 0.5, .momentum = 0.5, .eps = 0.25, .weight_decay = 0.25}},
      RmspropGravesStep);
}

}  // namespace
}  // namespace firn::testing

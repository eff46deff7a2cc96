#include <cmath>

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

}  // namespace
}  // namespace firn::testing

#include <cmath>

#include "firn/optim/adagrad_rule.h"
#include "firn/optim/option_samples.h"
#include "firn/optim/step_samples.h"

namespace firn::testing {
namespace {

using namespace optim;  // NOLINT: the options of one page

// The loop of torch.optim.Adagrad.
void Adagrad(const AdagradOptions& a, double lr, double t, double& p, double grad,
             double* const* state) {
  const double g = grad + a.weight_decay * p;
  double& sum = *state[0];
  if (t == 1) sum += a.initial_accumulator_value;
  sum += g * g;
  p -= lr / (1 + (t - 1) * a.lr_decay) * g / (std::sqrt(sum) + a.eps);
}

FIRN_REGISTER_SAMPLES(adagrad_step) {
  s.Internal("optim::Adagrad calls it for all parameters");
  s.Reference(StepReference<AdagradOptions>(1, Adagrad));
  AddStepSamples(s, 1, 1, AdagradOptions{.weight_decay = 0.1}, 7);
  const auto call = [](int64_t taken) {
    return StepCall(0.1, {StepInputsOf({3, 5}, 1, 1, Step(taken))});
  };
  const AdagradOptions all{.lr_decay = 0.25, .initial_accumulator_value = 0.5, .eps = 0.25};
  s.Add("all options", call(3), all);
  s.Add("all options, first step", call(0), all);
  s.AddError("eps", call(3), AdagradOptions{.eps = -1}, "eps -1 must not be negative");
}

// The loop of torch.optim.Adadelta.
void Adadelta(const AdadeltaOptions& a, double lr, double, double& p, double grad,
              double* const* state) {
  const double g = grad + a.weight_decay * p;
  double &square = *state[0], &delta = *state[1];
  square = a.rho * square + (1 - a.rho) * g * g;
  const double d = std::sqrt(delta + a.eps) / std::sqrt(square + a.eps) * g;
  delta = a.rho * delta + (1 - a.rho) * d * d;
  p -= lr * d;
}

FIRN_REGISTER_SAMPLES(adadelta_step) {
  s.Internal("optim::Adadelta calls it for all parameters");
  s.Reference(StepReference<AdadeltaOptions>(2, Adadelta));
  AddStepSamples(s, 2, 3, AdadeltaOptions{.weight_decay = 0.1}, 13);
  const std::vector<Tensor> call = StepCall(0.1, {StepInputsOf({3, 5}, 2, 3, Step(3))});
  s.Add("rho", call, AdadeltaOptions{.rho = 0.5, .eps = 0.25});
  s.AddError("rho", call, AdadeltaOptions{.rho = 2}, "rho 2 must be in [0, 1]");
}

FIRN_REGISTER_OPTION_SAMPLES(adagrad) {
  return OfRule<AdagradRule>({{.lr = 0.1,
                               .lr_decay = 0.25,
                               .weight_decay = 0.25,
                               .initial_accumulator_value = 0.5,
                               .eps = 0.25}});
}

FIRN_REGISTER_OPTION_SAMPLES(adadelta) {
  return OfRule<AdadeltaRule>({{.lr = 0.5, .rho = 0.5, .eps = 0.25, .weight_decay = 0.25}});
}

}  // namespace
}  // namespace firn::testing

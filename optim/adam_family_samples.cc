#include <algorithm>
#include <cmath>

#include "firn/optim/adam_family_rule.h"
#include "firn/optim/option_samples.h"
#include "firn/optim/step_samples.h"

namespace firn::testing {
namespace {

using namespace optim;  // NOLINT: the options of one page

std::vector<Tensor> Call(int64_t taken, size_t states, unsigned given) {
  return StepCall(0.1, {StepInputsOf({3, 5}, states, given, Step(taken))});
}

// Adam's moments of a gradient that has its decay already.
template <class Options>
void Move(const Options& a, double g, double* const* state) {
  *state[0] = a.beta1 * *state[0] + (1 - a.beta1) * g;
  *state[1] = a.beta2 * *state[1] + (1 - a.beta2) * g * g;
}

// The loop of torch.optim.Adamax, and NNabla's eps.
void Adamax(const AdamaxOptions& a, double lr, double t, double& p, double grad,
            double* const* state) {
  const double g = grad + a.weight_decay * p;
  const bool nnabla = a.semantics == optim::Semantics::kNNabla;
  double &m = *state[0], &u = *state[1];
  m = a.beta1 * m + (1 - a.beta1) * g;
  u = std::max(a.beta2 * u, std::abs(g) + (nnabla ? 0 : a.eps));
  p -= lr / (1 - std::pow(a.beta1, t)) * m / (nnabla ? u + a.eps : u);
}

FIRN_REGISTER_SAMPLES(adamax_step) {
  s.Internal("optim::Adamax calls it for all parameters");
  s.Reference(StepReference<AdamaxOptions>(2, Adamax));
  AddStepSamples(s, 2, 3, AdamaxOptions{.weight_decay = 0.1}, 9);
  s.Add("large eps", Call(3, 2, 3), AdamaxOptions{.beta2 = 0.5, .eps = 0.5});
  s.Add("NNabla's eps", Call(3, 2, 3),
        AdamaxOptions{.beta2 = 0.5, .eps = 0.5, .semantics = optim::Semantics::kNNabla});
  s.AddError("beta1", Call(3, 2, 3), AdamaxOptions{.beta1 = 1}, "beta1 1 must be in [0, 1)");
}

// The loop of torch.optim.NAdam, with the product of momenta multiplied out.
void Nadam(const NadamOptions& a, double lr, double t, double& p, double grad,
           double* const* state) {
  double g = grad;
  if (a.decoupled_weight_decay) {
    p *= 1 - lr * a.weight_decay;
  } else {
    g += a.weight_decay * p;
  }
  const auto momentum = [&](double i) {
    return a.beta1 * (1 - 0.5 * std::pow(0.96, i * a.momentum_decay));
  };
  double product = 1;
  for (double i = 1; i <= t; ++i) product *= momentum(i);
  Move(a, g, state);
  const double denominator = std::sqrt(*state[1] / (1 - std::pow(a.beta2, t))) + a.eps;
  p -= lr * (1 - momentum(t)) / (1 - product) * g / denominator;
  p -= lr * momentum(t + 1) / (1 - product * momentum(t + 1)) * *state[0] / denominator;
}

FIRN_REGISTER_SAMPLES(nadam_step) {
  s.Internal("optim::Nadam calls it for all parameters");
  s.Reference(StepReference<NadamOptions>(2, Nadam));
  AddStepSamples(s, 2, 3, NadamOptions{.weight_decay = 0.1}, 17);
  const NadamOptions others{.beta1 = 0.75, .eps = 0.5, .weight_decay = 0.5, .momentum_decay = 0.5};
  s.Add("other numbers", Call(3, 2, 3), others);
  s.Add("late", Call(99, 2, 3), NadamOptions{.beta1 = 0.999, .momentum_decay = 0.01});
  s.Add("momentum stays", Call(3, 2, 3), NadamOptions{.momentum_decay = 0});
  s.Add("no momentum", Call(3, 2, 3), NadamOptions{.beta1 = 0});
  s.Add("decoupled", Call(3, 2, 3),
        NadamOptions{.weight_decay = 0.5, .decoupled_weight_decay = true});
  s.AddError("momentum_decay", Call(3, 2, 3), NadamOptions{.momentum_decay = -1},
             "momentum_decay -1 must not be negative");
}

// The r and l of Radam's documentation.
double Rectified(double beta2, double t, double least) {
  const double most = 2 / (1 - beta2) - 1;
  const double l = most - 2 * t * std::pow(beta2, t) / (1 - std::pow(beta2, t));
  if (l <= least) return 0;
  return std::sqrt((l - 4) * (l - 2) * most / ((most - 4) * (most - 2) * l));
}

// The loop of torch.optim.RAdam.
void Radam(const RadamOptions& a, double lr, double t, double& p, double grad,
           double* const* state) {
  double g = grad;
  if (a.decoupled_weight_decay) {
    p *= 1 - lr * a.weight_decay;
  } else {
    g += a.weight_decay * p;
  }
  Move(a, g, state);
  const double mean = *state[0] / (1 - std::pow(a.beta1, t)), r = Rectified(a.beta2, t, 5);
  const double adapted = std::sqrt(1 - std::pow(a.beta2, t)) / (std::sqrt(*state[1]) + a.eps);
  p -= r > 0 ? lr * mean * r * adapted : lr * mean;
}

FIRN_REGISTER_SAMPLES(radam_step) {
  s.Internal("optim::Radam calls it for all parameters");
  s.Reference(StepReference<RadamOptions>(2, Radam));
  AddStepSamples(s, 2, 3, RadamOptions{.weight_decay = 0.1}, 14);
  s.Add("rectified", Call(20, 2, 3), RadamOptions{.eps = 0.5});
  s.Add("rectified soon", Call(9, 2, 3), RadamOptions{.beta2 = 0.75});
  s.Add("decoupled", Call(20, 2, 3),
        RadamOptions{.weight_decay = 0.5, .decoupled_weight_decay = true});
  s.AddError("eps", Call(3, 2, 3), RadamOptions{.eps = -1}, "eps -1 must not be negative");
}

void Adabelief(const AdabeliefOptions& a, double lr, double t, double& p, double grad,
               double* const* state) {
  double g = grad;
  if (a.weight_decouple) {
    p *= 1 - (a.fixed_decay ? a.weight_decay : lr * a.weight_decay);
  } else {
    g += a.weight_decay * p;
  }
  double &m = *state[0], &v = *state[1];
  m = a.beta1 * m + (1 - a.beta1) * g;
  v = a.beta2 * v + (1 - a.beta2) * (g - m) * (g - m) + a.eps;
  double u = v;
  if (state[2] != nullptr) u = *state[2] = std::max(*state[2], v);
  const double denominator = std::sqrt(u) / std::sqrt(1 - std::pow(a.beta2, t)) + a.eps;
  const double mean = m / (1 - std::pow(a.beta1, t));
  const double r = a.rectify ? Rectified(a.beta2, t, 4) : 1;
  p -= r > 0 ? lr * r * mean / denominator : lr * mean;
}

FIRN_REGISTER_SAMPLES(adabelief_step) {
  s.Internal("optim::Adabelief calls it for all parameters");
  s.Reference(StepReference<AdabeliefOptions>(3, Adabelief));
  AddStepSamples(s, 3, 3, AdabeliefOptions{.weight_decay = 0.1}, 16);
  s.Add("amsgrad", Call(3, 3, 7), AdabeliefOptions{.beta2 = 0.75, .amsgrad = true});
  s.Add("decoupled", Call(3, 3, 3), AdabeliefOptions{.weight_decay = 0.5, .weight_decouple = true});
  s.Add("decoupled, fixed", Call(3, 3, 3),
        AdabeliefOptions{.weight_decay = 0.5, .weight_decouple = true, .fixed_decay = true});
  s.Add("rectified", Call(20, 3, 3), AdabeliefOptions{.eps = 0.25, .rectify = true});
  s.Add("not rectified yet", Call(0, 3, 3), AdabeliefOptions{.rectify = true});
  s.AddError("no maxima", Call(3, 3, 3), AdabeliefOptions{.amsgrad = true},
             "these options need a max_exp_avg_var");
}

// Algorithms 2 and 3 of the paper.
void Adabound(const AdaboundOptions& a, double lr, double t, double& p, double grad,
              double* const* state) {
  Move(a, grad + a.weight_decay * p, state);
  double u = *state[1];
  if (state[2] != nullptr) u = *state[2] = std::max(*state[2], u);
  const double last = a.base_lr > 0 ? a.final_lr * lr / a.base_lr : a.final_lr;
  const double rate = a.bias_correction
                          ? lr * std::sqrt(1 - std::pow(a.beta2, t)) / (1 - std::pow(a.beta1, t))
                          : lr;
  p -= std::clamp(rate / (std::sqrt(u) + a.eps), last * (1 - 1 / (a.gamma * t + 1)),
                  last * (1 + 1 / (a.gamma * t))) *
       *state[0];
}

FIRN_REGISTER_SAMPLES(adabound_step) {
  s.Internal("optim::Adabound calls it for all parameters");
  s.Reference(StepReference<AdaboundOptions>(3, Adabound));
  AddStepSamples(s, 3, 3, AdaboundOptions{.weight_decay = 0.1, .base_lr = 0.1}, 14);
  s.Add("amsbound", Call(3, 3, 7), AdaboundOptions{.amsbound = true, .bias_correction = false});
  s.Add("at the lower bound", Call(99, 3, 3),
        AdaboundOptions{.final_lr = 1, .gamma = 0.5, .base_lr = 0.05});
  s.Add("at the upper bound", Call(99, 3, 3), AdaboundOptions{.final_lr = 1e-3, .gamma = 0.5});
  s.AddError("gamma", Call(3, 3, 3), AdaboundOptions{.gamma = -1}, "gamma -1 must not be negative");
}

FIRN_REGISTER_OPTION_SAMPLES(adamax) {
  return OfRule<AdamaxRule>(
      {{.lr = 0.1, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.25, .weight_decay = 0.25}});
}

FIRN_REGISTER_OPTION_SAMPLES(nadam) {
  return OfRule<NadamRule>({{.lr = 0.1,
                             .beta1 = 0.5,
                             .beta2 = 0.75,
                             .eps = 0.25,
                             .weight_decay = 0.25,
                             .momentum_decay = 0.5}});
}

FIRN_REGISTER_OPTION_SAMPLES(radam) {
  // With a beta2 this large the first steps have no second moments; with the other one later ones
  // have them.
  const RadamOptions base = {.lr = 0.1, .beta1 = 0.5, .eps = 0.25, .weight_decay = 0.25};
  return OfRule<RadamRule>({base, WithOption(base, "beta2", 0.9)});
}

FIRN_REGISTER_OPTION_SAMPLES(adabelief) {
  const AdabeliefOptions base = {
      .lr = 0.1, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.25, .weight_decay = 0.25};
  AdabeliefOptions decoupled = base, maxima = base;
  decoupled.weight_decouple = decoupled.rectify = true;
  maxima.amsgrad = true;
  maxima.beta2 = 0.25;
  return OfRule<AdabeliefRule>({base, decoupled, maxima});
}

FIRN_REGISTER_OPTION_SAMPLES(adabound) {
  const AdaboundOptions base = {
      .lr = 0.1, .beta1 = 0.5, .beta2 = 0.25, .eps = 0.25, .weight_decay = 0.25, .gamma = 1};
  AdaboundOptions high = base, low = base, maxima = base;
  low.final_lr = 8;
  high.final_lr = 1e-3;
  maxima.amsbound = true;
  maxima.bias_correction = false;
  return OfRule<AdaboundRule>({base, low, high, maxima});
}

}  // namespace
}  // namespace firn::testing

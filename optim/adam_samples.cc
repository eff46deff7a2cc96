#include <algorithm>
#include <cmath>

#include "firn/optim/adam_rule.h"
#include "firn/optim/option_samples.h"
#include "firn/optim/step_samples.h"

namespace firn::testing {
namespace {

using namespace optim;  // NOLINT: the options of one page

// torch.optim.Adam and AdamW, and NNabla's eps.
void Reference(const AdamStepAttrs& a, double lr, double t, double& p, double grad,
               double* const* state) {
  const double correction1 = a.bias_correction ? 1 - std::pow(a.beta1, t) : 1;
  const double correction2 = a.bias_correction ? 1 - std::pow(a.beta2, t) : 1;
  double g = grad, &m = *state[0], &v = *state[1];
  if (a.decoupled) {
    p *= 1 - (a.semantics == optim::Semantics::kNNabla ? lr / a.base_lr : lr) * a.weight_decay;
  } else {
    g += a.weight_decay * p;
  }
  m = a.beta1 * m + (1 - a.beta1) * g;
  v = a.beta2 * v + (1 - a.beta2) * g * g;
  const bool nnabla = a.semantics == optim::Semantics::kNNabla;
  double u = v;
  if (state[2] != nullptr) u = *state[2] = std::max(*state[2], u);
  const double denominator = nnabla || a.eps_uncorrected
                                 ? (std::sqrt(u) + a.eps) / std::sqrt(correction2)
                                 : std::sqrt(u) / std::sqrt(correction2) + a.eps;
  p -= lr / correction1 * m / denominator;
}

FIRN_REGISTER_SAMPLES(adam_step) {
  s.Internal("optim::Adam calls it for all parameters");
  s.Reference(StepReference<AdamStepAttrs>(3, Reference));
  const auto call = [](double lr, int64_t taken, unsigned given = 3) {
    return StepCall(lr, {StepInputsOf({3, 5}, 3, given, Step(taken))});
  };
  AddStepSamples(s, 3, 3, AdamStepAttrs{{.weight_decay = 0.1}}, 14);
  s.Add("default", call(0.01, 3), AdamStepAttrs{});
  s.Add("betas", call(0.1, 5), AdamStepAttrs{{.beta1 = 0.5, .beta2 = 0.75}});
  s.Add("no momentum", call(0.1, 5), AdamStepAttrs{{.beta1 = 0}});
  s.Add("large eps", call(0.1, 3), AdamStepAttrs{{.eps = 0.5}});
  s.Add("eps before the correction", call(0.1, 3),
        AdamStepAttrs{{.beta2 = 0.75, .eps = 0.5, .eps_uncorrected = true}});
  s.Add("without corrections", call(0.1, 3, 7),
        AdamStepAttrs{{.amsgrad = true, .bias_correction = false}});
  s.Add("as NNabla's AdamW", call(0.1, 3),
        AdamStepAttrs{{.beta2 = 0.75,
                       .eps = 0.5,
                       .weight_decay = 0.1,
                       .semantics = optim::Semantics::kNNabla,
                       .base_lr = 0.2},
                      true});
  s.Add("weight decay", call(0.1, 3), AdamStepAttrs{{.weight_decay = 0.5}});
  s.Add("decoupled weight decay", call(0.1, 3), AdamStepAttrs{{.weight_decay = 0.5}, true});
  s.Add("amsgrad", call(0.1, 3, 7), AdamStepAttrs{{.beta2 = 0.75, .amsgrad = true}});
  s.Add("amsgrad by its tensor alone", call(0.1, 3, 7), AdamStepAttrs{});
  s.AddError("no maxima", call(0.1, 3), AdamStepAttrs{{.amsgrad = true}},
             "these options need a max_exp_avg_sq");
  s.AddError("beta2", call(0.1, 3), AdamStepAttrs{{.beta2 = 1}},
             "beta1 0.9 and beta2 1 must be in [0, 1)");
  std::vector<Tensor> half = call(0.1, 3);
  half.insert(half.end(), {half[2], half[3], half[4]});
  s.AddError("half a parameter", half, AdamStepAttrs{},
             "takes at least 8 tensors, the last 6 again and again, got 11");
  std::vector<Tensor> second = call(0.1, 3);
  second.insert(second.end(), {half[2], half[3], Normal({5}), half[5], Tensor(), Step(3)});
  s.AddError("shapes of the second", second, AdamStepAttrs{},
             "exp_avg [5] and param [3, 5] differ");
  s.AddError("no step", StepCall(0.1, {StepInputsOf({3, 5}, 3, 3, Tensor())}), AdamStepAttrs{},
             "step is an undefined tensor");
}

// Samples of Adam and AdamW.
template <class Options>
void StepOfAdam(const Options& o, bool decoupled, double lr, double t, Moved& m) {
  const bool nnabla = o.semantics == Semantics::kNNabla;
  const double correction1 = o.bias_correction ? 1 - std::pow(o.beta1, t) : 1;
  const double correction2 = std::sqrt(o.bias_correction ? 1 - std::pow(o.beta2, t) : 1);
  for (size_t i = 0; i < Moved::kSize; ++i) {
    double &mean = m.state[0][i], &square = m.state[1][i], &most = m.state[2][i];
    const double g = m.grad[i] + (decoupled ? 0 : o.weight_decay * m.x[i]);
    if (decoupled) m.x[i] *= 1 - (nnabla ? lr / o.base_lr : lr) * o.weight_decay;
    mean = o.beta1 * mean + (1 - o.beta1) * g;
    square = o.beta2 * square + (1 - o.beta2) * g * g;
    most = std::max(most, square);
    const double root = std::sqrt(o.amsgrad ? most : square);
    const double below =
        nnabla || o.eps_uncorrected ? (root + o.eps) / correction2 : root / correction2 + o.eps;
    m.x[i] -= lr / correction1 * mean / below;
  }
}

void AdamStep(const AdamOptions& o, double lr, double t, Moved& m) {
  StepOfAdam(o, false, lr, t, m);
}

FIRN_REGISTER_OPTION_SAMPLES(adam) {
  OptionSamples samples = OfStep<AdamOptions>(
      {{.lr = 0.1, .beta1 = 0.5, .beta2 = 0.25, .eps = 0.25, .weight_decay = 0.25}}, AdamStep);
  samples.without = "base_lr";  // AdamW's, for its decay
  return samples;
}

void AdamWStep(const AdamWOptions& o, double lr, double t, Moved& m) {
  StepOfAdam(o, true, lr, t, m);
}

FIRN_REGISTER_OPTION_SAMPLES(adamw) {
  const AdamWOptions base = {
      .lr = 0.1, .beta1 = 0.5, .beta2 = 0.25, .eps = 0.25, .weight_decay = 0.25};
  return OfStep<AdamWOptions>({base, WithOption(base, "semantics", 1)}, AdamWStep);
}

}  // namespace
}  // namespace firn::testing

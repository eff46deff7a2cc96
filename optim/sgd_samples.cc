#include "firn/optim/option_samples.h"
#include "firn/optim/sgd_rule.h"
#include "firn/optim/step_samples.h"

namespace firn::testing {
namespace {

using namespace optim;  // NOLINT: the options of one page

// torch.optim.SGD, and NNabla's velocity, which holds lr already.
void Reference(const SgdStepAttrs& a, double lr, double t, double& p, double grad,
               double* const* state) {
  const double g = grad + a.weight_decay * p;
  p *= 1 - lr * a.shrink_per_lr;
  if (state[0] == nullptr || a.momentum == 0) {
    if (state[0] != nullptr) *state[0] = g;
    p -= lr * g;
    return;
  }
  const bool in_velocity = a.lr_in_velocity || a.semantics == optim::Semantics::kNNabla;
  double& v = *state[0];
  const double scale = in_velocity ? lr : 1, unit = in_velocity ? 1 : lr;
  v = t == 1 ? scale * g : a.momentum * v + scale * (1 - a.dampening) * g;
  p -= a.nesterov ? lr * g + unit * a.momentum * v : unit * v;
}

FIRN_REGISTER_SAMPLES(sgd_step) {
  s.Internal("optim::Sgd calls it for all parameters");
  s.Reference(StepReference<SgdStepAttrs>(1, Reference));
  const auto call = [](double lr, Tensor step, unsigned given = 1, Tensor skip = Tensor()) {
    return StepCall(lr, {StepInputsOf({3, 5}, 1, given, step)}, skip);
  };
  AddStepSamples(s, 1, 1, SgdStepAttrs{{.momentum = 0.9, .weight_decay = 0.1}}, 6);
  s.Add("plain", call(0.1, Tensor(), 0), SgdStepAttrs{});
  s.Add("plain, counted", call(0.1, Step(4), 0), SgdStepAttrs{});
  s.Add("plain, with a buffer", call(0.1, Step(4)), SgdStepAttrs{{.dampening = 0.5}});
  s.Add("skipped, plain", call(0.1, Tensor(), 0, Skip(true)), SgdStepAttrs{}).check_function =
      false;
  s.Add("weight decay", call(0.1, Tensor(), 0), SgdStepAttrs{{.weight_decay = 0.5}});
  s.Add("momentum", call(0.1, Step(4)), SgdStepAttrs{{.momentum = 0.9}});
  s.Add("momentum, not counted", call(0.1, Tensor()), SgdStepAttrs{{.momentum = 0.9}});
  s.Add("dampening", call(0.1, Step(1)), SgdStepAttrs{{.momentum = 0.9, .dampening = 0.5}});
  s.Add("dampening, first step", call(0.1, Step(0)),
        SgdStepAttrs{{.momentum = 0.9, .dampening = 0.5, .weight_decay = 0.2}});
  s.Add("nesterov", call(0.1, Step(1)),
        SgdStepAttrs{{.momentum = 0.75, .weight_decay = 0.2, .nesterov = true}});
  s.Add("learning rate in the velocity", call(0.5, Step(1)),
        SgdStepAttrs{{.momentum = 0.75, .nesterov = true, .lr_in_velocity = true}});
  s.Add("only the velocity moves", call(0, Step(1)),
        SgdStepAttrs{{.momentum = 0.75, .semantics = optim::Semantics::kNNabla}});
  s.Add("shrinking", call(0.1, Step(1)), SgdStepAttrs{{.momentum = 0.75}, 0.5});
  s.Add("shrinking, plain", call(0.1, Tensor(), 0), SgdStepAttrs{{}, 0.5});
  s.AddError("no buffer", call(0.1, Tensor(), 0), SgdStepAttrs{{.momentum = 0.9}},
             "these options need a momentum_buffer");
  s.AddError("nesterov without momentum", call(0.1, Tensor(), 0), SgdStepAttrs{{.nesterov = true}},
             "nesterov needs a positive momentum");
}

void SgdStep(const SgdOptions& o, double lr, double t, Moved& m) {
  const bool rate_within = o.lr_in_velocity || o.semantics == Semantics::kNNabla;
  for (size_t i = 0; i < Moved::kSize; ++i) {
    const double g = m.grad[i] + o.weight_decay * m.x[i];
    double& v = m.state[0][i];
    const double added = (rate_within ? lr : 1) * g;
    v = t == 1 ? added : o.momentum * v + (1 - o.dampening) * added;
    const double velocity = rate_within ? v : lr * v;
    if (o.momentum == 0) {
      m.x[i] -= lr * g;
    } else {
      m.x[i] -= o.nesterov ? lr * g + o.momentum * velocity : velocity;
    }
  }
}

FIRN_REGISTER_OPTION_SAMPLES(sgd) {
  const SgdOptions base = {.lr = 0.1, .momentum = 0.5, .dampening = 0.25, .weight_decay = 0.25};
  return OfStep<SgdOptions>({base,
                             {.lr = 0.1, .momentum = 0.5, .weight_decay = 0.25},
                             WithOption(base, "lr_in_velocity", 1),
                             {.lr = 0.1, .weight_decay = 0.25}},
                            SgdStep);
}

void SgdWStep(const SgdWOptions& o, double lr, double, Moved& m) {
  for (size_t i = 0; i < Moved::kSize; ++i) {
    double& v = m.state[0][i];
    v = o.momentum * v + lr * m.grad[i];
    m.x[i] -= v + lr / o.base_lr * o.weight_decay * m.x[i];
  }
}

FIRN_REGISTER_OPTION_SAMPLES(sgdw) {
  return OfStep<SgdWOptions>({{.lr = 0.1, .momentum = 0.5, .weight_decay = 0.25}}, SgdWStep);
}

}  // namespace
}  // namespace firn::testing

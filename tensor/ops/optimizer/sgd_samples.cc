#include "tensor/ops/optimizer/sgd.h"
#include "tensor/ops/shape/convert.h"
#include "tensor/samples.h"

namespace firn::testing {
namespace {

// torch.optim.SGD's loop, and NNabla's velocity, which holds lr already. Inputs: lr, skip, then
// four tensors for each parameter.
std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const SgdStepAttrs& a = attrs.get<SgdStepAttrs>();
  const double lr = in[0][0];
  const bool skip = in[1].defined() && in[1][0] != 0;
  std::vector<RefTensor> result;
  for (size_t at = 2; at < in.size(); at += 4) {
    RefTensor param = in[at], buffer = in[at + 2], step = in[at + 3];
    for (int64_t i = 0; i < param.size(); ++i) {
      double g = in[at + 1][i] + a.weight_decay * param[i];
      if (a.momentum != 0) {
        const double scale = a.lr_in_velocity ? lr : 1;
        const bool first = step.defined() && step[0] == 0;
        buffer[i] = first ? scale * g : a.momentum * buffer[i] + scale * (1 - a.dampening) * g;
        const double unit = a.lr_in_velocity ? 1 : lr;  // of a velocity
        param[i] -= a.nesterov ? lr * g + unit * a.momentum * buffer[i] : unit * buffer[i];
      } else {
        param[i] -= lr * g;
      }
    }
    if (step.defined()) step[0] += 1;
    if (skip) param = in[at], buffer = in[at + 2], step = in[at + 3];
    for (const RefTensor& t : {param, buffer, step}) {
      if (t.defined()) result.push_back(t);
    }
  }
  return result;
}

Tensor Lr(double lr) { return Values({lr}, Shape()); }
Tensor Skip(bool skip) { return Cast(Indices({skip ? 1 : 0}, Shape()), DType::kBool); }
Tensor Step(int64_t taken) { return Indices({taken}, Shape()); }

FIRN_REGISTER_SAMPLES(sgd_step) {
  s.Reference(Reference);
  const Tensor p = Normal({3, 5}), g = Normal({3, 5}, 2), v = Normal({3, 5}, 3), none;
  s.Add("plain", {Lr(0.1), none, p, g, none, none}, SgdStepAttrs{});
  s.Add("plain, counted", {Lr(0.1), none, p, g, none, Step(4)}, SgdStepAttrs{});
  s.Add("weight decay", {Lr(0.1), none, p, g, none, none}, SgdStepAttrs{.weight_decay = 0.5});
  s.Add("momentum", {Lr(0.1), none, p, g, v, Step(4)}, SgdStepAttrs{.momentum = 0.9});
  s.Add("momentum, not counted", {Lr(0.1), none, p, g, v, none}, SgdStepAttrs{.momentum = 0.9});
  s.Add("first step", {Lr(0.1), none, p, g, v, Step(0)},
        SgdStepAttrs{.momentum = 0.9, .dampening = 0.5, .weight_decay = 0.2});
  s.Add("dampening", {Lr(0.1), none, p, g, v, Step(1)},
        SgdStepAttrs{.momentum = 0.9, .dampening = 0.5});
  s.Add("nesterov", {Lr(0.1), none, p, g, v, Step(1)},
        SgdStepAttrs{.momentum = 0.75, .weight_decay = 0.2, .nesterov = true});
  s.Add("learning rate in the velocity", {Lr(0.5), none, p, g, v, Step(1)},
        SgdStepAttrs{.momentum = 0.75, .nesterov = true, .lr_in_velocity = true});
  s.Add("only the velocity moves", {Lr(0), none, p, g, v, Step(1)},
        SgdStepAttrs{.momentum = 0.75, .lr_in_velocity = true});
  s.Add("skipped", {Lr(0.1), Skip(true), p, g, v, Step(4)}, SgdStepAttrs{.momentum = 0.9});
  s.Add("not skipped", {Lr(0.1), Skip(false), p, g, v, Step(4)}, SgdStepAttrs{.momentum = 0.9});
  s.Add("skipped, plain", {Lr(0.1), Skip(true), p, g, none, none}, SgdStepAttrs{});
  s.Add("scalar", {Lr(1), none, Normal({}), Normal({}, 2), none, none}, SgdStepAttrs{});
  s.Add("nothing", {Lr(1), none, Normal({0}), Normal({0}), none, Step(2)}, SgdStepAttrs{});
  // Two whole blocks of the loop, cut inside the second parameter; the third is at its first step.
  s.Add("several",
        {Lr(0.1), none, p, g, v, Step(3), Normal({300, 300}), Normal({300, 300}, 2),
         Normal({300, 300}, 3), none, Normal({50000}, 5), Normal({50000}, 6), Normal({50000}, 7),
         Step(0)},
        SgdStepAttrs{.momentum = 0.9, .weight_decay = 0.1});
  s.AddLarge("4M",
             {Lr(0.1), none, Normal({2048, 2048}), Normal({2048, 2048}, 2), Normal({2048, 2048}, 3),
              Step(1)},
             SgdStepAttrs{.momentum = 0.9}, 2.5e7, 83.9e6);
  s.AddError("shapes", {Lr(0.1), none, p, Normal({5}), none, none}, SgdStepAttrs{},
             "grad [5] and param [3, 5] differ");
  s.AddError("no buffer", {Lr(0.1), none, p, g, none, none}, SgdStepAttrs{.momentum = 0.9},
             "momentum 0.9 needs a momentum_buffer");
  s.AddError("nesterov without momentum", {Lr(0.1), none, p, g, none, none},
             SgdStepAttrs{.nesterov = true}, "nesterov needs a positive momentum");
  s.AddError("lr is a vector", {Values({0.1}), none, p, g, none, none}, SgdStepAttrs{},
             "lr must have 0 dimensions");
}

}  // namespace
}  // namespace firn::testing

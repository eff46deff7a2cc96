#include <algorithm>
#include <cmath>

#include "tensor/ops/optimizer/adam.h"
#include "tensor/ops/shape/convert.h"
#include "tensor/samples.h"

namespace firn::testing {
namespace {

// The loop of torch.optim.Adam. Inputs: lr, skip, then six tensors for each parameter.
std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const AdamStepAttrs& a = attrs.get<AdamStepAttrs>();
  const double lr = in[0][0];
  const bool skip = in[1].defined() && in[1][0] != 0;
  std::vector<RefTensor> result;
  for (size_t at = 2; at < in.size(); at += 6) {
    RefTensor p = in[at], m = in[at + 2], v = in[at + 3], top = in[at + 4], step = in[at + 5];
    step[0] += 1;
    const double correction1 = 1 - std::pow(a.beta1, step[0]);
    const double correction2 = 1 - std::pow(a.beta2, step[0]);
    for (int64_t i = 0; i < p.size(); ++i) {
      double g = in[at + 1][i];
      if (a.decoupled) {
        p[i] *= 1 - lr * a.weight_decay;
      } else {
        g += a.weight_decay * p[i];
      }
      m[i] = a.beta1 * m[i] + (1 - a.beta1) * g;
      v[i] = a.beta2 * v[i] + (1 - a.beta2) * g * g;
      double u = v[i];
      if (top.defined()) u = top[i] = std::max(top[i], u);
      const double denominator = a.eps_uncorrected ? (std::sqrt(u) + a.eps) / std::sqrt(correction2)
                                                   : std::sqrt(u) / std::sqrt(correction2) + a.eps;
      p[i] -= lr / correction1 * m[i] / denominator;
    }
    if (skip) p = in[at], m = in[at + 2], v = in[at + 3], top = in[at + 4], step = in[at + 5];
    for (const RefTensor& t : {p, m, v, top, step}) {
      if (t.defined()) result.push_back(t);
    }
  }
  return result;
}

Tensor Lr(double lr) { return Values({lr}, Shape()); }
Tensor Skip(bool skip) { return Cast(Indices({skip ? 1 : 0}, Shape()), DType::kBool); }
Tensor Step(int64_t taken) { return Indices({taken}, Shape()); }

FIRN_REGISTER_SAMPLES(adam_step) {
  s.Reference(Reference);
  const Tensor p = Normal({3, 5}), g = Normal({3, 5}, 2), m = Normal({3, 5}, 3), none;
  const Tensor v = Uniform({3, 5}, 0.25, 4, 4), top = Uniform({3, 5}, 0.25, 4, 5);
  s.Add("default", {Lr(0.01), none, p, g, m, v, none, Step(3)}, AdamStepAttrs{});
  s.Add("first step", {Lr(0.01), none, p, g, m, v, none, Step(0)}, AdamStepAttrs{});
  s.Add("betas", {Lr(0.1), none, p, g, m, v, none, Step(5)},
        AdamStepAttrs{.beta1 = 0.5, .beta2 = 0.75});
  s.Add("no momentum", {Lr(0.1), none, p, g, m, v, none, Step(5)}, AdamStepAttrs{.beta1 = 0});
  s.Add("large eps", {Lr(0.1), none, p, g, m, v, none, Step(3)}, AdamStepAttrs{.eps = 0.5});
  s.Add("eps before the correction", {Lr(0.1), none, p, g, m, v, none, Step(3)},
        AdamStepAttrs{.beta2 = 0.75, .eps = 0.5, .eps_uncorrected = true});
  s.Add("weight decay", {Lr(0.1), none, p, g, m, v, none, Step(3)},
        AdamStepAttrs{.weight_decay = 0.5});
  s.Add("decoupled weight decay", {Lr(0.1), none, p, g, m, v, none, Step(3)},
        AdamStepAttrs{.weight_decay = 0.5, .decoupled = true});
  s.Add("skipped", {Lr(0.1), Skip(true), p, g, m, v, top, Step(3)}, AdamStepAttrs{});
  s.Add("not skipped", {Lr(0.1), Skip(false), p, g, m, v, none, Step(3)}, AdamStepAttrs{});
  s.Add("amsgrad", {Lr(0.1), none, p, g, m, v, top, Step(3)}, AdamStepAttrs{.beta2 = 0.75});
  s.Add("scalar",
        {Lr(1), none, Normal({}), Normal({}, 2), Normal({}, 3), Uniform({}, 1, 2), none, Step(1)},
        AdamStepAttrs{});
  s.Add("nothing", {Lr(1), none, Normal({0}), Normal({0}), Normal({0}), Normal({0}), none, Step(1)},
        AdamStepAttrs{});
  // Two whole blocks of the loop, cut inside the second parameter; steps and moments of their own.
  s.Add("several",
        {Lr(0.1),
         none,
         p,
         g,
         m,
         v,
         none,
         Step(3),
         Normal({300, 300}),
         Normal({300, 300}, 2),
         Normal({300, 300}, 3),
         Uniform({300, 300}, 0.25, 4, 4),
         none,
         Step(0),
         Normal({50000}, 5),
         Normal({50000}, 6),
         Normal({50000}, 7),
         Uniform({50000}, 0.25, 4, 8),
         Uniform({50000}, 0.25, 4, 9),
         Step(7)},
        AdamStepAttrs{.weight_decay = 0.1});
  s.AddLarge("4M",
             {Lr(0.1), none, Normal({2048, 2048}), Normal({2048, 2048}, 2), Normal({2048, 2048}, 3),
              Uniform({2048, 2048}, 0, 1), none, Step(3)},
             AdamStepAttrs{}, 5.9e7, 117.4e6);
  s.AddError("shapes", {Lr(0.1), none, p, g, m, Normal({5}), none, Step(3)}, AdamStepAttrs{},
             "var [5] and param [3, 5] differ");
  s.AddError("half a parameter", {Lr(0.1), none, p, g, m, v, none, Step(3), p, g, m},
             AdamStepAttrs{}, "takes at least 8 tensors, the last 6 again and again, got 11");
  s.AddError("shapes of the second",
             {Lr(0.1), none, p, g, m, v, none, Step(3), p, Normal({5}), m, v, none, Step(3)},
             AdamStepAttrs{}, "grad [5] and param [3, 5] differ");
  s.AddError("no step", {Lr(0.1), none, p, g, m, v, none, none}, AdamStepAttrs{},
             "step is an undefined tensor");
}

}  // namespace
}  // namespace firn::testing

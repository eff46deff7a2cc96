#ifndef FIRN_OPTIM_ADAM_RULE_H_
#define FIRN_OPTIM_ADAM_RULE_H_

#include <bit>
#include <cmath>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/optim/adam.h"
#include "firn/tensor/kernels/optimizer_rule.h"

namespace firn::optim {

struct AdamStepAttrs : AdamOptions {
  bool decoupled = false;  // AdamW: the decay shrinks the parameter and not the gradient
  template <class V>
  void Visit(V& v) {
    AdamOptions::Visit(v);
    v.Field("decoupled", decoupled);
  }
};

struct AdamRule {
  static constexpr const char* kName = "Adam";
  static constexpr OpName kOp = "adam_step";
  using Options = AdamOptions;
  using Attrs = AdamStepAttrs;
  static constexpr StateTensor kState[] = {
      {"exp_avg"}, {"exp_avg_sq"}, {"max_exp_avg_sq", /*optional=*/true}};
  static Attrs AttrsOf(const Options& o) { return {o}; }
  static bool Needs(const Attrs& a, size_t) { return a.amsgrad; }
  static absl::Status Check(const Attrs& a) {
    FIRN_RETURN_IF(!(a.lr >= 0 && a.eps >= 0 && a.weight_decay >= 0),
                   InvalidArgument("lr ", a.lr, ", eps ", a.eps, " and weight_decay ",
                                   a.weight_decay, " must not be negative"));
    FIRN_RETURN_IF(
        !(a.beta1 >= 0 && a.beta1 < 1 && a.beta2 >= 0 && a.beta2 < 1),
        InvalidArgument("beta1 ", a.beta1, " and beta2 ", a.beta2, " must be in [0, 1)"));
    return absl::OkStatus();
  }

  // Bias corrections are folded into two numbers,
  //   param = shrink param - rate exp_avg / (sqrt(u) root_scale + eps).
  // What remains is memory traffic: the root and the division hide behind it.
  template <class C>
  struct Element {
    C l2, shrink, beta1, take1, beta2, take2, rate, root_scale, eps;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state,
                                                        unsigned given) const {
      C &mean = state[0], &var = state[1], &top = state[2];
      const C g = grad + l2 * p;
      mean = beta1 * mean + take1 * g;
      var = beta2 * var + take2 * (g * g);
      if ((given & 4u) != 0) top = top > var ? top : var;
      const C u = (given & 4u) != 0 ? top : var;
      p = shrink * p - rate * mean / (std::sqrt(u) * root_scale + eps);
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    const double t = static_cast<double>(taken + 1);
    const double root_scale = a.bias_correction ? 1 / std::sqrt(1 - std::pow(a.beta2, t)) : 1;
    const bool nnabla = a.semantics == Semantics::kNNabla;
    const double decay = (nnabla && a.base_lr > 0 ? lr / a.base_lr : lr) * a.weight_decay;
    return {.l2 = a.decoupled ? 0 : a.weight_decay,
            .shrink = a.decoupled ? 1 - decay : 1,
            .beta1 = a.beta1,
            .take1 = 1 - a.beta1,
            .beta2 = a.beta2,
            .take2 = 1 - a.beta2,
            .rate = a.bias_correction ? lr / (1 - std::pow(a.beta1, t)) : lr,
            .root_scale = root_scale,
            .eps = nnabla || a.eps_uncorrected ? a.eps * root_scale : a.eps};
  }
};

// The same operation, with the decay that shrinks parameters.
struct AdamWRule : AdamRule {
  static constexpr const char* kName = "AdamW";
  using Options = AdamWOptions;
  static Attrs AttrsOf(const Options& o) {
    return {std::bit_cast<AdamRule::Options>(o), /*decoupled=*/true};
  }
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAM_RULE_H_

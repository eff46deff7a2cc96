#ifndef FIRN_OPTIM_SGD_RULE_H_
#define FIRN_OPTIM_SGD_RULE_H_

#include <cmath>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/kernels/optimizer_rule.h"

namespace firn::optim {

struct SgdStepAttrs : SgdOptions {
  double shrink_per_lr = 0;  // param *= 1 - lr shrink_per_lr, before the step
  template <class V>
  void Visit(V& v) {
    SgdOptions::Visit(v);
    v.Field("shrink_per_lr", shrink_per_lr);
  }
};

struct SgdRule {
  static constexpr const char* kName = "Sgd";
  static constexpr OpName kOp = "sgd_step";
  using Options = SgdOptions;
  using Attrs = SgdStepAttrs;
  static constexpr StateTensor kState[] = {{"momentum_buffer", /*optional=*/true}};
  static constexpr bool kStepOptional = true;
  static Attrs AttrsOf(const Options& o) { return {o}; }
  static bool Needs(const Attrs& a, size_t) { return a.momentum != 0; }
  static absl::Status Check(const Attrs& a) {
    FIRN_RETURN_IF(!(a.lr >= 0 && a.momentum >= 0 && a.weight_decay >= 0),
                   InvalidArgument("lr ", a.lr, ", momentum ", a.momentum, " and weight_decay ",
                                   a.weight_decay, " must not be negative"));
    FIRN_RETURN_IF(!(a.shrink_per_lr >= 0), InvalidArgument("weight_decay must not be negative"));
    FIRN_RETURN_IF(std::isnan(a.dampening), InvalidArgument("dampening is NaN"));
    FIRN_RETURN_IF(a.nesterov && (a.momentum <= 0 || a.dampening != 0),
                   InvalidArgument("nesterov needs a positive momentum and no dampening, got ",
                                   a.momentum, " and ", a.dampening));
    return absl::OkStatus();
  }

  // All options come down to g += l2 p, v = keep v + take g and
  // p = shrink p - (by_v v + by_g g).
  template <class C>
  struct Element {
    C l2, shrink, keep, take, by_v, by_g;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state,
                                                        unsigned given) const {
      const C g = grad + l2 * p;
      if (given == 0) {
        p = shrink * p - by_v * g;
      } else {
        C& v = state[0];
        v = keep * v + take * g;
        p = shrink * p - (by_v * v + by_g * g);
      }
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    const bool anew = taken == 0 || a.momentum == 0;
    const bool in_velocity =
        a.momentum != 0 && (a.lr_in_velocity || a.semantics == Semantics::kNNabla);
    const double unit = in_velocity ? 1 : lr, take = anew ? 1 : 1 - a.dampening;
    return {.l2 = a.weight_decay,
            .shrink = 1 - lr * a.shrink_per_lr,
            .keep = anew ? 0 : a.momentum,
            .take = in_velocity ? take * lr : take,
            .by_v = a.nesterov ? unit * a.momentum : unit,
            .by_g = a.nesterov ? lr : 0};
  }
};

// The same operation, with the decay that shrinks parameters.
struct SgdWRule : SgdRule {
  static constexpr const char* kName = "SgdW";
  using Options = SgdWOptions;
  static Attrs AttrsOf(const Options& o) {
    return {{.lr = o.lr, .momentum = o.momentum, .lr_in_velocity = true},
            o.base_lr > 0 ? o.weight_decay / o.base_lr : o.weight_decay};
  }
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SGD_RULE_H_

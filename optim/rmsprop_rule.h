#ifndef FIRN_OPTIM_RMSPROP_RULE_H_
#define FIRN_OPTIM_RMSPROP_RULE_H_

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/optim/rmsprop.h"
#include "firn/tensor/kernels/optimizer_rule.h"

namespace firn::optim {

struct RmspropStepAttrs : RmspropOptions {
  bool eps_inside = false;      // of the root: sqrt(... + eps)
  bool lr_in_velocity = false;  // momentum_buffer = momentum momentum_buffer + lr d
  template <class V>
  void Visit(V& v) {
    RmspropOptions::Visit(v);
    v.Field("eps_inside", eps_inside);
    v.Field("lr_in_velocity", lr_in_velocity);
  }
};

struct RmspropRule {
  static constexpr const char* kName = "Rmsprop";
  static constexpr OpName kOp = "rmsprop_step";
  using Options = RmspropOptions;
  using Attrs = RmspropStepAttrs;
  static constexpr StateTensor kState[] = {
      {"square_avg"}, {"grad_avg", /*optional=*/true}, {"momentum_buffer", /*optional=*/true}};
  static Attrs AttrsOf(const Options& o) { return {o}; }
  static bool Needs(const Attrs& a, size_t state) {
    return state == 1 ? a.centered : a.momentum != 0 || a.lr_in_velocity;
  }
  static absl::Status Check(const Attrs& a) {
    FIRN_RETURN_IF(!(a.lr >= 0 && a.eps >= 0 && a.weight_decay >= 0 && a.momentum >= 0),
                   InvalidArgument("lr ", a.lr, ", eps ", a.eps, ", weight_decay ", a.weight_decay,
                                   " and momentum ", a.momentum, " must not be negative"));
    FIRN_RETURN_IF(!(a.alpha >= 0 && a.alpha <= 1),
                   InvalidArgument("alpha ", a.alpha, " must be in [0, 1]"));
    return absl::OkStatus();
  }

  template <class C>
  struct Element {
    C l2, keep, take, inside, outside, momentum, in_step, rate;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state,
                                                        unsigned given) const {
      C &square = state[0], &mean = state[1], &buffer = state[2];
      const C g = grad + l2 * p;
      square = keep * square + take * (g * g);
      if ((given & 2u) != 0) mean = keep * mean + take * g;
      // If gradients hardly vary, rounding may leave a difference below 0, which becomes 0; NaN
      // stays.
      const C around = (given & 2u) != 0 ? square - mean * mean : square;
      const C spread = around < 0 ? C{0} : around;
      const C d = in_step * g / (std::sqrt(spread + inside) + outside);
      if ((given & 4u) != 0) buffer = momentum * buffer + d;
      p = p - rate * ((given & 4u) != 0 ? buffer : d);
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t) {
    return {.l2 = a.weight_decay,
            .keep = a.alpha,
            .take = 1 - a.alpha,
            .inside = a.eps_inside ? a.eps : 0,
            .outside = a.eps_inside ? 0 : a.eps,
            .momentum = a.momentum,
            .in_step = a.lr_in_velocity ? lr : 1,
            .rate = a.lr_in_velocity ? 1 : lr};
  }
};

// The same operation, with all its state.
struct RmspropGravesRule : RmspropRule {
  static constexpr const char* kName = "RmspropGraves";
  using Options = RmspropGravesOptions;
  static Attrs AttrsOf(const Options& o) {
    return {{.lr = o.lr,
             .alpha = o.alpha,
             .eps = o.eps,
             .weight_decay = o.weight_decay,
             .momentum = o.momentum,
             .centered = true},
            /*eps_inside=*/true,
            /*lr_in_velocity=*/true};
  }
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_RMSPROP_RULE_H_

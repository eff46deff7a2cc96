#ifndef FIRN_OPTIM_SIGN_STEPS_RULE_H_
#define FIRN_OPTIM_SIGN_STEPS_RULE_H_

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/optim/sign_steps.h"
#include "firn/tensor/kernels/optimizer_rule.h"

namespace firn::optim {

// 0 for 0 and NaN.
template <class C>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE C SignOfStep(C v) {
  return static_cast<C>(v > 0 ? 1 : 0) - static_cast<C>(v < 0 ? 1 : 0);
}

struct LionRule {
  static constexpr const char* kName = "Lion";
  static constexpr OpName kOp = "lion_step";
  using Options = LionOptions;
  using Attrs = LionOptions;
  static constexpr StateTensor kState[] = {{"exp_avg"}};
  static constexpr bool kStepOptional = true;
  static bool Needs(const Attrs&, size_t) { return true; }
  static absl::Status Check(const Attrs& a) {
    FIRN_RETURN_IF_ERROR(BelowOne({{"beta1", a.beta1}, {"beta2", a.beta2}}));
    return NotNegative({{"lr", a.lr}, {"weight_decay", a.weight_decay}});
  }

  template <class C>
  struct Element {
    C rate, shrink, beta1, take1, beta2, take2;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state, unsigned) const {
      C& mean = state[0];
      p = shrink * p - rate * SignOfStep(beta1 * mean + take1 * grad);
      mean = beta2 * mean + take2 * grad;
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t) {
    return {lr, 1 - lr * a.weight_decay, a.beta1, 1 - a.beta1, a.beta2, 1 - a.beta2};
  }
};

struct RpropRule {
  static constexpr const char* kName = "Rprop";
  static constexpr OpName kOp = "rprop_step";
  using Options = RpropOptions;
  using Attrs = RpropOptions;
  static constexpr StateTensor kState[] = {{"prev"}, {"step_size"}};
  static bool Needs(const Attrs&, size_t) { return true; }
  static absl::Status Check(const Attrs& a) {
    FIRN_RETURN_IF(!(a.eta_minus > 0 && a.eta_minus < 1 && a.eta_plus > 1),
                   InvalidArgument("eta_minus ", a.eta_minus, " must be in (0, 1) and eta_plus ",
                                   a.eta_plus, " above 1"));
    FIRN_RETURN_IF(
        !(a.min_step <= a.max_step),
        InvalidArgument("min_step ", a.min_step, " must be at most max_step ", a.max_step));
    return NotNegative({{"lr", a.lr}, {"min_step", a.min_step}});
  }

  template <class C>
  struct Element {
    C start, minus, plus, low, high;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state, unsigned) const {
      C &prev = state[0], &size = state[1];
      const C agree = prev * grad;
      const C factor = agree > 0 ? plus : agree < 0 ? minus : C{1};
      const C wanted = (size + start) * factor;
      const C above = wanted < low ? low : wanted;
      size = above > high ? high : above;
      const C g = agree < 0 ? C{0} : grad;
      p = p - SignOfStep(g) * size;
      prev = g;
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    return {taken == 0 ? lr : 0, a.eta_minus, a.eta_plus, a.min_step, a.max_step};
  }
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SIGN_STEPS_RULE_H_

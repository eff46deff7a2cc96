#ifndef FIRN_OPTIM_ADAM_FAMILY_RULE_H_
#define FIRN_OPTIM_ADAM_FAMILY_RULE_H_

#include <cmath>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/optim/adam_family.h"
#include "firn/tensor/kernels/optimizer_rule.h"

namespace firn::optim {

// The common part of Adam's relatives: the decay, of the gradient (l2) or of the parameter
// (shrink), and the moving average of the gradient.
template <class C>
struct FirstMoment {
  C l2, shrink, beta1, take1;
  // The gradient with its decay.
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE C operator()(C p, C grad, C& mean) const {
    const C g = grad + l2 * p;
    mean = beta1 * mean + take1 * g;
    return g;
  }
};
template <class C>
struct Moments {
  FirstMoment<C> first;
  C beta2, take2;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE C operator()(C p, C grad, C* state) const {
    const C g = first(p, grad, state[0]);
    state[1] = beta2 * state[1] + take2 * (g * g);
    return g;
  }
};
template <class Attrs>
FIRN_HOST_DEVICE FirstMoment<double> FirstMomentOf(const Attrs& a, bool decoupled, double shrink) {
  return {.l2 = decoupled ? 0 : a.weight_decay,
          .shrink = decoupled ? 1 - shrink : 1,
          .beta1 = a.beta1,
          .take1 = 1 - a.beta1};
}
// A decay by lr weight_decay where it is decoupled.
template <class Attrs>
FIRN_HOST_DEVICE Moments<double> MomentsOf(const Attrs& a, bool decoupled, double lr) {
  return {FirstMomentOf(a, decoupled, lr * a.weight_decay), a.beta2, 1 - a.beta2};
}
template <class Attrs>
absl::Status CheckAdamFamily(const Attrs& a) {
  FIRN_RETURN_IF_ERROR(BelowOne({{"beta1", a.beta1}, {"beta2", a.beta2}}));
  return NotNegative({{"lr", a.lr}, {"eps", a.eps}, {"weight_decay", a.weight_decay}});
}

struct AdamaxRule {
  static constexpr const char* kName = "Adamax";
  static constexpr OpName kOp = "adamax_step";
  using Options = AdamaxOptions;
  using Attrs = AdamaxOptions;
  static constexpr StateTensor kState[] = {{"exp_avg"}, {"exp_inf"}};
  static bool Needs(const Attrs&, size_t) { return true; }
  static absl::Status Check(const Attrs& a) { return CheckAdamFamily(a); }

  template <class C>
  struct Element {
    FirstMoment<C> first;
    C beta2, rate, eps_within, eps_below;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state, unsigned) const {
      C& top = state[1];
      const C size = std::abs(first(p, grad, state[0])) + eps_within, kept = beta2 * top;
      top = kept > size ? kept : size;
      p = p - rate * state[0] / (top + eps_below);
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    const bool within = a.semantics == Semantics::kPyTorch;
    return {FirstMomentOf(a, false, 0), a.beta2,
            lr / (1 - std::pow(a.beta1, static_cast<double>(taken + 1))), within ? a.eps : 0,
            within ? 0 : a.eps};
  }
};

struct NadamRule {
  static constexpr const char* kName = "Nadam";
  static constexpr OpName kOp = "nadam_step";
  using Options = NadamOptions;
  using Attrs = NadamOptions;
  static constexpr StateTensor kState[] = {{"exp_avg"}, {"exp_avg_sq"}};
  static bool Needs(const Attrs&, size_t) { return true; }
  static absl::Status Check(const Attrs& a) {
    FIRN_RETURN_IF_ERROR(NotNegative({{"momentum_decay", a.momentum_decay}}));
    return CheckAdamFamily(a);
  }

  template <class C>
  struct Element {
    Moments<C> moments;
    C by_grad, by_mean, root_scale, eps;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state, unsigned) const {
      const C g = moments(p, grad, state);
      p = moments.first.shrink * p -
          (by_grad * g + by_mean * state[0]) / (std::sqrt(state[1]) * root_scale + eps);
    }
  };

  // log(m_1 ... m_t), where m_i = beta1 (1 - q^i / 2): by log(1 - x) = -(x + x^2 / 2 + ...), whose
  // sums over i are geometric, in a time that does not grow with t. PyTorch keeps the product.
  FIRN_HOST_DEVICE static double LogProduct(double beta1, double log_q, double t) {
    double sum = 0, half = 1;
    for (int k = 1; k <= 52; ++k) {
      half /= 2;
      const double step = k * log_q;  // of q^(k i) from one i to the next
      const double powers =
          step == 0 ? t : std::exp(step) * std::expm1(t * step) / std::expm1(step);
      sum += half / k * powers;
    }
    return t * std::log(beta1) - sum;
  }
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    const double t = static_cast<double>(taken + 1), log_q = a.momentum_decay * std::log(0.96);
    const auto momentum = [&](double i) { return a.beta1 * (1 - std::exp(i * log_q) / 2); };
    const double product = a.beta1 == 0 ? 0 : std::exp(LogProduct(a.beta1, log_q, t));
    const double next = momentum(t + 1);
    return {.moments = MomentsOf(a, a.decoupled_weight_decay, lr),
            .by_grad = lr * (1 - momentum(t)) / (1 - product),
            .by_mean = lr * next / (1 - product * next),
            .root_scale = 1 / std::sqrt(1 - std::pow(a.beta2, t)),
            .eps = a.eps};
  }
};

// The factor of rectified Adam's step; 0 for a step without second moments, if there are no more
// than `least` of them.
FIRN_HOST_DEVICE inline double Rectification(double beta2, double t, double least) {
  const double power = std::pow(beta2, t), most = 2 / (1 - beta2) - 1;
  const double length = most - 2 * t * power / (1 - power);
  if (!(length > least)) return 0;
  return std::sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length));
}

struct RadamRule {
  static constexpr const char* kName = "Radam";
  static constexpr OpName kOp = "radam_step";
  using Options = RadamOptions;
  using Attrs = RadamOptions;
  static constexpr StateTensor kState[] = {{"exp_avg"}, {"exp_avg_sq"}};
  static bool Needs(const Attrs&, size_t) { return true; }
  static absl::Status Check(const Attrs& a) { return CheckAdamFamily(a); }

  template <class C>
  struct Element {
    Moments<C> moments;
    C plain, rectified, eps;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state, unsigned) const {
      moments(p, grad, state);
      // In a step without second moments these may be 0, and eps too.
      const C adapted = rectified / (std::sqrt(state[1]) + eps);
      p = moments.first.shrink * p - (rectified == 0 ? plain : adapted) * state[0];
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    const double t = static_cast<double>(taken + 1);
    const double rate = lr / (1 - std::pow(a.beta1, t)), by = Rectification(a.beta2, t, 5);
    return {.moments = MomentsOf(a, a.decoupled_weight_decay, lr),
            .plain = by == 0 ? rate : 0,
            .rectified = rate * by * std::sqrt(1 - std::pow(a.beta2, t)),
            .eps = a.eps};
  }
};

struct AdabeliefRule {
  static constexpr const char* kName = "Adabelief";
  static constexpr OpName kOp = "adabelief_step";
  using Options = AdabeliefOptions;
  using Attrs = AdabeliefOptions;
  static constexpr StateTensor kState[] = {
      {"exp_avg"}, {"exp_avg_var"}, {"max_exp_avg_var", /*optional=*/true}};
  static bool Needs(const Attrs& a, size_t) { return a.amsgrad; }
  static absl::Status Check(const Attrs& a) { return CheckAdamFamily(a); }

  template <class C>
  struct Element {
    FirstMoment<C> first;
    C beta2, take2, plain, rate, root_scale, eps;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state,
                                                        unsigned given) const {
      C &mean = state[0], &var = state[1], &top = state[2];
      const C surprise = first(p, grad, mean) - mean;
      var = beta2 * var + take2 * (surprise * surprise) + eps;
      if ((given & 4u) != 0) top = top > var ? top : var;
      const C u = (given & 4u) != 0 ? top : var;
      const C adapted = rate / (std::sqrt(u) * root_scale + eps);
      p = first.shrink * p - (rate == 0 ? plain : adapted) * mean;
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    const double t = static_cast<double>(taken + 1);
    const double rate = lr / (1 - std::pow(a.beta1, t));
    const double by = a.rectify ? Rectification(a.beta2, t, 4) : 1;
    const double decay = a.fixed_decay ? a.weight_decay : lr * a.weight_decay;
    return {.first = FirstMomentOf(a, a.weight_decouple, decay),
            .beta2 = a.beta2,
            .take2 = 1 - a.beta2,
            .plain = by == 0 ? rate : 0,
            .rate = rate * by,
            .root_scale = 1 / std::sqrt(1 - std::pow(a.beta2, t)),
            .eps = a.eps};
  }
};

struct AdaboundRule {
  static constexpr const char* kName = "Adabound";
  static constexpr OpName kOp = "adabound_step";
  using Options = AdaboundOptions;
  using Attrs = AdaboundOptions;
  static constexpr StateTensor kState[] = {
      {"exp_avg"}, {"exp_avg_sq"}, {"max_exp_avg_sq", /*optional=*/true}};
  static bool Needs(const Attrs& a, size_t) { return a.amsbound; }
  static absl::Status Check(const Attrs& a) {
    FIRN_RETURN_IF_ERROR(
        NotNegative({{"final_lr", a.final_lr}, {"gamma", a.gamma}, {"base_lr", a.base_lr}}));
    return CheckAdamFamily(a);
  }

  template <class C>
  struct Element {
    Moments<C> moments;
    C rate, eps, low, high;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state,
                                                        unsigned given) const {
      moments(p, grad, state);
      const C var = state[1];
      C& top = state[2];
      if ((given & 4u) != 0) top = top > var ? top : var;
      const C wanted = rate / (std::sqrt((given & 4u) != 0 ? top : var) + eps);
      const C above = wanted < low ? low : wanted;
      p = p - (above > high ? high : above) * state[0];
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    const double t = static_cast<double>(taken + 1);
    const double correction =
        a.bias_correction ? std::sqrt(1 - std::pow(a.beta2, t)) / (1 - std::pow(a.beta1, t)) : 1;
    const double last = a.base_lr > 0 ? a.final_lr * lr / a.base_lr : a.final_lr;
    return {.moments = MomentsOf(a, false, lr),
            .rate = lr * correction,
            .eps = a.eps,
            .low = last * (1 - 1 / (a.gamma * t + 1)),
            .high = last * (1 + 1 / (a.gamma * t))};
  }
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAM_FAMILY_RULE_H_

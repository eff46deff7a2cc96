#ifndef FIRN_OPTIM_TRUST_RATIO_RULE_H_
#define FIRN_OPTIM_TRUST_RATIO_RULE_H_

#include <cmath>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/optim/trust_ratio.h"
#include "firn/tensor/kernels/optimizer_rule.h"

namespace firn::optim {

// In double, since C may not hold it, or keep few of its digits.
template <class C>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double SquareOf(C v) {
  return static_cast<double>(v) * static_cast<double>(v);
}

struct LambRule {
  static constexpr const char* kName = "Lamb";
  static constexpr OpName kOp = "lamb_step";
  using Options = LambOptions;
  using Attrs = LambOptions;
  static constexpr StateTensor kState[] = {{"exp_avg"}, {"exp_avg_sq"}};
  static constexpr size_t kSums = 2;  // of param^2 and of r^2
  static bool Needs(const Attrs&, size_t) { return true; }
  static absl::Status Check(const Attrs& a) {
    FIRN_RETURN_IF(!(a.gamma_l <= a.gamma_u),
                   InvalidArgument("gamma_l ", a.gamma_l, " must be at most gamma_u ", a.gamma_u));
    FIRN_RETURN_IF_ERROR(BelowOne({{"beta1", a.beta1}, {"beta2", a.beta2}}));
    return NotNegative(
        {{"lr", a.lr}, {"gamma_l", a.gamma_l}, {"eps", a.eps}, {"weight_decay", a.weight_decay}});
  }

  // The moments move while the sums are gathered, the parameter afterwards.
  template <class C>
  struct Element {
    C rate, beta1, take1, beta2, take2, mean_scale, root_scale, eps, decay, low, high;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE C Direction(C p, const C* state) const {
      return mean_scale * state[0] / (std::sqrt(state[1]) * root_scale + eps) + decay * p;
    }
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void Gather(C p, C grad, C* state, unsigned,
                                                    double* terms) const {
      state[0] = beta1 * state[0] + take1 * grad;
      state[1] = beta2 * state[1] + take2 * (grad * grad);
      const C r = Direction(p, state);
      terms[0] = SquareOf(p);
      terms[1] = SquareOf(r);
    }
    FIRN_HOST_DEVICE void Use(const double* sums) {
      const double length = std::sqrt(sums[0]), of_step = std::sqrt(sums[1]);
      const double above = length < low ? low : length;
      if (of_step > eps) rate *= (above > high ? high : above) / of_step;
    }
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C, C* state, unsigned) const {
      p = p - rate * Direction(p, state);
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    const double t = static_cast<double>(taken + 1);
    return {.rate = lr,
            .beta1 = a.beta1,
            .take1 = 1 - a.beta1,
            .beta2 = a.beta2,
            .take2 = 1 - a.beta2,
            .mean_scale = a.bias_correction ? 1 / (1 - std::pow(a.beta1, t)) : 1,
            .root_scale = a.bias_correction ? 1 / std::sqrt(1 - std::pow(a.beta2, t)) : 1,
            .eps = a.eps,
            .decay = a.weight_decay,
            .low = a.gamma_l,
            .high = a.gamma_u};
  }
};

struct LarsRule {
  static constexpr const char* kName = "Lars";
  static constexpr OpName kOp = "lars_step";
  using Options = LarsOptions;
  using Attrs = LarsOptions;
  static constexpr StateTensor kState[] = {{"momentum_buffer"}};
  static constexpr size_t kSums = 2;  // of param^2 and of grad^2
  static constexpr bool kStepOptional = true;
  static bool Needs(const Attrs&, size_t) { return true; }
  static absl::Status Check(const Attrs& a) {
    return NotNegative({{"lr", a.lr},
                        {"momentum", a.momentum},
                        {"coefficient", a.coefficient},
                        {"eps", a.eps},
                        {"weight_decay", a.weight_decay}});
  }

  template <class C>
  struct Element {
    C rate, momentum, coefficient, eps, decay;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void Gather(C p, C grad, C*, unsigned,
                                                    double* terms) const {
      terms[0] = SquareOf(p);
      terms[1] = SquareOf(grad);
    }
    FIRN_HOST_DEVICE void Use(const double* sums) {
      const double length = std::sqrt(sums[0]);
      if (length < eps) return;
      const double step = std::sqrt(sums[1]) + decay * length;
      rate *= coefficient * length / (step < eps ? step + eps : step);
    }
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state, unsigned) const {
      C& v = state[0];
      v = momentum * v + rate * (grad + decay * p);
      p = p - v;
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t) {
    return {lr, a.momentum, a.coefficient, a.eps, a.weight_decay};
  }
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_TRUST_RATIO_RULE_H_

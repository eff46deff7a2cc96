#ifndef FIRN_OPTIM_ADAGRAD_RULE_H_
#define FIRN_OPTIM_ADAGRAD_RULE_H_

#include <cmath>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/optim/adagrad.h"
#include "firn/tensor/kernels/optimizer_rule.h"

namespace firn::optim {

struct AdagradRule {
  static constexpr const char* kName = "Adagrad";
  static constexpr OpName kOp = "adagrad_step";
  using Options = AdagradOptions;
  using Attrs = AdagradOptions;
  static constexpr StateTensor kState[] = {{"sum"}};
  static bool Needs(const Attrs&, size_t) { return true; }
  static absl::Status Check(const Attrs& a) {
    return NotNegative({{"lr", a.lr},
                        {"lr_decay", a.lr_decay},
                        {"weight_decay", a.weight_decay},
                        {"initial_accumulator_value", a.initial_accumulator_value},
                        {"eps", a.eps}});
  }

  template <class C>
  struct Element {
    C rate, l2, start, eps;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state, unsigned) const {
      C& sum = state[0];
      const C g = grad + l2 * p;
      sum = sum + start + g * g;
      p = p - rate * g / (std::sqrt(sum) + eps);
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t taken) {
    return {.rate = lr / (1 + static_cast<double>(taken) * a.lr_decay),
            .l2 = a.weight_decay,
            .start = taken == 0 ? a.initial_accumulator_value : 0,
            .eps = a.eps};
  }
};

struct AdadeltaRule {
  static constexpr const char* kName = "Adadelta";
  static constexpr OpName kOp = "adadelta_step";
  using Options = AdadeltaOptions;
  using Attrs = AdadeltaOptions;
  static constexpr StateTensor kState[] = {{"square_avg"}, {"acc_delta"}};
  static bool Needs(const Attrs&, size_t) { return true; }
  static absl::Status Check(const Attrs& a) {
    FIRN_RETURN_IF(!(a.rho >= 0 && a.rho <= 1),
                   InvalidArgument("rho ", a.rho, " must be in [0, 1]"));
    return NotNegative({{"lr", a.lr}, {"eps", a.eps}, {"weight_decay", a.weight_decay}});
  }

  template <class C>
  struct Element {
    C rate, l2, keep, take, eps;
    FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void operator()(C& p, C grad, C* state, unsigned) const {
      C &square = state[0], &delta = state[1];
      const C g = grad + l2 * p;
      square = keep * square + take * (g * g);
      const C d = std::sqrt(delta + eps) / std::sqrt(square + eps) * g;
      delta = keep * delta + take * (d * d);
      p = p - rate * d;
    }
  };
  FIRN_HOST_DEVICE static Element<double> At(const Attrs& a, double lr, int64_t) {
    return {lr, a.weight_decay, a.rho, 1 - a.rho, a.eps};
  }
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAGRAD_RULE_H_

#ifndef FIRN_TENSOR_OPS_OPTIMIZER_ADAM_FN_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_ADAM_FN_H_

#include <cmath>
#include <cstdint>

#include "device/inner.h"
#include "device/macros.h"
#include "tensor/ops/optimizer/adam.h"

namespace firn {

// What a step comes down to, see adam_step.cc.
struct AdamScalars {
  double l2, shrink, beta1, beta2, rate, root_scale, eps;
};

// Of step t, counted from 1.
FIRN_HOST_DEVICE inline AdamScalars AdamScalarsOf(const AdamStepAttrs& a, double lr, int64_t t) {
  const double correction1 = 1 - std::pow(a.beta1, static_cast<double>(t));
  const double correction2 = 1 - std::pow(a.beta2, static_cast<double>(t));
  AdamScalars s;
  s.l2 = a.decoupled ? 0 : a.weight_decay;
  s.shrink = a.decoupled ? 1 - lr * a.weight_decay : 1;
  s.beta1 = a.beta1;
  s.beta2 = a.beta2;
  s.rate = lr / correction1;
  s.root_scale = 1 / std::sqrt(correction2);
  s.eps = a.eps_uncorrected ? a.eps * s.root_scale : a.eps;
  return s;
}

// One element, in two parts: the moments, and then the parameter with u, the second moment or its
// maximum.
template <class C>
struct AdamFn {
  C l2, shrink, b1, b2, take1, take2, rate, root_scale, eps;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE explicit AdamFn(const AdamScalars& s)
      : l2(static_cast<C>(s.l2)),
        shrink(static_cast<C>(s.shrink)),
        b1(static_cast<C>(s.beta1)),
        b2(static_cast<C>(s.beta2)),
        take1(static_cast<C>(1 - s.beta1)),
        take2(static_cast<C>(1 - s.beta2)),
        rate(static_cast<C>(s.rate)),
        root_scale(static_cast<C>(s.root_scale)),
        eps(static_cast<C>(s.eps)) {}
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void Moments(C p, C grad, C& mean, C& var) const {
    const C g = grad + l2 * p;
    mean = b1 * mean + take1 * g;
    var = b2 * var + take2 * (g * g);
  }
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE C Param(C p, C mean, C u) const {
    return shrink * p - rate * mean / (std::sqrt(u) * root_scale + eps);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_ADAM_FN_H_

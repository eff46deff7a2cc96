#ifndef FIRN_TENSOR_OPS_OPTIMIZER_SGD_FN_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_SGD_FN_H_

#include "device/inner.h"
#include "device/macros.h"
#include "tensor/ops/optimizer/sgd.h"

namespace firn {

// What the options come down to.
struct SgdCoefficients {
  double l2;          // g += l2 p
  double keep, take;  // v = keep v + take g
  double by_v, by_g;  // p -= by_v v + by_g g
};

FIRN_HOST_DEVICE inline SgdCoefficients SgdCoefficientsOf(const SgdStepAttrs& a, double lr,
                                                          bool first) {
  SgdCoefficients c;
  c.l2 = a.weight_decay;
  c.keep = first ? 0 : a.momentum;
  c.take = first ? 1 : 1 - a.dampening;
  const double unit = a.lr_in_velocity ? 1 : lr;
  c.by_v = a.nesterov ? unit * a.momentum : unit;
  c.by_g = a.nesterov ? lr : 0;
  if (a.lr_in_velocity) c.take *= lr;
  return c;
}

// One element without momentum.
template <class C>
struct SgdPlainFn {
  C rate, l2;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE C operator()(C p, C g) const {
    return p - rate * (g + l2 * p);
  }
};

// One element with momentum: returns the parameter and changes the velocity.
template <class C>
struct SgdVelocityFn {
  C l2, keep, take, by_v, by_g;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE explicit SgdVelocityFn(const SgdCoefficients& c)
      : l2(static_cast<C>(c.l2)),
        keep(static_cast<C>(c.keep)),
        take(static_cast<C>(c.take)),
        by_v(static_cast<C>(c.by_v)),
        by_g(static_cast<C>(c.by_g)) {}
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE C operator()(C p, C g, C& v) const {
    const C slope = g + l2 * p;
    v = keep * v + take * slope;
    return p - (by_v * v + by_g * slope);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_SGD_FN_H_

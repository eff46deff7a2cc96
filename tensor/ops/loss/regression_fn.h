#ifndef FIRN_TENSOR_OPS_LOSS_REGRESSION_FN_H_
#define FIRN_TENSOR_OPS_LOSS_REGRESSION_FN_H_

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/ops/loss/regression.h"
#include "firn/tensor/problems/reduction_mode.h"

namespace firn {

struct L1LossFn {
  using Attrs = LossAttrs;
  explicit L1LossFn(const Attrs&) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return math::Abs(x - y);
  }
};

struct MseLossFn {
  using Attrs = LossAttrs;
  explicit MseLossFn(const Attrs&) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return (x - y) * (x - y);
  }
};

struct SmoothL1LossFn {
  using Attrs = SmoothL1LossAttrs;
  double beta;
  explicit SmoothL1LossFn(const Attrs& a) : beta(a.beta) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    const T d = math::Abs(x - y), b = static_cast<T>(beta);
    const T half = static_cast<T>(0.5);
    return d < b ? half * d * (d / b) : d - half * b;  // d * d may overflow
  }
};

struct KlDivFn {
  using Attrs = KlDivAttrs;
  explicit KlDivFn(const Attrs&) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T log_q, T p) const {
    const T term = p * (math::Log(p) - log_q);
    return p == 0 ? T(0) : term;
  }
};

// The same with the logarithm of p.
struct KlDivLogFn {
  using Attrs = KlDivAttrs;
  explicit KlDivLogFn(const Attrs&) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T log_q, T log_p) const {
    return math::Exp(log_p) * (log_p - log_q);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_REGRESSION_FN_H_

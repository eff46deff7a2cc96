#ifndef FIRN_TENSOR_OPS_SOFTPLUS_FN_H_
#define FIRN_TENSOR_OPS_SOFTPLUS_FN_H_

#include "tensor/kernels/math.h"
#include "tensor/ops/softplus.h"

namespace firn {

// log(1 + e^u) = max(u, 0) + log(1 + e^-|u|).
struct SoftplusFn {
  using Attrs = SoftplusAttrs;
  explicit SoftplusFn(const SoftplusAttrs& a) : beta(a.beta), threshold(a.threshold) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T u = x * static_cast<T>(beta);
    const T y =
        ((u < T(0) ? T(0) : u) + math::Log1p(math::Exp(-math::Abs(u)))) / static_cast<T>(beta);
    return u > static_cast<T>(threshold) ? x : y;
  }
  double beta, threshold;
};

struct SoftplusGradFn {
  using Attrs = SoftplusAttrs;
  explicit SoftplusGradFn(const SoftplusAttrs& a) : beta(a.beta), threshold(a.threshold) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T u = x * static_cast<T>(beta);
    const T slope = math::Sigmoid(u);
    return u > static_cast<T>(threshold) ? dy : dy * slope;
  }
  double beta, threshold;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SOFTPLUS_FN_H_

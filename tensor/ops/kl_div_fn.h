#ifndef FIRN_TENSOR_OPS_KL_DIV_FN_H_
#define FIRN_TENSOR_OPS_KL_DIV_FN_H_

#include "device/macros.h"
#include "tensor/kernels/math.h"
#include "tensor/ops/kl_div.h"

namespace firn {

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

#endif  // FIRN_TENSOR_OPS_KL_DIV_FN_H_

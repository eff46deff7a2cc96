#ifndef FIRN_TENSOR_OPS_ELU_FN_H_
#define FIRN_TENSOR_OPS_ELU_FN_H_

#include "tensor/kernels/math.h"
#include "tensor/ops/elu.h"

namespace firn {

struct EluFn {
  using Attrs = EluAttrs;
  explicit EluFn(const EluAttrs& a)
      : scale(a.scale), below(a.scale * a.alpha), input_scale(a.input_scale) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T negative = static_cast<T>(below) * math::Expm1(x * static_cast<T>(input_scale));
    return x <= T(0) ? negative : static_cast<T>(scale) * x;
  }
  double scale, below, input_scale;
};

struct EluGradFn {
  using Attrs = EluAttrs;
  explicit EluGradFn(const EluAttrs& a)
      : scale(a.scale), below(a.scale * a.alpha * a.input_scale), input_scale(a.input_scale) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T negative = static_cast<T>(below) * math::Exp(x * static_cast<T>(input_scale));
    return dy * (x <= T(0) ? negative : static_cast<T>(scale));
  }
  double scale, below, input_scale;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELU_FN_H_

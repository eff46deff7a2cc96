#ifndef FIRN_TENSOR_OPS_GELU_FN_H_
#define FIRN_TENSOR_OPS_GELU_FN_H_

#include "tensor/kernels/math.h"
#include "tensor/ops/gelu.h"

namespace firn {

struct GeluFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x * math::Normal(x).integral;
  }
};

struct GeluGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const math::NormalValue<T> n = math::Normal(x);
    return dy * (n.integral + x * n.density);
  }
};

// The tanh form is x sigmoid(c1 x + c3 x^3): (1 + tanh u) / 2 = sigmoid(2 u), which keeps its
// digits for negative x.
struct GeluCubic {
  static constexpr double kC1 = 1.5957691216057308;  // 2 sqrt(2 / pi)
  static constexpr double kC3 = 1.5957691216057308 * 0.044715;
};

struct GeluTanhFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x * math::Sigmoid(x * (T(GeluCubic::kC1) + T(GeluCubic::kC3) * (x * x)));
  }
};

struct GeluTanhGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T square = x * x > T(1000) ? T(1000) : x * x;  // the sigmoid is 0 or 1 long before
    const T s = math::Sigmoid(x * (T(GeluCubic::kC1) + T(GeluCubic::kC3) * square));
    const T slope = T(GeluCubic::kC1) + T(3 * GeluCubic::kC3) * square;
    return dy * (s + (s * (T(1) - s)) * (x * slope));
  }
};

// For devices: one loop does, with the form as a number of the call.
template <class Exact, class WithTanh>
struct EitherGelu {
  using Attrs = GeluAttrs;
  explicit EitherGelu(const GeluAttrs& a) : with_tanh(a.approximate == GeluApproximate::kTanh) {}
  template <class... T>
  FIRN_HOST_DEVICE auto operator()(T... x) const {
    return with_tanh ? WithTanh()(x...) : Exact()(x...);
  }
  bool with_tanh;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_GELU_FN_H_

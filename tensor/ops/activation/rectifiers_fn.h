#ifndef FIRN_TENSOR_OPS_ACTIVATION_RECTIFIERS_FN_H_
#define FIRN_TENSOR_OPS_ACTIVATION_RECTIFIERS_FN_H_

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/kernels/math_half.h"
#include "firn/tensor/ops/activation/rectifiers.h"

namespace firn {

struct ReluFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x < T{0} ? T{0} : x;
  }
};

struct ReluGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T y) const {
    return y <= T{0} ? T{0} : dy;
  }
};

struct LeakyReluFn : LeakyReluAttrs {
  using Brief = void;
  using Attrs = LeakyReluAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? x : static_cast<T>(alpha) * x;
  }
};

struct LeakyReluGradFn : LeakyReluAttrs {
  using Brief = void;
  using Attrs = LeakyReluAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T below = static_cast<T>(alpha) * dy;
    return x > T(0) ? dy : below;
  }
};

struct PreluFn {
  using Brief = void;
  FIRN_HOST_DEVICE auto operator()(auto x, auto weight) const { return x > 0 ? x : weight * x; }
};

struct ThresholdFn : ThresholdAttrs {
  using Brief = void;
  using Attrs = ThresholdAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x <= static_cast<T>(threshold) ? static_cast<T>(value) : x;
  }
};

struct ThresholdGradFn : ThresholdAttrs {
  using Brief = void;
  using Attrs = ThresholdAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    return x <= static_cast<T>(threshold) ? T(0) : dy;
  }
};

struct HardtanhFn : HardtanhAttrs {
  using Brief = void;
  using Attrs = HardtanhAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T low = static_cast<T>(min), high = static_cast<T>(max);
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

struct HardtanhGradFn : HardtanhAttrs {
  using Brief = void;
  using Attrs = HardtanhAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const bool outside = (x <= static_cast<T>(min)) | (x >= static_cast<T>(max));
    return outside ? T(0) : dy;
  }
};

struct HardsigmoidFn : HardsigmoidAttrs {
  using Brief = void;
  using Attrs = HardsigmoidAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T y = static_cast<T>(alpha) * x + static_cast<T>(beta);
    const T raised = y < T(0) ? T(0) : y;
    return raised > T(1) ? T(1) : raised;
  }
};

struct HardsigmoidGradFn : HardsigmoidAttrs {
  using Brief = void;
  using Attrs = HardsigmoidAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T y = static_cast<T>(alpha) * x + static_cast<T>(beta);
    const T inside = static_cast<T>(alpha) * dy;
    const T above = y <= T(0) ? T(0) : inside;  // apart: g++ 12 joins comparisons slowly
    return y >= T(1) ? T(0) : above;
  }
};

struct HardswishFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T raised = x < T(-3) ? T(0) : x + T(3);
    return x * ((raised > T(6) ? T(6) : raised) / T(6));
  }
};

struct HardswishGradFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T inside = dy * (x * T(1.0 / 3) + T(0.5));
    const T above = x >= T(3) ? dy : inside;
    return x <= T(-3) ? T(0) : above;
  }
};

struct EluFn {
  using ForHalf = RoughFn<EluFn>;
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
  using ForHalf = RoughFn<EluGradFn>;
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

#endif  // FIRN_TENSOR_OPS_ACTIVATION_RECTIFIERS_FN_H_

#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_FN_H_

#include <limits>

#include "firn/tensor/kernels/math_arc.h"
#include "firn/tensor/kernels/math_half.h"
#include "firn/tensor/kernels/math_log.h"
#include "firn/tensor/kernels/math_trig.h"

namespace firn {

// From so many turns on, the vectorised loop does not take an argument.
struct RareTurns {
  template <class T>
  FIRN_HOST_DEVICE bool IsRare(T x) const {
    return math::internal::HasManyTurns(x);
  }
};

struct SinFn : RareTurns {
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Sin(x); }
  FIRN_HOST_DEVICE auto Usual(auto x) const { return math::internal::SinOfFewTurns(x); }
};

struct CosFn : RareTurns {
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Cos(x); }
  FIRN_HOST_DEVICE auto Usual(auto x) const { return math::internal::CosOfFewTurns(x); }
};

struct TanFn : RareTurns {
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Tan(x); }
  FIRN_HOST_DEVICE auto Usual(auto x) const { return math::internal::TanOfFewTurns(x); }
};

struct AsinFn {
  using ForHalf = RoughFn<AsinFn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Asin(x); }
};

struct AcosFn {
  using ForHalf = RoughFn<AcosFn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Acos(x); }
};

struct AtanFn {
  using ForHalf = RoughFn<AtanFn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Atan(x); }
};

struct SinhFn {
  using ForHalf = RoughFn<SinhFn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Sinh(x); }
};

struct CoshFn {
  using ForHalf = RoughFn<CoshFn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Cosh(x); }
};

struct AsinhFn {
  using Brief = void;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Asinh(x); }
};

struct AcoshFn {
  using Brief = void;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Acosh(x); }
};

struct AtanhFn {
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Atanh(x); }
};

struct Atan2Fn {
  using Brief = void;
  FIRN_HOST_DEVICE auto operator()(auto y, auto x) const { return math::Atan2(y, x); }
};

// dy a / (a^2 + b^2), computed in units of the numbers' own size where squares would leave the
// range; 0 at the origin, which has no angle, like hypot's gradient there.
struct Atan2GradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T a, T b) const {
    constexpr T kLeast = std::numeric_limits<T>::min(), kMost = T(0.25) / kLeast;
    const T width = math::Abs(a), height = math::Abs(b), size = width > height ? width : height;
    // It need not be exact, only a normal number.
    const T inverse = T(1) / size, low = inverse < kLeast ? kLeast : inverse;
    const T clamped = low > kMost ? kMost : low;
    const T small = size < T(0x1p-8) ? clamped : T(1), unit = size > T(0x1p8) ? clamped : small;
    const T x = a * unit, y = b * unit, square = x * x + y * y;
    return dy / (size == T(0) ? T(1) : square) * x * unit;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_FN_H_

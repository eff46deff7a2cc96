#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_FN_H_

#include "firn/tensor/kernels/math_arc.h"
#include "firn/tensor/kernels/math_half.h"
#include "firn/tensor/kernels/math_log.h"
#include "firn/tensor/kernels/math_trig.h"

namespace firn {

// So many turns are not for the loop that becomes vectors.
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

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_FN_H_

#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_SPECIAL_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_SPECIAL_FN_H_

#include "firn/tensor/kernels/math_gamma.h"
#include "firn/tensor/kernels/math_half.h"
#include "firn/tensor/kernels/math_trig.h"

namespace firn {

struct ErfFn {
  using ForHalf = RoughFn<ErfFn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Erf(x); }
};

struct SincFn {
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Sinc(x); }
};

struct SincGradFn {
  FIRN_HOST_DEVICE auto operator()(auto dy, auto x) const { return dy * math::SincSlope(x); }
};

struct LgammaFn {
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Lgamma(x); }
};

struct DigammaFn {
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Digamma(x); }
};

struct DigammaGradFn {
  FIRN_HOST_DEVICE auto operator()(auto dy, auto x) const { return dy * math::Trigamma(x); }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_SPECIAL_FN_H_

#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_FN_H_

#include "firn/tensor/kernels/math_half.h"
#include "firn/tensor/kernels/math_log.h"

namespace firn {

struct ExpFn {
  using ForHalf = RoughFn<ExpFn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Exp(x); }
};

struct Exp2Fn {
  using ForHalf = RoughFn<Exp2Fn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Exp2(x); }
};

struct Expm1Fn {
  using ForHalf = RoughFn<Expm1Fn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Expm1(x); }
};

struct LogFn {
  using ForHalf = RoughFn<LogFn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Log(x); }
};

struct Log1pFn {
  using ForHalf = RoughFn<Log1pFn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Log1p(x); }
};

struct Log2Fn {
  using ForHalf = RoughFn<Log2Fn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Log2(x); }
};

struct Log10Fn {
  using ForHalf = RoughFn<Log10Fn>;
  FIRN_HOST_DEVICE auto operator()(auto x) const { return math::Log10(x); }
};

// log(e^x + e^y) = max(x, y) + log(1 + e^-|x - y|). Two equal infinities have no difference.
struct LogaddexpFn {
  using ForHalf = RoughFn<LogaddexpFn>;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    const T larger = x > y ? x : y;
    const T sum = larger + math::Log1pOfFraction(math::Exp(-math::Abs(x - y)));
    return x == y ? x + T(0.693147180559945309) : sum;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_FN_H_

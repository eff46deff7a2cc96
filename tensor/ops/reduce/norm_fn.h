#ifndef FIRN_TENSOR_OPS_REDUCE_NORM_FN_H_
#define FIRN_TENSOR_OPS_REDUCE_NORM_FN_H_

// The reducers of norms: |x|^p summed, and the root of the sum. See kernels/cpu/reduce.h for what
// a reducer is.

#include <cmath>

#include "device/inner.h"
#include "tensor/kernels/reducers.h"

namespace firn {

template <class T>
struct AbsSum : SumReducer<T> {
  template <class In>
  FIRN_HOST_DEVICE T map(In v) const {
    return std::abs(static_cast<T>(v));
  }
};
template <class T>
struct SquareSum : SumReducer<T> {
  template <class In>
  FIRN_HOST_DEVICE T map(In v) const {
    return static_cast<T>(v) * static_cast<T>(v);
  }
  template <class Out>
  FIRN_HOST_DEVICE Out finish(T a) const {
    return static_cast<Out>(std::sqrt(a));
  }
};
template <class T>
struct NonzeroCount : SumReducer<T> {
  template <class In>
  FIRN_HOST_DEVICE T map(In v) const {
    return static_cast<T>(v) != 0 ? T{1} : T{0};
  }
};
template <class T>
struct PowerSum : SumReducer<T> {
  T p;
  FIRN_HOST_DEVICE explicit PowerSum(double power) : p(static_cast<T>(power)) {}
  template <class In>
  FIRN_HOST_DEVICE T map(In v) const {
    return std::pow(std::abs(static_cast<T>(v)), p);
  }
  template <class Out>
  FIRN_HOST_DEVICE Out finish(T a) const {
    return static_cast<Out>(std::pow(a, 1 / p));
  }
};
template <class T, bool kLargest>
struct AbsExtreme : ExtremeReducer<T, kLargest> {
  template <class In>
  FIRN_HOST_DEVICE T map(In v) const {
    return std::abs(static_cast<T>(v));
  }
};

// f(r) with the reducer of the p-norm.
template <class T, class F>
FIRN_HOST_DEVICE auto VisitNorm(double p, const F& f) {
  if (p == 2) return f(SquareSum<T>());
  if (p == 1) return f(AbsSum<T>());
  if (p == 0) return f(NonzeroCount<T>());
  if (!std::isinf(p)) return f(PowerSum<T>(p));
  return p > 0 ? f(AbsExtreme<T, true>()) : f(AbsExtreme<T, false>());
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_NORM_FN_H_

#ifndef FIRN_TENSOR_OPS_REDUCE_NORM_FN_H_
#define FIRN_TENSOR_OPS_REDUCE_NORM_FN_H_

// The reducers of norms: |x|^p summed, and the root of the sum. kernels/reducers.h defines
// reducers.

#include <cmath>

#include "firn/device/inner.h"
#include "firn/tensor/kernels/reducers.h"

namespace firn {

template <class T>
struct AbsSum : SumReducer<T> {
  FIRN_HOST_DEVICE T map(T v) const { return std::abs(v); }
};
template <class T>
struct SquareSum : SumReducer<T> {
  FIRN_HOST_DEVICE T map(T v) const { return v * v; }
  FIRN_HOST_DEVICE T finish(T a, int64_t) const { return std::sqrt(a); }
};
template <class T>
struct NonzeroCount : SumReducer<T> {
  static constexpr bool kRare = true;
  FIRN_HOST_DEVICE T map(T v) const { return v != 0 ? T{1} : T{0}; }
};
template <class T>
struct PowerSum : SumReducer<T> {
  static constexpr bool kRare = true;
  T p;
  FIRN_HOST_DEVICE explicit PowerSum(double power) : p(static_cast<T>(power)) {}
  FIRN_HOST_DEVICE T map(T v) const { return std::pow(std::abs(v), p); }
  FIRN_HOST_DEVICE T finish(T a, int64_t) const { return std::pow(a, 1 / p); }
};
template <class T, bool kLargest>
struct AbsExtreme : ExtremeReducer<T, kLargest> {
  static constexpr bool kRare = true;
  FIRN_HOST_DEVICE T map(T v) const { return std::abs(v); }
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

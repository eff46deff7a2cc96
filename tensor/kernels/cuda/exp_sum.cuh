#ifndef FIRN_TENSOR_KERNELS_CUDA_EXP_SUM_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_EXP_SUM_CUH_

// The sum of exp(x - largest x) in one pass: when a larger element comes, the sum so far is scaled
// down. Where the largest is infinite, the sum is meaningless.

#include <limits>

#include "firn/tensor/kernels/cuda/runs.cuh"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/reducers.h"

namespace firn::cuda {

template <class T>
struct ExpSum {
  T largest = -std::numeric_limits<T>::infinity();  // NaN where there is one
  T sum = 0;

  FIRN_HOST_DEVICE bool infinite() const {
    return math::Abs(largest) == std::numeric_limits<T>::infinity();
  }
  FIRN_HOST_DEVICE void Add(T x) {
    if (x == -std::numeric_limits<T>::infinity()) return;
    const T d = x - largest, e = math::Exp(-math::Abs(d));
    sum = d > 0 ? sum * e + 1 : sum + e;
    largest = ExtremeReducer<T, true>().combine(largest, x);
  }
  FIRN_HOST_DEVICE friend ExpSum operator+(const ExpSum& a, const ExpSum& b) {
    if (a.largest == -std::numeric_limits<T>::infinity()) return b;
    if (b.largest == -std::numeric_limits<T>::infinity()) return a;
    const T top = ExtremeReducer<T, true>().combine(a.largest, b.largest);
    return {top, a.sum * math::Exp(a.largest - top) + b.sum * math::Exp(b.largest - top)};
  }
};

// The sum of a line, for all members of its team. It is NaN where the largest element is infinite,
// which softmax needs.
template <class Acc, class Team, class T>
FIRN_HOST_DEVICE ExpSum<Acc> ExpSumOfLine(const Team& team, int64_t length, int64_t stride,
                                          const T* x) {
  ExpSum<Acc> s;
  ReadElements(
      team, length, stride, [&](int64_t, T v) { s.Add(static_cast<Acc>(v)); }, x);
  const Acc own = s.largest;
  s.largest =
      team.Reduce(own, [](Acc a, Acc b) { return ExtremeReducer<Acc, true>().combine(a, b); });
  if (own != s.largest) s.sum *= math::Exp(own - s.largest);
  s.sum = team.Reduce(s.sum, [](Acc a, Acc b) { return a + b; });
  if (s.infinite() && length != 0) s.sum = std::numeric_limits<Acc>::quiet_NaN();
  return s;
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_EXP_SUM_CUH_

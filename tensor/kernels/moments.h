#ifndef FIRN_TENSOR_KERNELS_MOMENTS_H_
#define FIRN_TENSOR_KERNELS_MOMENTS_H_

#include <cstdint>

#include "firn/device/inner.h"
#include "firn/device/macros.h"

namespace firn {

// Mean and variance of `count` numbers, in a form that can be joined from parts.
template <class T>
struct Moments {
  T mean, squares;  // squares: the sum of squared deviations from the mean
  int64_t count;
};

// The moments of a's numbers and b's together, by the formula of Chan, Golub and LeVeque ("Updating
// Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979).
template <class T>
FIRN_HOST_DEVICE Moments<T> JoinMoments(const Moments<T>& a, const Moments<T>& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const int64_t count = a.count + b.count;
  const T share = static_cast<T>(b.count) / static_cast<T>(count);
  const T delta = b.mean - a.mean;
  return {a.mean + delta * share,
          a.squares + b.squares + delta * delta * share * static_cast<T>(a.count), count};
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_MOMENTS_H_

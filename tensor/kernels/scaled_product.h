#ifndef FIRN_TENSOR_KERNELS_SCALED_PRODUCT_H_
#define FIRN_TENSOR_KERNELS_SCALED_PRODUCT_H_

// Products whose parts leave the range of their type although the whole does not.

#include <cmath>
#include <cstdint>

#include "firn/device/macros.h"

namespace firn {

// part * 2^exponent, which may exceed T if a factor brings the product back into range.
template <class T>
struct ScaledProduct {
  T part = 1;
  int64_t exponent = 0;

  FIRN_HOST_DEVICE void Times(T v) {
    int of_v = 0, more = 0;
    part = std::frexp(part * std::frexp(v, &of_v), &more);
    exponent += of_v + more;
  }
};

// v * 2^exponent.
template <class T>
FIRN_HOST_DEVICE T TimesPowerOf2(T v, int64_t exponent) {
  constexpr int64_t kMost = 10000;  // leads from the smallest number beyond the largest
  return std::ldexp(v, static_cast<int>(exponent > kMost    ? kMost
                                        : exponent < -kMost ? -kMost
                                                            : exponent));
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_SCALED_PRODUCT_H_

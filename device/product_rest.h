#ifndef FIRN_DEVICE_PRODUCT_REST_H_
#define FIRN_DEVICE_PRODUCT_REST_H_

#include "firn/device/macros.h"

#if !defined(__CUDA_ARCH__)
#include "firn/device/level.h"
#endif

namespace firn::inner {

// a * b, rounded by itself. Device compilers merge a product with the sum that uses it. If they did
// so where the rest is computed, the rest would count twice.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double RoundedProduct(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;  // host compilers merge it into all of its uses or none
#endif
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float RoundedProduct(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

// The rounding error of a product: a * b - p for p = RoundedProduct(a, b), exact unless it lies
// below the smallest double. One instruction where the processor has fused multiply-add; elsewhere
// T. J. Dekker's method, "A floating-point technique for extending the available precision", 1971,
// for factors below 2^995. The code has no branches, so that loops over it become vectors.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double ProductRest(double a, double b, double p) {
#if defined(__CUDA_ARCH__)
  return fma(a, b, -p);
#elif FIRN_HAS_FMA
  return __builtin_fma(a, b, -p);
#else
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double u = kSplit * a, v = kSplit * b;
  const double a_high = u - (u - a), b_high = v - (v - b);
  const double a_low = a - a_high, b_low = b - b_high;
  return ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}
// The same for floats: without fused multiply-add it computes in double, which holds the product.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ProductRest(float a, float b, float p) {
#if defined(__CUDA_ARCH__)
  return fmaf(a, b, -p);
#elif FIRN_HAS_FMA
  return __builtin_fmaf(a, b, -p);
#else
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) -
                            static_cast<double>(p));
#endif
}

}  // namespace firn::inner

#endif  // FIRN_DEVICE_PRODUCT_REST_H_

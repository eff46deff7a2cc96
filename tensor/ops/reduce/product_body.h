#ifndef FIRN_TENSOR_OPS_REDUCE_PRODUCT_BODY_H_
#define FIRN_TENSOR_OPS_REDUCE_PRODUCT_BODY_H_

// The gradient of prod where the product of all elements leaves the range of its type, although
// that of all but one may be in it.

#include <bit>
#include <cstdint>
#include <limits>

#include "firn/device/macros.h"

namespace firn {

// Whether a product of numbers that are not 0 has left the range, or lacks digits; NaN where parts
// of it left both ends.
template <class Acc>
FIRN_HOST_DEVICE constexpr bool IsFarProduct(Acc product) {
  const Acc size = product < 0 ? -product : product;
  return !(size >= std::numeric_limits<Acc>::min() && size <= std::numeric_limits<Acc>::max());
}

// part * 2^exponent: a number with f64's digits and any exponent. Nothing here is a call, or a
// branch that depends on the signs of numbers, either of which costs more than all else.
struct FarNumber {
  double part = 1;
  int64_t exponent = 0;

  // v, whose part is between 2^-474 and 2^424.
  static FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE FarNumber Of(double v) {
    const int64_t e = Exponent(v);
    const bool large = e > 300, small = e < -300;
    const double unit = large ? 0x1p-600 : small ? 0x1p600 : 1.0;
    return {v * unit, large ? 600 : small ? -600 : 0};
  }
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void Times(double v) {
    const FarNumber f = Of(v), all = Of(part * f.part);
    part = all.part;
    exponent += f.exponent + all.exponent;
  }
  // This over v, times d, for a result of type Acc. Results that round to 0 are not computed:
  // subnormal numbers take a processor a hundred times as long.
  template <class Acc>
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Over(double v, double d) const {
    const FarNumber f = Of(v), g = Of(d), ratio = Of(part / f.part);
    const double digits = ratio.part * g.part;
    const int64_t e = exponent - f.exponent + ratio.exponent + g.exponent;
    constexpr int64_t kLeast = sizeof(Acc) == sizeof(double) ? -1076 : -151, kMost = 2040;
    const int64_t size = Exponent(digits);
    const bool vanishes = (size < 1024) & (size + e < kLeast);
    const int64_t above = e < -kMost ? -kMost : e, near = above > kMost ? kMost : above;
    const int64_t half = near / 2;
    return (vanishes ? 0 : digits) * PowerOf2(half) * PowerOf2(near - half);
  }

 private:
  // The exponent of a number that is not subnormal; 1024 for those that are not finite.
  static FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE int64_t Exponent(double v) {
    return static_cast<int64_t>(std::bit_cast<uint64_t>(v) << 1 >> 53) - 1023;
  }
  static FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double PowerOf2(int64_t n) {  // |n| <= 1022
    return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
  }
};

// The product of the elements x(i) that are not 0.
template <class In>
FIRN_HOST_DEVICE FarNumber FarProduct(int64_t n, const In& x) {
  FarNumber all;
  for (int64_t i = 0; i < n; ++i) {
    const double v = x(i);
    all.Times(v == 0 ? 1 : v);
  }
  return all;
}

// dy times the product of all elements but v, of which `zeros` are 0 and `all` is the product of
// the others. Returns false where some are NaN.
template <class Acc>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool FarGrad(const FarNumber& all, double zeros, double v,
                                                 double dy, Acc& dx) {
  const double size = all.part < 0 ? -all.part : all.part;
  if (!(size <= std::numeric_limits<double>::max())) return false;
  const bool takes = zeros == 0 || (zeros == 1 && v == 0);
  dx = takes ? static_cast<Acc>(all.Over<Acc>(zeros == 0 ? v : 1, dy)) : Acc{0};
  return true;
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_PRODUCT_BODY_H_

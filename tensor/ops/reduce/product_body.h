#ifndef FIRN_TENSOR_OPS_REDUCE_PRODUCT_BODY_H_
#define FIRN_TENSOR_OPS_REDUCE_PRODUCT_BODY_H_

// The gradient of prod where the product of all elements leaves the range of its type, although
// that of all but one may be in it.

#include <cmath>
#include <cstdint>
#include <limits>

#include "firn/device/macros.h"

namespace firn {

// Whether a product of numbers that are not 0 has left the range, or lacks digits.
template <class Acc>
FIRN_HOST_DEVICE constexpr bool IsFarProduct(Acc product) {
  const Acc size = product < 0 ? -product : product;
  return size < std::numeric_limits<Acc>::min() || size > std::numeric_limits<Acc>::max();
}

// A number with f64's digits and any exponent.
struct FarNumber {
  double part = 1;
  int64_t exponent = 0;

  FIRN_HOST_DEVICE void Times(double v) {
    int of_v = 0, of_all = 0;
    part = std::frexp(part * std::frexp(v, &of_v), &of_all);
    exponent += of_v + of_all;
  }
  // This over v, times d.
  FIRN_HOST_DEVICE double Over(double v, double d) const {
    int of_v = 0, of_d = 0;
    const double digits = part / std::frexp(v, &of_v) * std::frexp(d, &of_d);
    const int64_t e = exponent - of_v + of_d, most = 5000;  // far beyond those of f64
    return std::ldexp(digits, static_cast<int>(e < -most ? -most : e > most ? most : e));
  }
};

// The product of the elements x(i) that are not 0.
template <class In>
FIRN_HOST_DEVICE FarNumber FarProduct(int64_t n, const In& x) {
  FarNumber all;
  for (int64_t i = 0; i < n; ++i) {
    const double v = x(i);
    if (v != 0) all.Times(v);
  }
  return all;
}

// dy times the product of all elements but v, of which `zeros` are 0 and `all` is the product of
// the others. False where some are no numbers.
FIRN_HOST_DEVICE inline bool FarGrad(const FarNumber& all, double zeros, double v, double dy,
                                     double& dx) {
  const double size = all.part < 0 ? -all.part : all.part;
  if (!(size <= 1)) return false;
  const bool takes = zeros == 0 || (zeros == 1 && v == 0);
  dx = takes ? all.Over(zeros == 0 ? v : 1, dy) : 0;
  return true;
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_PRODUCT_BODY_H_

#ifndef FIRN_TENSOR_OPS_OPTIMIZER_CLIP_FN_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_CLIP_FN_H_

#include <cmath>

#include "firn/device/macros.h"

namespace firn {

// Partial p-norms before the root, in f64: sum |x|^p, or, for p = infinity, max |x|, NaN where
// there is one.
struct PartialNormFn {
  double p;
  FIRN_HOST_DEVICE double operator()(double a, double b) const {
    if (!std::isinf(p)) return a + b;
    return std::isnan(a) || a > b ? a : b;
  }
  FIRN_HOST_DEVICE double Of(double x) const {
    if (p == 2) return x * x;
    const double v = std::fabs(x);
    return p == 1 || std::isinf(p) ? v : std::pow(v, p);
  }
  FIRN_HOST_DEVICE double Root(double total) const {
    if (std::isinf(p)) return total;
    return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
  }
};

// The factor for tensors with that norm, which are multiplied by it where it is below 1; NaN for
// NaN.
FIRN_HOST_DEVICE inline double ClipFactor(double max_norm, double norm) {
  return max_norm / (norm + 1e-6);
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_CLIP_FN_H_

#ifndef FIRN_TENSOR_OPS_POOL_LP_POOL_H_
#define FIRN_TENSOR_OPS_POOL_LP_POOL_H_

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct LpPoolOptions {
  Sizes kernel = 2;
  Sizes stride = {};  // default: the kernel
  bool ceil_mode = false;
};

namespace inner {
// Throws unless p is positive and the kernel has positive sizes for so many dimensions.
void CheckLpPool(int dims, double p, const Sizes& kernel, const char* where);
}  // namespace inner

// The power mean of each window, times the size of the kernel (PyTorch's lp_pool2d):
//   y = (k mean_window(x^p))^(1 / p), k the number of taps, which is the p-norm of a whole window
// of numbers that are not negative. x^p takes no absolute value, so negative x need an even p.
// x: [n, c, h, w]      y: [n, c, (h - k) / s + 1, ...], rounded up with ceil_mode
// x may lack its batch; y then lacks it, too. Throws for p that is not positive, and AvgPool2d's
// errors.
Tensor LpPool2d(const Tensor& x, inner::Real p, const LpPoolOptions& options);

// The same along one dimension. x: [n, c, w] or [c, w]
Tensor LpPool1d(const Tensor& x, inner::Real p, const LpPoolOptions& options);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POOL_LP_POOL_H_

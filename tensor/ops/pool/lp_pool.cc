// lp_pool1d, lp_pool2d: powers of averages of powers, in double, which holds powers that x's dtype
// does not, at twice the memory of f32. A window that hangs over the end (ceil_mode) counts as a
// whole one with its average, as in PyTorch.

#include "firn/tensor/ops/pool/lp_pool.h"

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/problems/images.h"

namespace firn {
namespace {

Tensor LpPool(int dims, const Tensor& x, double p, const LpPoolOptions& o, const char* name) {
  CheckLpPool(dims, p, o.kernel, name);
  const AvgPoolOptions windows = {.kernel = o.kernel, .stride = o.stride, .ceil_mode = o.ceil_mode};
  const bool narrow = x.defined() && IsFloating(x.dtype()) && x.dtype() != DType::kF64;
  const Tensor powers = Pow(narrow ? Cast(x, DType::kF64) : x, p);
  const Tensor means = dims == 1 ? AvgPool1d(powers, windows) : AvgPool2d(powers, windows);
  // The gradient of a window of zeros is 0, like that of a norm of 0.
  const Tensor sums = Mul(means, o.kernel.Over(dims).volume()), zero = Eq(sums, 0);
  const Tensor norms = Where(zero, 0.0, Pow(Where(zero, 1.0, sums), 1 / p));
  return narrow ? Cast(norms, x.dtype()) : norms;
}

}  // namespace

void inner::CheckLpPool(int dims, double p, const Sizes& kernel, const char* where) {
  if (!(p > 0)) RaiseStatus(InvalidArgument("p is ", p, " (want a positive number)"), where);
  RaiseIfError(internal::CheckedOption("kernel", kernel, 1, dims).status(), where);
}

Tensor LpPool1d(const Tensor& x, Real p, const LpPoolOptions& o) {
  return LpPool(1, x, p, o, "lp_pool1d");
}

Tensor LpPool2d(const Tensor& x, Real p, const LpPoolOptions& o) {
  return LpPool(2, x, p, o, "lp_pool2d");
}

}  // namespace firn

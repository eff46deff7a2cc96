// pow and pow_number. A number's shortcuts share a loop: which one it is, is a number of the call.
#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/pow.h"
#include "tensor/ops/pow_fn.h"

namespace firn::pow_cuda {
namespace {

struct PowAnyNumberFn {
  using Attrs = PowNumberAttrs;
  explicit PowAnyNumberFn(const PowNumberAttrs& a) : any(a) {
    for (double e : {3.0, 0.5, -0.5, -1.0, -2.0}) {
      if (a.exponent == e) halves = static_cast<int>(2 * e);
    }
  }
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    switch (halves) {
      case 6:
        return CubeFn()(x);
      case 1:
        return PowHalfFn()(x);
      case -1:
        return PowMinusHalfFn()(x);
      case -2:
        return PowMinusOneFn()(x);
      case -4:
        return PowMinusTwoFn()(x);
      default:
        return any(x);
    }
  }
  PowNumberFn any;
  int halves = 0;  // the exponent's, where there is a shortcut
};

FIRN_REGISTER_KERNELS(pow) { return cuda::NumericKernels<PowFn, 2>(); }
FIRN_REGISTER_KERNELS(pow_number) { return cuda::FloatKernels<PowAnyNumberFn>(); }

}  // namespace
}  // namespace firn::pow_cuda

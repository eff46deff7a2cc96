// div: one loop a dtype, with the rounding as a number of the call. Nobody looks for zeros among
// integers, for the host would have to wait: an integer divided by 0 is 0 here.
#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/div.h"
#include "tensor/ops/div_fn.h"

namespace firn::div_cuda {
namespace {

struct DivAnyFn {
  using Attrs = DivAttrs;
  explicit DivAnyFn(const DivAttrs& a) : rounding(a.rounding) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      if (y == T{0}) return T{0};
    } else {
      if (rounding == DivRounding::kNone) return DivFn()(x, y);
    }
    return rounding == DivRounding::kTrunc ? DivTruncFn()(x, y) : DivFloorFn()(x, y);
  }
  DivRounding rounding;
};

FIRN_REGISTER_KERNELS(div) { return cuda::NumericKernels<DivAnyFn, 2>(); }

}  // namespace
}  // namespace firn::div_cuda

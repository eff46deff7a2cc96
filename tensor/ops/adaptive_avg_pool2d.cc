// adaptive_avg_pool2d: avg_pool2d with adaptive windows.

#include "tensor/ops/adaptive_avg_pool2d.h"

#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/ops/avg_pool2d.h"

namespace firn {

Tensor AdaptiveAvgPool2d(const Tensor& x, Size2 output_size) {
  if (output_size.h < 1 || output_size.w < 1) {
    RaiseStatus(
        InvalidArgument("output_size (", output_size.h, ", ", output_size.w, ") (want >= 1)"),
        "adaptive_avg_pool2d");
  }
  return AvgPool2dWith(x, PoolAttrs{.adaptive = output_size});
}

}  // namespace firn

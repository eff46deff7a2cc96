// adaptive_avg_pool2d: avg_pool2d with adaptive windows.

#include "tensor/ops/adaptive_avg_pool2d.h"

#include "tensor/conv.h"
#include "tensor/error.h"
#include "tensor/ops/avg_pool2d.h"
#include "tensor/pool.h"

namespace firn {

Tensor AdaptiveAvgPool2d(const Tensor& x, Size2 output_size) {
  // Size 0 would mean windows that are not adaptive.
  RaiseIfError(internal::CheckOption("output_size", output_size, 1), "adaptive_avg_pool2d");
  return AvgPool2dWith(x, PoolAttrs{.adaptive = output_size});
}

}  // namespace firn

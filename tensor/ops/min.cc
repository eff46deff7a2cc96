// min along a dimension: argmin, and the elements gathered there.

#include "tensor/ops/min.h"

#include "tensor/ops/argmin.h"
#include "tensor/reduction.h"

namespace firn {

ValuesAndIndices Min(const Tensor& x, int64_t dim, bool keepdim) {
  return PickedAlong(x, Argmin(x, dim, true), dim, keepdim);
}

}  // namespace firn

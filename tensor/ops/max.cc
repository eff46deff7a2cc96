// max along a dimension: argmax, and the elements gathered there.

#include "tensor/ops/max.h"

#include "tensor/ops/argmax.h"
#include "tensor/reduction.h"

namespace firn {

ValuesAndIndices Max(const Tensor& x, int64_t dim, bool keepdim) {
  return PickedAlong(x, Argmax(x, dim, true), dim, keepdim);
}

}  // namespace firn

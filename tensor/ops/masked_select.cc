// masked_select: composed of nonzero and index_select on the flattened tensors.

#include "tensor/ops/masked_select.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/ops/expand.h"
#include "tensor/ops/flatten.h"
#include "tensor/ops/index_select.h"
#include "tensor/ops/nonzero.h"
#include "tensor/ops/select.h"

namespace firn {

Tensor MaskedSelect(const Tensor& x, const Tensor& mask) {
  CheckDefined(x, "masked_select");
  CheckDefined(mask, "masked_select", "mask");
  if (mask.dtype() != DType::kBool) {
    RaiseStatus(InvalidArgument("mask must be bool, got ", mask.spec().ToString()),
                "masked_select");
  }
  const absl::StatusOr<Shape> shape = BroadcastShapes(x.shape(), mask.shape());
  RaiseIfError(shape.status(), "masked_select");
  const Tensor where = Select(Nonzero(Flatten(Expand(mask, *shape))), 1, 0);
  return IndexSelect(Flatten(Expand(x, *shape)), 0, where);
}

}  // namespace firn

// masked_fill: where with the value in x's dtype; not an operation of its own.

#include "tensor/ops/masked_fill.h"

#include "device/status_macros.h"
#include "tensor/elementwise.h"
#include "tensor/error.h"
#include "tensor/ops/where.h"

namespace firn {

Tensor MaskedFill(const Tensor& x, const Tensor& mask, const Tensor& value) {
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), "masked_fill");
  if (!value.defined() || value.rank() != 0) {
    RaiseStatus(InvalidArgument("value must be a number or a 0-d tensor, got ",
                                value.defined() ? value.spec().ToString() : "an undefined tensor"),
                "masked_fill");
  }
  return Where(mask, AsDType(value, x.dtype(), x.device()), x);
}

}  // namespace firn

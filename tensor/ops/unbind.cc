// unbind: composed of selects.

#include "tensor/ops/unbind.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/ops/select.h"

namespace firn {

std::vector<Tensor> Unbind(const Tensor& x, int dim) {
  CheckDefined(x, "unbind");
  RaiseIfError(NormalizeDim(dim, x.shape()).status(), "unbind");
  if (x.rank() == 0)
    RaiseStatus(InvalidArgument("x is 0-d: it has no dimension to drop"), "unbind");
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < x.shape().dim(dim); ++i) parts.push_back(Select(x, dim, i));
  return parts;
}

}  // namespace firn

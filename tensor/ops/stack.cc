// stack: composed of unsqueeze and concat.

#include "tensor/ops/stack.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/ops/concat.h"
#include "tensor/ops/unsqueeze.h"

namespace firn {

Tensor Stack(const std::vector<Tensor>& tensors, int dim) {
  if (tensors.empty()) RaiseStatus(InvalidArgument("takes at least 1 tensors, got 0"), "stack");
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    CheckDefined(t, "stack", "a tensor");
    if (t.shape() != tensors[0].shape()) {
      RaiseStatus(InvalidArgument("tensor ", parts.size(), " ", t.shape().ToString(),
                                  " and tensor 0 ", tensors[0].shape().ToString(), " differ"),
                  "stack");
    }
    parts.push_back(Unsqueeze(t, dim));
  }
  return Concat(parts, dim);
}

}  // namespace firn

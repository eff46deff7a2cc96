// conv1d: conv2d of images of height 1.

#include "tensor/ops/conv1d.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/ops/squeeze.h"
#include "tensor/ops/unsqueeze.h"

namespace firn {
namespace {

void CheckRank(const Tensor& t, const char* name) {
  CheckDefined(t, "conv1d", name);
  if (t.rank() == 3) return;
  RaiseStatus(InvalidArgument(name, " must have 3 dimensions, got ", t.spec().ToString()),
              "conv1d");
}

}  // namespace

Tensor Conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv1dOptions& options) {
  CheckRank(x, "x");
  CheckRank(weight, "weight");
  const ConvPadding& p = options.padding;
  const Conv2dOptions in_two{.stride = {1, options.stride},
                             .padding = p.same ? kSame : ConvPadding(0, p.size.w),
                             .dilation = {1, options.dilation},
                             .groups = options.groups};
  return Squeeze(Conv2d(Unsqueeze(x, 2), Unsqueeze(weight, 2), bias, in_two), 2);
}

}  // namespace firn

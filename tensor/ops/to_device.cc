// to_device: there is one CPU, so nothing is ever copied in a build without CUDA.

#include "tensor/ops/to_device.h"

#include "device/status_macros.h"
#include "tensor/apply.h"
#include "tensor/error.h"

namespace firn {

Tensor ToDevice(const Tensor& x, Device device) {
  CheckDefined(x, "to_device");
  if (x.device() == device) return x;
  RaiseStatus(
      Unavailable("no device ", device.ToString(), " in this build; x is ", x.spec().ToString()),
      "to_device");
}

}  // namespace firn

// to_device: the same elements in the memory of another device. The copy is queued on the CUDA
// device that takes part in it, so it needs no waiting but where it ends on the host.

#include "tensor/ops/to_device.h"

#include "device/context.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/op.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const ToDeviceAttrs& a = c.attrs<ToDeviceAttrs>();
  FIRN_RETURN_IF(a.device_type != DeviceType::kCpu && a.device_type != DeviceType::kCuda,
                 InvalidArgument("no device has type ", static_cast<int>(a.device_type)));
  c.device = Device{a.device_type, a.device_index};
  FIRN_RETURN_IF_ERROR(GetDeviceContext(c.device).status());
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const Device from = k.in_spec(0).device, to = k.out_spec().device;
  const size_t bytes = static_cast<size_t>(k.out_spec().bytes());
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const source, GetDeviceContext(from));
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const target, GetDeviceContext(to));
  if (from.type == to.type) {
    return target->CopyFromDevice(k.out<void>(), *source, k.in<void>(0), bytes);
  }
  if (to.is_cuda()) return target->CopyFromHost(k.out<void>(), k.in<void>(0), bytes);
  return source->CopyToHost(k.out<void>(), k.in<void>(0), bytes);
}

void Grad(GradContext& g) {
  g.set_grad_input(0, ToDevice(g.grad_output(), g.input_spec(0).device));
}

FIRN_REGISTER_OP(to_device) {
  return {
      .name = "to_device",
      .doc = "The same elements on another device.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ToDeviceAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .graph_capturable = false}),
  };
}

}  // namespace

Tensor ToDevice(const Tensor& x, Device device) {
  static const OpDef& op = Op("to_device");
  CheckDefined(x, op.name);
  if (x.device() == device) return x;
  return Apply1(op, {x}, ToDeviceAttrs{device.type, device.index});
}

}  // namespace firn

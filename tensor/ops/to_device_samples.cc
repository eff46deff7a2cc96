#include "tensor/ops/to_device.h"
#include "tensor/samples.h"

// Copies between devices: tests/tensor/cuda_tensor_test.cc.
namespace firn::testing {

FIRN_REGISTER_SAMPLES(to_device) {
  s.Reference([](double x) { return x; });
  s.Add("a matrix", {Normal({3, 5})}, ToDeviceAttrs());
  s.Add("a scalar", {Normal({})}, ToDeviceAttrs());
  s.Add("nothing", {Normal({0, 3})}, ToDeviceAttrs());
  s.Add("channels", {Normal({2, 8, 3, 3})}, ToDeviceAttrs());
  s.Add("integers", {Integers({5}, -9, 9)}, ToDeviceAttrs());
  s.Add("bool", {Booleans({5})}, ToDeviceAttrs());
  s.AddLarge("4M", {Normal({2048, 2048})}, ToDeviceAttrs(), 0, 33.6e6);
  s.AddError("no such device", {Normal({3})}, ToDeviceAttrs{DeviceType::kCpu, 1},
             "device cpu:1 does not exist; there is one cpu");
  s.AddError("no such type", {Normal({3})}, ToDeviceAttrs{static_cast<DeviceType>(7), 0},
             "no device has type 7");
  s.AddError("undefined", {Tensor()}, ToDeviceAttrs(), "x is an undefined tensor");
}

}  // namespace firn::testing

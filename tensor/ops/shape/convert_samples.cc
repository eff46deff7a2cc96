//
// Copies between devices: tests/tensor/cuda_tensor_test.cc.

#include <algorithm>
#include <cmath>

#include "firn/device/cpu.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

double Converted(double v, DType to) {
  const auto integer = [v](double low, double high) {
    return std::isnan(v) ? 0 : std::clamp(std::trunc(v), low, high);
  };
  switch (to) {
    case DType::kBool:
      return v != 0;
    case DType::kI8:
      return integer(-128, 127);
    case DType::kU8:
      return integer(0, 255);
    case DType::kI32:
      return integer(-2147483648.0, 2147483647.0);
    case DType::kI64:
      return integer(-0x1p63, 0x1p63);
    default:
      return v;
  }
}

FIRN_REGISTER_SAMPLES(cast) {
  s.Function([](In in, const CastAttrs& a) { return Cast(in[0], a.dtype); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor out = in[0];
    for (double& v : out.values) v = Converted(v, attrs.get<CastAttrs>().dtype);
    return std::vector<RefTensor>{out};
  });
  for (DType to : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32,
                   DType::kI64, DType::kU8, DType::kBool}) {
    const std::string name = DTypeName(to);
    // Gradients are checked where the result is as precise as differences need.
    s.Add("floats to " + name, {Normal({3, 5})}, CastAttrs{to}).check_gradient = to == DType::kF64;
    s.Add("integers to " + name, {Integers({7}, 0, 100)}, CastAttrs{to});
    s.Add("bool to " + name, {Booleans({7})}, CastAttrs{to});
    s.Add("extremes to " + name, {Values({0.0, -0.0, 300, 1e30, -1e30, NAN, INFINITY, -INFINITY})},
          CastAttrs{to})
        .check_gradient = false;
  }
  s.Add("channels", {Normal({2, 8, 3, 3})}, CastAttrs{DType::kF64});
  s.AddLarge("4M to f16", {Normal({2048, 2048})}, CastAttrs{DType::kF16}, 0, 25.2e6);
}

FIRN_REGISTER_SAMPLES(to_device) {
  s.WithoutVectors("there is one device in the test");
  s.Function([](In in, const ToDeviceAttrs& a) {
    return ToDevice(in[0], {a.device_type, a.device_index});
  });
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

FIRN_REGISTER_SAMPLES(reorder) {
  s.Internal("changes the layout that a kernel does not take");
  s.Reference([](double x) { return x; });
  s.Add("to row-major", {Normal({2, 16, 3})}, ReorderAttrs{});
  s.Add("to blocks", {Normal({2, 32, 3, 5})}, ReorderAttrs{.channel_block = ChannelBlock()});
  s.Add("a scalar", {Normal({})}, ReorderAttrs{});
  s.Add("to NHWC", {Normal({2, 24, 3, 5})}, ReorderAttrs{.channel_block = 24});
  s.Add("integers", {Integers({2, 16, 2}, -5, 5)}, ReorderAttrs{.channel_block = ChannelBlock()});
  s.Add("bool", {Booleans({2, 16, 3})}, ReorderAttrs{.channel_block = ChannelBlock()});
  s.AddError("channels", {Normal({2, 12, 5})}, ReorderAttrs{.channel_block = 8},
             "has no channels in blocks of 8");
  s.AddError("rank", {Normal({16, 16})}, ReorderAttrs{.channel_block = 8},
             "has no channels in blocks of 8");
  s.AddError("block", {Normal({2, 16, 3})}, ReorderAttrs{.channel_block = -8}, "channel_block -8");
}

}  // namespace
}  // namespace firn::testing

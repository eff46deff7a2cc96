#ifndef FIRN_TESTS_OPS_ON_DEVICE_H_
#define FIRN_TESTS_OPS_ON_DEVICE_H_

// Calls and samples on another device than the CPU. Checks run where the inputs lie.

#include <vector>

#include "firn/device/device.h"
#include "firn/tensor/tensor.h"
#include "firn/tensor/testing/samples.h"
#include "tests/ops/calls.h"

namespace firn::testing {

// The storage of a CPU tensor on the device, seen through the same strides.
Tensor OnDevice(const Tensor& t, Device device);
// The call with all inputs on the device. Factories say in their attributes where the result goes.
Call OnDevice(const Call& call, Device device);
void MoveTo(Device device, Samples* samples);

// The device on which a call runs: that of its inputs, or of its attributes.
Device DeviceOf(const Call& call);

// Copies of a device's memory on the host: read after all queued work, and written back.
std::vector<unsigned char> ReadBytes(Device device, const void* data, size_t bytes);
void WriteBytes(Device device, void* data, const std::vector<unsigned char>& bytes);

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_ON_DEVICE_H_

// Moving samples between devices.

#include "tests/ops/on_device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "firn/device/context.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/storage.h"

namespace firn::testing {
namespace {

// Sets the device in an operation's attributes, or finds it.
class DeviceField final : public AttrVisitor {
 public:
  explicit DeviceField(const Device* to) : to_(to) {}
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override {
    if (std::strcmp(name, "device_type") != 0) return;
    if (to_ != nullptr) v = static_cast<int64_t>(to_->type);
    found.type = static_cast<DeviceType>(v);
  }
  void Field(const char*, double&) override {}
  void Field(const char*, bool&) override {}
  void Field(const char*, std::string&) override {}
  void Field(const char*, std::vector<int64_t>&) override {}

  Device found;

 private:
  const Device* to_;
};

void Visit(Attrs& attrs, DeviceField& field) {
  if (const AttrsType* type = attrs.ref().type()) type->visit(attrs.mutable_data(), field);
}

}  // namespace

Tensor OnDevice(const Tensor& t, Device device) {
  if (!t.defined()) return t;
  const Storage& storage = *t.impl()->storage;
  const auto bytes = static_cast<int64_t>(storage.bytes());
  const Tensor copy = *AllocateTensor(TensorSpec::Contiguous(DType::kU8, {bytes}, device));
  DeviceContext& context = **GetDeviceContext(device);
  EXPECT_TRUE(context.CopyFromHost(copy.impl()->data, storage.data(), storage.bytes()).ok());
  TensorSpec spec = t.spec();
  spec.device = device;
  return WrapStorage(copy.impl()->storage,
                     copy.impl()->data + (t.impl()->data - static_cast<char*>(storage.data())),
                     spec);
}

Call OnDevice(const Call& call, Device device) {
  Call there{call.name, {}, call.attrs};
  for (const Tensor& t : call.inputs) there.inputs.push_back(OnDevice(t, device));
  DeviceField field(&device);
  Visit(there.attrs, field);
  return there;
}

void MoveTo(Device device, Samples* samples) {
  for (Sample& sample : samples->samples) {
    Call there = OnDevice(Call{sample.name, sample.inputs, sample.attrs}, device);
    sample.inputs = std::move(there.inputs);
    sample.attrs = std::move(there.attrs);
  }
}

Device DeviceOf(const Call& call) {
  for (const Tensor& t : call.inputs) {
    if (t.defined()) return t.device();
  }
  DeviceField field(nullptr);
  Attrs attrs = call.attrs;
  Visit(attrs, field);
  return field.found;
}

std::vector<unsigned char> ReadBytes(Device device, const void* data, size_t bytes) {
  std::vector<unsigned char> read(bytes);
  EXPECT_TRUE((*GetDeviceContext(device))->CopyToHost(read.data(), data, bytes).ok());
  return read;
}

void WriteBytes(Device device, void* data, const std::vector<unsigned char>& bytes) {
  EXPECT_TRUE((*GetDeviceContext(device))->CopyFromHost(data, bytes.data(), bytes.size()).ok());
}

}  // namespace firn::testing

// Files hold graphs as the CPU would have them; these bring a graph there and to another device.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/graph/internal/graph_file_format.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/pending.h"

namespace firn::io {
namespace {

// Operations without arguments, and copies between devices, name a device in their attributes.
class DeviceFields final : public AttrVisitor {
 public:
  explicit DeviceFields(Device to) : to_(to) {}
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override {
    if (std::string_view(name) == "device_type") v = static_cast<int64_t>(to_.type);
    if (std::string_view(name) == "device_index") v = to_.index;
  }
  void Field(const char*, double&) override {}
  void Field(const char*, bool&) override {}
  void Field(const char*, std::string&) override {}
  void Field(const char*, std::vector<int64_t>&) override {}

 private:
  const Device to_;
};

}  // namespace

absl::StatusOr<Device> OneDeviceOf(const Graph& graph) {
  std::optional<Device> device;
  for (const Buffer& b : graph.buffers) {
    FIRN_RETURN_IF(device && *device != b.device,
                   Unimplemented("graph files are for one device, and this graph uses ",
                                 device->ToString(), " and ", b.device.ToString()));
    device = b.device;
  }
  return device.value_or(Device());
}

void MoveGraph(Device to, Graph* graph) {
  for (Buffer& b : graph->buffers) b.device = to;
  for (Value& v : graph->values) v.spec.device = to;
  DeviceFields fields(to);
  for (Instr& instr : graph->instrs) {
    if (const AttrsType* type = instr.attrs.ref().type()) {
      type->visit(instr.attrs.mutable_data(), fields);
    }
  }
}

absl::Status BringTensorsToHost(Graph* graph) {
  for (Value& v : graph->values) {
    if (!v.bound.defined() || v.bound.device().is_cpu()) continue;
    FIRN_RETURN_IF(IsPending(v.bound), FailedPrecondition("a state ", v.spec.ToString(),
                                                          " of the graph has no elements now"));
    v.bound = v.bound.Detach().To(Device::Cpu());
  }
  return absl::OkStatus();
}

}  // namespace firn::io

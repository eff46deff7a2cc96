// Devices that a file names for its nodes: they are checked against the format, and not kept.
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_message.h"

namespace firn::io::internal {
namespace {

// The fields of a message of each kind: text, one number or many, or messages.
struct Known {
  OnnxDevices message;
  int number;
  const char* name;
  enum { kText, kTexts, kNumber, kNumbers, kMessages } kind;
  OnnxDevices of = OnnxDevices::kNode;
};

constexpr Known kKnown[] = {
    {OnnxDevices::kConfiguration, 1, "name", Known::kText},
    {OnnxDevices::kConfiguration, 2, "num_devices", Known::kNumber},
    {OnnxDevices::kConfiguration, 3, "device", Known::kTexts},
    {OnnxDevices::kNode, 1, "configuration_id", Known::kText},
    {OnnxDevices::kNode, 2, "sharding_spec", Known::kMessages, OnnxDevices::kSharding},
    {OnnxDevices::kNode, 3, "pipeline_stage", Known::kNumber},
    {OnnxDevices::kSharding, 1, "tensor_name", Known::kText},
    {OnnxDevices::kSharding, 2, "device", Known::kNumbers},
    {OnnxDevices::kSharding, 3, "index_to_device_group_map", Known::kMessages,
     OnnxDevices::kGroups},
    {OnnxDevices::kSharding, 4, "sharded_dim", Known::kMessages, OnnxDevices::kShardedDim},
    {OnnxDevices::kGroups, 1, "key", Known::kNumber},
    {OnnxDevices::kGroups, 2, "value", Known::kNumbers},
    {OnnxDevices::kShardedDim, 1, "axis", Known::kNumber},
    {OnnxDevices::kShardedDim, 2, "simple_sharding", Known::kMessages,
     OnnxDevices::kSimpleSharding},
    {OnnxDevices::kSimpleSharding, 1, "dim_value", Known::kNumber},
    {OnnxDevices::kSimpleSharding, 2, "dim_param", Known::kText},
    {OnnxDevices::kSimpleSharding, 3, "num_shards", Known::kNumber},
};

absl::Status SkipKnown(const Known& known, OnnxField& field) {
  std::string text;
  std::vector<std::string> texts;
  int64_t number = 0;
  switch (known.kind) {
    case Known::kText:
      return field.Name(known.name, &text);
    case Known::kTexts:
      return field.Names(known.name, &texts);
    case Known::kNumber:
      return field.Integer(known.name, &number);
    case Known::kNumbers:
      return field.Count(known.name, WireType::kVarint, &number);
    case Known::kMessages:
      return field.Skip(known.name, known.of);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status OnnxField::Skip(const char* name, OnnxDevices kind) {
  FIRN_RETURN_IF_ERROR(Expect({&within_, name}, WireType::kBytes));
  OnnxSkipped skipped = {kind};
  return ReadOnnx(source_, {&within_, name}, field_.bytes, &skipped);
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxSkipped* out) {
  return ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    for (const Known& known : kKnown) {
      if (known.message == out->kind && known.number == field.number()) {
        return SkipKnown(known, field);
      }
    }
    return field.Unknown();
  });
}

}  // namespace firn::io::internal

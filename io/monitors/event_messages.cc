// Unknown fields are left out, as in protocol buffers. Values without a tag and nodes without a
// name are dropped, so that memory stays in proportion to the file: otherwise two bytes would be
// enough for each.
#include "firn/io/monitors/event_messages.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/wire/internal/wire.h"

namespace firn::io {
namespace {

using internal::LittleEndian;
using internal::WireField;
using internal::WireReader;
using internal::WireType;

// Calls f(field) for each field of a message, which may fail. Errors get the message's name.
template <class F>
absl::Status ForEachField(std::string_view message, const char* name, F f) {
  WireReader reader(message);
  while (!reader.AtEnd()) {
    absl::StatusOr<WireField> field = reader.Next();
    absl::Status status = field.status();
    if (status.ok()) status = f(*field);
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

// DataLoss unless the field has the type that the message's definition gives it.
absl::Status Expect(const WireField& field, WireType type) {
  FIRN_RETURN_IF(field.type != type,
                 DataLoss("offset ", field.offset, ", field ", field.number, ": expected type ",
                          static_cast<int>(type), ", got ", static_cast<int>(field.type)));
  return absl::OkStatus();
}

// Calls f(bytes) for a field that is a message.
template <class F>
absl::Status Message(const WireField& field, F f) {
  FIRN_RETURN_IF_ERROR(Expect(field, WireType::kBytes));
  return f(field.bytes);
}

absl::Status ReadBytes(const WireField& field, std::string* out) {
  FIRN_RETURN_IF_ERROR(Expect(field, WireType::kBytes));
  *out = field.bytes;
  return absl::OkStatus();
}

absl::Status ReadView(const WireField& field, std::string_view* out) {
  FIRN_RETURN_IF_ERROR(Expect(field, WireType::kBytes));
  *out = field.bytes;
  return absl::OkStatus();
}

absl::Status ReadInteger(const WireField& field, int64_t* out) {
  FIRN_RETURN_IF_ERROR(Expect(field, WireType::kVarint));
  *out = static_cast<int64_t>(field.value);
  return absl::OkStatus();
}

absl::Status ReadFloat(const WireField& field, float* out) {
  FIRN_RETURN_IF_ERROR(Expect(field, WireType::kFixed32));
  *out = field.AsFloat();
  return absl::OkStatus();
}

absl::Status ReadDouble(const WireField& field, double* out) {
  FIRN_RETURN_IF_ERROR(Expect(field, WireType::kFixed64));
  *out = field.AsDouble();
  return absl::OkStatus();
}

absl::Status ReadHistogram(std::string_view message, EventHistogram* out) {
  FIRN_RETURN_IF_ERROR(ForEachField(message, "histogram", [&](const WireField& field) {
    switch (field.number) {
      case 1:
        return ReadDouble(field, &out->min);
      case 2:
        return ReadDouble(field, &out->max);
      case 3:
        return ReadDouble(field, &out->num);
      case 4:
        return ReadDouble(field, &out->sum);
      case 5:
        return ReadDouble(field, &out->sum_squares);
      case 6:
        return AppendDoubles(field, &out->bucket_limits);
      case 7:
        return AppendDoubles(field, &out->buckets);
      default:
        return absl::OkStatus();
    }
  }));
  FIRN_RETURN_IF(out->bucket_limits.size() != out->buckets.size(),
                 DataLoss("histogram, bucket: expected ", out->bucket_limits.size(),
                          " counts, one for each limit, got ", out->buckets.size()));
  return absl::OkStatus();
}

absl::Status ReadImage(std::string_view message, EventImage* out) {
  return ForEachField(message, "image", [&](const WireField& field) {
    switch (field.number) {
      case 1:
        return ReadInteger(field, &out->height);
      case 2:
        return ReadInteger(field, &out->width);
      case 3:
        return ReadInteger(field, &out->colorspace);
      case 4:
        return ReadBytes(field, &out->encoded);
      default:
        return absl::OkStatus();
    }
  });
}

// TensorFlow's TensorProto, of which only scalars and text are read.
struct WireTensor {
  std::string text;
  float number = 0;
  bool has_text = false, has_number = false;
};

float FloatOf(std::string_view bytes) {
  WireField number;
  number.value = LittleEndian(bytes);
  return number.AsFloat();
}

absl::Status ReadTensor(std::string_view message, WireTensor* out) {
  return ForEachField(message, "tensor", [&](const WireField& field) -> absl::Status {
    // A number is in tensor_content, or in float_val, packed or not.
    const bool packed = field.type == WireType::kBytes && field.bytes.size() == sizeof(float);
    if ((field.number == 4 || field.number == 5) && packed) {
      out->number = FloatOf(field.bytes);
      out->has_number = true;
    } else if (field.number == 5 && field.type == WireType::kFixed32) {
      out->number = field.AsFloat();
      out->has_number = true;
    } else if (field.number == 8) {
      std::string_view line;
      FIRN_RETURN_IF_ERROR(ReadView(field, &line));
      if (out->has_text) out->text += '\n';
      out->text += line;
      out->has_text = true;
    }
    return absl::OkStatus();
  });
}

// The name of the plugin that a value is for.
absl::Status ReadPlugin(std::string_view plugin_data, std::string* plugin) {
  return ForEachField(plugin_data, "plugin data", [&](const WireField& field) {
    return field.number == 1 ? ReadBytes(field, plugin) : absl::OkStatus();
  });
}

absl::Status ReadMetadata(std::string_view message, std::string* plugin) {
  return ForEachField(message, "metadata", [&](const WireField& field) {
    if (field.number != 1) return absl::OkStatus();
    return Message(field, [&](std::string_view data) { return ReadPlugin(data, plugin); });
  });
}

std::string WithoutSuffix(std::string tag) {
  constexpr std::string_view kSuffix = "/text_summary";
  if (tag.ends_with(kSuffix)) tag.resize(tag.size() - kSuffix.size());
  return tag;
}

// Summary.Value. Its fields come in any order, so its contents are interpreted at the end.
struct WireValue {
  std::string tag, plugin;
  float scalar = 0;
  std::string_view image, histogram, tensor;
  int kind = 0;  // the number of the field that is there
};

absl::Status ReadFields(std::string_view message, WireValue* out) {
  return ForEachField(message, "value", [&](const WireField& field) {
    const int number = field.number;
    if (number == 2 || number == 4 || number == 5 || number == 8) out->kind = number;
    switch (number) {
      case 1:
        return ReadBytes(field, &out->tag);
      case 2:
        return ReadFloat(field, &out->scalar);
      case 4:
        return ReadView(field, &out->image);
      case 5:
        return ReadView(field, &out->histogram);
      case 8:
        return ReadView(field, &out->tensor);
      case 9:
        return Message(field, [&](std::string_view m) { return ReadMetadata(m, &out->plugin); });
      default:
        return absl::OkStatus();
    }
  });
}

absl::Status AddTensor(const WireValue& value, Event* event) {
  WireTensor tensor;
  FIRN_RETURN_IF_ERROR(ReadTensor(value.tensor, &tensor));
  if (value.plugin == "scalars" && tensor.has_number) {
    event->scalars.push_back({value.tag, tensor.number});
  }
  if (value.plugin == "text" && tensor.has_text) {
    event->texts.push_back({WithoutSuffix(value.tag), std::move(tensor.text)});
  }
  return absl::OkStatus();
}

absl::Status ReadValue(std::string_view message, Event* event) {
  WireValue value;
  FIRN_RETURN_IF_ERROR(ReadFields(message, &value));
  if (value.tag.empty()) return absl::OkStatus();
  switch (value.kind) {
    case 2:
      event->scalars.push_back({value.tag, value.scalar});
      return absl::OkStatus();
    case 4:
      event->images.push_back({value.tag, {}});
      return ReadImage(value.image, &event->images.back().image);
    case 5:
      event->histograms.push_back({value.tag, {}});
      return ReadHistogram(value.histogram, &event->histograms.back().histogram);
    case 8:
      return AddTensor(value, event);
    default:
      return absl::OkStatus();
  }
}

absl::Status ReadSize(std::string_view message, int64_t* size) {
  return ForEachField(message, "dim", [&](const WireField& field) {
    return field.number == 1 ? ReadInteger(field, size) : absl::OkStatus();
  });
}

absl::Status ReadShape(std::string_view message, std::vector<int64_t>* sizes) {
  return ForEachField(message, "shape", [&](const WireField& field) {
    if (field.number != 2) return absl::OkStatus();
    return Message(field, [&](std::string_view m) { return ReadSize(m, &sizes->emplace_back()); });
  });
}

// An AttrValue that is a list of shapes.
absl::Status ReadShapes(std::string_view message, EventGraphNode* node) {
  const auto one = [&](const WireField& field) {
    if (field.number != 7) return absl::OkStatus();
    return Message(field, [&](std::string_view shape) {
      return ReadShape(shape, &node->output_shapes.emplace_back());
    });
  };
  return ForEachField(message, "attr value", [&](const WireField& field) {
    if (field.number != 1) return absl::OkStatus();
    return Message(field, [&](std::string_view list) { return ForEachField(list, "list", one); });
  });
}

// An entry of a node's map of attributes.
absl::Status ReadAttribute(std::string_view entry, EventGraphNode* node) {
  std::string_view key, value;
  FIRN_RETURN_IF_ERROR(ForEachField(entry, "attr", [&](const WireField& field) {
    if (field.number == 1) return ReadView(field, &key);
    return field.number == 2 ? ReadView(field, &value) : absl::OkStatus();
  }));
  return key == "_output_shapes" ? ReadShapes(value, node) : absl::OkStatus();
}

absl::Status ReadNode(std::string_view message, EventGraphNode* node) {
  return ForEachField(message, "node", [&](const WireField& field) {
    switch (field.number) {
      case 1:
        return ReadBytes(field, &node->name);
      case 2:
        return ReadBytes(field, &node->op);
      case 3:
        return ReadBytes(field, &node->inputs.emplace_back());
      case 4:
        return ReadBytes(field, &node->device);
      case 5:
        return Message(field, [&](std::string_view m) { return ReadAttribute(m, node); });
      default:
        return absl::OkStatus();
    }
  });
}

absl::Status AddNode(std::string_view message, Event* event) {
  EventGraphNode node;
  FIRN_RETURN_IF_ERROR(ReadNode(message, &node));
  if (!node.name.empty()) event->graph.push_back(std::move(node));
  return absl::OkStatus();
}

// A message that holds others of one kind in its field 1: Summary and GraphDef.
absl::Status ReadAll(std::string_view message, const char* name, Event* event,
                     absl::Status (*read)(std::string_view, Event*)) {
  return ForEachField(message, name, [&](const WireField& field) {
    if (field.number != 1) return absl::OkStatus();
    return Message(field, [&](std::string_view one) { return read(one, event); });
  });
}

absl::Status ReadSession(std::string_view message, Event* event) {
  int64_t status = 0;
  FIRN_RETURN_IF_ERROR(ForEachField(message, "session log", [&](const WireField& field) {
    return field.number == 1 ? ReadInteger(field, &status) : absl::OkStatus();
  }));
  event->starts_session = status == 1;
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadEvent(std::string_view message, Event* event) {
  return ForEachField(message, "event", [&](const WireField& field) {
    switch (field.number) {
      case 1:
        return ReadDouble(field, &event->wall_time);
      case 2:
        return ReadInteger(field, &event->step);
      case 3:
        return ReadBytes(field, &event->file_version);
      case 4:
        return Message(field,
                       [&](std::string_view m) { return ReadAll(m, "graph", event, AddNode); });
      case 5:
        return Message(field,
                       [&](std::string_view m) { return ReadAll(m, "summary", event, ReadValue); });
      case 7:
        return Message(field, [&](std::string_view m) { return ReadSession(m, event); });
      default:
        return absl::OkStatus();
    }
  });
}

}  // namespace firn::io

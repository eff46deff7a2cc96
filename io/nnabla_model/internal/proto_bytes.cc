// The encoding is that of wire.h; fields of numbers may be packed or not.
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/nnabla_model/internal/proto_reading.h"
#include "firn/io/wire/internal/wire.h"

namespace firn::io::internal {
namespace {

WireType WireTypeOf(ProtoKind kind) {
  switch (kind) {
    case ProtoKind::kInt64:
    case ProtoKind::kUint32:
    case ProtoKind::kBool:
      return WireType::kVarint;
    case ProtoKind::kFloat:
      return WireType::kFixed32;
    case ProtoKind::kDouble:
      return WireType::kFixed64;
    default:
      return WireType::kBytes;
  }
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& name, const LoadLimits& limits)
      : whole_(bytes), reading_(name, limits) {}

  // Calls itself no deeper than types go.
  absl::Status Message(std::string_view bytes, const ProtoType& type, void* message,
                       ProtoSeen* seen) {
    WireReader reader(bytes);
    while (!reader.AtEnd()) {
      absl::StatusOr<WireField> next = reader.Next();
      FIRN_RETURN_IF(!next.ok(), reading_.Damaged(absl::StrCat("in the message at ", At(bytes)), "",
                                                  std::string(next.status().message())));
      const WireField& wire = *next;
      const ProtoField* field = type.Find(wire.number);
      const std::string place = absl::StrCat("offset ", At(bytes) + wire.offset);
      FIRN_RETURN_IF(field == nullptr,
                     reading_.Damaged(place, "",
                                      absl::StrCat("expected a field of ", std::string(type.name),
                                                   ", got the number ", wire.number)));
      FIRN_RETURN_IF_ERROR(reading_.Take([&] { return place; }, *field, seen));
      if (field->kind == ProtoKind::kMessage) {
        FIRN_RETURN_IF(wire.type != WireType::kBytes, WrongType(place, *field, wire));
        FIRN_RETURN_IF_ERROR(reading_.Enter(*field));
        ProtoSeen own;
        FIRN_RETURN_IF_ERROR(Message(wire.bytes, *field->type, field->open(message, *field),
                                     field->repeated ? &own : &seen->pieces[field]));
        reading_.Leave();
      } else {
        FIRN_RETURN_IF_ERROR(Scalars(place, *field, wire, field->open(message, *field)));
      }
    }
    return absl::OkStatus();
  }

 private:
  size_t At(std::string_view bytes) const {
    return bytes.empty() ? 0 : static_cast<size_t>(bytes.data() - whole_.data());
  }

  absl::Status WrongType(const std::string& place, const ProtoField& field, const WireField& wire) {
    return reading_.Damaged(
        place, field.name,
        absl::StrCat("expected a value of the wire type ", static_cast<int>(WireTypeOf(field.kind)),
                     ", got ", static_cast<int>(wire.type)));
  }

  absl::Status Scalars(const std::string& place, const ProtoField& field, const WireField& wire,
                       void* out) {
    if (field.kind == ProtoKind::kString) {
      FIRN_RETURN_IF(wire.type != WireType::kBytes, WrongType(place, field, wire));
      FIRN_RETURN_IF_ERROR(reading_.CheckString([&] { return place; }, field, wire.bytes));
      Put(field, std::string(wire.bytes), out);
      return absl::OkStatus();
    }
    if (wire.type == WireTypeOf(field.kind)) return Scalar(place, field, wire, out);
    FIRN_RETURN_IF(wire.type != WireType::kBytes || !field.repeated, WrongType(place, field, wire));
    if (field.kind == ProtoKind::kFloat) return Floats(place, field, wire, out);
    // Other numbers that repeat are int64_t, whose encoding is that of fields without their tags.
    std::string_view left = wire.bytes;
    while (!left.empty()) {
      uint64_t value = 0;
      FIRN_RETURN_IF(!Varint(&left, &value),
                     reading_.Damaged(place, field.name, "expected whole numbers"));
      WireField one;
      one.value = value;
      FIRN_RETURN_IF_ERROR(Scalar(place, field, one, out));
    }
    return absl::OkStatus();
  }

  static bool Varint(std::string_view* left, uint64_t* value) {
    for (int shift = 0; shift < 64 && !left->empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left->front());
      left->remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  absl::Status Floats(const std::string& place, const ProtoField& field, const WireField& wire,
                      void* out) {
    FIRN_RETURN_IF(wire.bytes.size() % sizeof(float) != 0,
                   reading_.Damaged(place, field.name,
                                    absl::StrCat("expected numbers of 4 bytes, got ",
                                                 wire.bytes.size(), " bytes")));
    auto& values = *static_cast<std::vector<float>*>(out);
    const size_t had = values.size();
    values.resize(had + wire.bytes.size() / sizeof(float));
    if (!wire.bytes.empty()) std::memcpy(&values[had], wire.bytes.data(), wire.bytes.size());
    return absl::OkStatus();
  }

  absl::Status Scalar(const std::string& place, const ProtoField& field, const WireField& wire,
                      void* out) {
    if (field.repeated && field.kind != ProtoKind::kFloat) {
      FIRN_RETURN_IF_ERROR(reading_.Charge(sizeof(int64_t)));
    }
    switch (field.kind) {
      case ProtoKind::kInt64:
        Put(field, static_cast<int64_t>(wire.value), out);
        break;
      case ProtoKind::kUint32:
        FIRN_RETURN_IF(wire.value > std::numeric_limits<uint32_t>::max(),
                       reading_.Damaged(place, field.name, "expected a number below 2^32"));
        Put(field, static_cast<uint32_t>(wire.value), out);
        break;
      case ProtoKind::kBool:
        *static_cast<bool*>(out) = wire.value != 0;
        break;
      case ProtoKind::kFloat:
        Put(field, wire.AsFloat(), out);
        break;
      default:
        Put(field, wire.AsDouble(), out);
        break;
    }
    return absl::OkStatus();
  }

  template <class T>
  static void Put(const ProtoField& field, T value, void* out) {
    if (field.repeated) {
      static_cast<std::vector<T>*>(out)->push_back(std::move(value));
    } else {
      *static_cast<T*>(out) = std::move(value);
    }
  }

  const std::string_view whole_;
  ProtoReading reading_;
};

}  // namespace

absl::Status ReadProtoBytes(std::string_view bytes, const std::string& name, const ProtoType& type,
                            const LoadLimits& limits, void* message) {
  Reader reader(bytes, name, limits);
  ProtoSeen seen;
  return reader.Message(bytes, type, message, &seen);
}

}  // namespace firn::io::internal

#include "firn/io/onnx/internal/onnx_message.h"

#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

const char* WordOf(WireType type) {
  switch (type) {
    case WireType::kVarint:
      return "an integer";
    case WireType::kFixed64:
      return "8 bytes";
    case WireType::kFixed32:
      return "4 bytes";
    case WireType::kBytes:
      return "a string or message";
  }
  return "";
}

absl::Status WithFile(const OnnxSource& source, const OnnxPlace& place, size_t offset,
                      const std::string& what) {
  return DataLoss(source.name, ": ", place.ToString(), ", offset ", offset, ": ", what);
}

std::string Shown(std::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape({text.data(), std::min<size_t>(text.size(), 40)}),
                      "\"");
}

}  // namespace

absl::Status OnnxSource::Charge(size_t bytes) {
  FIRN_RETURN_IF(static_cast<int64_t>(bytes) > memory_left,
                 ResourceExhausted(name, ": what the model says beside its elements takes more ",
                                   "than the ", limits.max_metadata_bytes,
                                   " bytes of memory allowed (limits.max_metadata_bytes)"));
  memory_left -= static_cast<int64_t>(bytes);
  return absl::OkStatus();
}

std::string OnnxPlace::ToString() const {
  if (field == nullptr) return "model";
  std::string text = within != nullptr && within->field != nullptr ? within->ToString() + "." : "";
  text += field;
  if (index >= 0) absl::StrAppend(&text, "[", index, "]");
  return text;
}

absl::Status OnnxField::FailAt(const OnnxPlace& place, const std::string& what) const {
  return WithFile(*source_, place, field_.offset, what);
}

absl::Status OnnxField::Expect(const OnnxPlace& place, WireType type) const {
  FIRN_RETURN_IF(field_.type != type, FailAt(place, absl::StrCat("expected ", WordOf(type),
                                                                 ", got ", WordOf(field_.type))));
  return absl::OkStatus();
}

absl::Status OnnxField::Once(const char* name, WireType type) {
  FIRN_RETURN_IF_ERROR(Expect({&within_, name}, type));
  const uint64_t bit = uint64_t{1} << field_.number;
  FIRN_RETURN_IF((*seen_ & bit) != 0, Fail(name, "expected one, got two"));
  *seen_ |= bit;
  return absl::OkStatus();
}

absl::Status OnnxField::Integer(const char* name, int64_t* out) {
  FIRN_RETURN_IF_ERROR(Once(name, WireType::kVarint));
  *out = static_cast<int64_t>(field_.value);
  return absl::OkStatus();
}

absl::Status OnnxField::Integer32(const char* name, int* out) {
  int64_t value = 0;
  FIRN_RETURN_IF_ERROR(Integer(name, &value));
  *out = static_cast<int>(value);
  FIRN_RETURN_IF(*out != value, Fail(name, "expected a number of 32 bits, got ", value));
  return absl::OkStatus();
}

absl::Status OnnxField::Float(const char* name, float* out) {
  FIRN_RETURN_IF_ERROR(Once(name, WireType::kFixed32));
  *out = field_.AsFloat();
  return absl::OkStatus();
}

absl::Status OnnxField::TakeText(const OnnxPlace& place, bool is_name, std::string* out) {
  const std::string_view text = field_.bytes;
  FIRN_RETURN_IF(
      is_name && static_cast<int64_t>(text.size()) > source_->limits.max_name_bytes,
      ResourceExhausted(source_->name, ": ", place.ToString(), ": a name of more than ", "the ",
                        source_->limits.max_name_bytes, " bytes allowed (limits.max_name_bytes)"));
  FIRN_RETURN_IF(!inner::internal::IsUtf8(text),
                 FailAt(place, absl::StrCat("expected UTF-8, got ", Shown(text))));
  FIRN_RETURN_IF(
      is_name && text.find('\0') != text.npos,
      FailAt(place, absl::StrCat("expected a name without zero bytes, got ", Shown(text))));
  FIRN_RETURN_IF_ERROR(source_->Charge(text.size()));
  *out = text;
  return absl::OkStatus();
}

absl::Status OnnxField::Name(const char* name, std::string* out) {
  FIRN_RETURN_IF_ERROR(Once(name, WireType::kBytes));
  return TakeText({&within_, name}, true, out);
}

absl::Status OnnxField::Text(const char* name, std::string* out) {
  FIRN_RETURN_IF_ERROR(Once(name, WireType::kBytes));
  return TakeText({&within_, name}, false, out);
}

absl::Status OnnxField::Bytes(const char* name, std::string_view* out) {
  FIRN_RETURN_IF_ERROR(Once(name, WireType::kBytes));
  *out = field_.bytes;
  return absl::OkStatus();
}

absl::Status OnnxField::Names(const char* name, std::vector<std::string>* out) {
  const OnnxPlace place = {&within_, name, static_cast<int64_t>(out->size())};
  FIRN_RETURN_IF_ERROR(Expect(place, WireType::kBytes));
  FIRN_RETURN_IF_ERROR(source_->Charge(sizeof(std::string)));
  return TakeText(place, true, &out->emplace_back());
}

absl::Status OnnxField::Strings(const char* name, std::vector<std::string>* out) {
  FIRN_RETURN_IF_ERROR(
      Expect({&within_, name, static_cast<int64_t>(out->size())}, WireType::kBytes));
  FIRN_RETURN_IF_ERROR(source_->Charge(sizeof(std::string) + field_.bytes.size()));
  out->emplace_back(field_.bytes);
  return absl::OkStatus();
}

absl::Status OnnxField::Numbers(const OnnxPlace& place, WireType type,
                                absl::FunctionRef<absl::Status(uint64_t)> take) {
  if (field_.type != WireType::kBytes) FIRN_RETURN_IF_ERROR(Expect(place, type));
  absl::Status status = ForEachNumber(field_, type, take);
  FIRN_RETURN_IF(absl::IsDataLoss(status),
                 DataLoss(source_->name, ": ", place.ToString(), ", ", status.message()));
  return status;
}

absl::Status OnnxField::Integers(const char* name, std::vector<int64_t>* out) {
  const OnnxPlace place = {&within_, name, static_cast<int64_t>(out->size())};
  return Numbers(place, WireType::kVarint, [&](uint64_t value) {
    out->push_back(static_cast<int64_t>(value));
    return source_->Charge(sizeof(value));
  });
}

absl::Status OnnxField::Floats(const char* name, std::vector<float>* out) {
  const OnnxPlace place = {&within_, name, static_cast<int64_t>(out->size())};
  return Numbers(place, WireType::kFixed32, [&](uint64_t bits) {
    out->push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    return source_->Charge(sizeof(float));
  });
}

absl::Status OnnxField::Count(const char* name, WireType type, int64_t* count) {
  return Numbers({&within_, name, *count}, type, [count](uint64_t) {
    ++*count;
    return absl::OkStatus();
  });
}

absl::Status OnnxField::Entry(const char* name, OnnxEntries* out) {
  const OnnxPlace place = {&within_, name, static_cast<int64_t>(out->size())};
  FIRN_RETURN_IF_ERROR(Expect(place, WireType::kBytes));
  FIRN_RETURN_IF_ERROR(source_->Charge(sizeof(OnnxEntries::value_type)));
  OnnxEntries::value_type& entry = out->emplace_back();
  return ForEachOnnxField(source_, place, field_.bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return field.Name("key", &entry.first);
      case 2:
        return field.Text("value", &entry.second);
    }
    return field.Unknown();
  });
}

absl::Status OnnxField::Unknown() const {
  return FailAt(within_,
                absl::StrCat("expected a field of the format, got one of number ", field_.number));
}

absl::Status ForEachOnnxField(OnnxSource* source, const OnnxPlace& place, std::string_view message,
                              absl::FunctionRef<absl::Status(OnnxField&)> take) {
  FIRN_RETURN_IF(source->messages >= source->limits.max_depth,
                 ResourceExhausted(source->name, ": ", place.ToString(), ": more than the ",
                                   source->limits.max_depth,
                                   " messages in each other allowed (limits.max_depth)"));
  ++source->messages;
  const auto base = static_cast<size_t>(message.data() - source->file.data());
  WireReader reader(message, base);
  uint64_t seen = 0;
  while (!reader.AtEnd()) {
    const absl::StatusOr<WireField> field = reader.Next();
    FIRN_RETURN_IF(!field.ok(),
                   DataLoss(source->name, ": ", place.ToString(), ", ", field.status().message()));
    OnnxField present(source, place, *field, &seen);
    // No message has more fields, and `seen` has no more bits.
    FIRN_RETURN_IF(field->number >= 64, present.Unknown());
    FIRN_RETURN_IF_ERROR(take(present));
  }
  --source->messages;
  return absl::OkStatus();
}

absl::Status OnnxFault(const OnnxSource& source, const OnnxPlace& place, std::string_view message,
                       const std::string& what) {
  return WithFile(source, place, static_cast<size_t>(message.data() - source.file.data()), what);
}

}  // namespace firn::io::internal

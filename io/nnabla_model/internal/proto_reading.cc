#include "firn/io/nnabla_model/internal/proto_reading.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

std::string Joined(const std::vector<std::string_view>& path) {
  std::string joined;
  for (const std::string_view part : path) {
    if (!joined.empty()) joined += '.';
    joined += part;
  }
  return joined;
}

}  // namespace

const ProtoField* ProtoType::Find(std::string_view field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const ProtoField& f) { return f.name == field; });
  return found == fields.end() ? nullptr : &*found;
}

const ProtoField* ProtoType::Find(int number) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const ProtoField& f) { return f.number == number; });
  return found == fields.end() ? nullptr : &*found;
}

ProtoReading::ProtoReading(std::string name, const LoadLimits& limits)
    : name_(std::move(name)), limits_(limits), left_(limits.max_metadata_bytes) {}

absl::Status ProtoReading::Enter(const ProtoField& field) {
  path_.push_back(field.name);
  FIRN_RETURN_IF(static_cast<int>(path_.size()) > limits_.max_depth,
                 ResourceExhausted(name_, ": ", Joined(path_),
                                   ": messages in more messages than allowed (limits.max_depth)"));
  return Charge(field.type->bytes);
}

absl::Status ProtoReading::Charge(size_t bytes) {
  FIRN_RETURN_IF(
      static_cast<int64_t>(bytes) > left_,
      ResourceExhausted(name_, ": messages of more than the ", limits_.max_metadata_bytes,
                        " bytes allowed (limits.max_metadata_bytes)"));
  left_ -= static_cast<int64_t>(bytes);
  return absl::OkStatus();
}

absl::Status ProtoReading::CheckString(ProtoPlace place, const ProtoField& field,
                                       std::string_view text) {
  FIRN_RETURN_IF(
      static_cast<int64_t>(text.size()) > limits_.max_name_bytes,
      ResourceExhausted(Where(place(), field.name), ": a string of more than the ",
                        limits_.max_name_bytes, " bytes allowed (limits.max_name_bytes)"));
  FIRN_RETURN_IF(!inner::internal::IsUtf8(text),
                 Damaged(place(), field.name,
                         absl::StrCat("expected UTF-8, got ", inner::internal::JsonString(text))));
  return Charge(text.size() + sizeof(std::string));
}

absl::Status ProtoReading::Take(ProtoPlace place, const ProtoField& field, ProtoSeen* seen) {
  if (field.repeated) return absl::OkStatus();
  for (const ProtoField* other : seen->fields) {
    FIRN_RETURN_IF(field.oneof != 0 && other->oneof == field.oneof,
                   Damaged(place(), field.name,
                           absl::StrCat("expected one of its kind, got another beside ",
                                        std::string(other->name))));
    if (other != &field) continue;
    FIRN_RETURN_IF(field.kind != ProtoKind::kMessage,
                   Damaged(place(), field.name, "expected it once, got it twice"));
    return absl::OkStatus();
  }
  seen->fields.push_back(&field);
  return absl::OkStatus();
}

std::string ProtoReading::Where(const std::string& place, std::string_view field) const {
  std::string path = Joined(path_);
  if (!path.empty() && !field.empty()) path += '.';
  absl::StrAppend(&path, std::string(field));
  return absl::StrCat(name_, ": ", place, path.empty() ? "" : ", ", path);
}

absl::Status ProtoReading::Damaged(const std::string& place, std::string_view field,
                                   const std::string& what) const {
  return DataLoss(Where(place, field), ": ", what);
}

}  // namespace firn::io::internal

// The end of a file's name decides the format that is written. The format that is read is decided
// by the first bytes if they tell it, since files of weights have many suffixes. The formats are
// those of formats/.
#include "firn/io/parameters.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/io/random_access.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

void CheckPath(const std::string& path, const char* who) {
  if (path.empty()) RaiseStatus(InvalidArgument("expected a path, got an empty one"), who);
}

bool Holds(const Format& format) {
  return format.holds == FileHolds::kTensors || format.holds == FileHolds::kGraph;
}
bool IsRead(const Format& format) { return Holds(format) && format.read_tensors; }
bool IsWritten(const Format& format) { return Holds(format) && format.write_tensors; }

// The reason why a file with this name or contents is no file of tensors.
[[noreturn]] void RaiseNoFormat(const std::string& path, const Format* other,
                                bool (*which)(const Format&), const char* who) {
  std::string what = absl::StrCat("'", path, "' ");
  if (other != nullptr) {
    absl::StrAppend(&what, "is of the format ", other->name, ", which ",
                    other->holds == FileHolds::kTensors ? absl::StrCat("has nothing for ", who)
                    : Holds(*other)                     ? "holds more than tensors"
                                    : absl::StrCat("holds ", FileHoldsName(other->holds)));
  } else {
    absl::StrAppend(&what, "ends in '", std::filesystem::path(path).extension().string(), "'");
  }
  RaiseStatus(InvalidArgument(what, " (want ", SuffixesText(which), ")"), who);
}

}  // namespace

void Save(const std::string& path, const StateDict& state) {
  CheckPath(path, "save");
  const bool named = std::filesystem::path(path).has_extension();
  const Format* const format = named ? FormatOfName(path) : FindFormat("safetensors");
  const bool written = format != nullptr && IsWritten(*format);
  if (!written || (named && !EndsAsWritten(path, *format))) {
    RaiseNoFormat(path, written ? nullptr : format, IsWritten, "save");
  }
  inner::InNameOf("save", [&] { format->write_tensors(path, state); });
}

StateDict Load(const std::string& path, const LoadOptions& options) {
  CheckPath(path, "load");
  RefuseForeign(path, "load");
  const Format* const format = FormatOfFile(path);
  if (format == nullptr) RaiseIfError(RandomAccess::Open(path).status(), "load");
  if (format == nullptr || !IsRead(*format)) RaiseNoFormat(path, format, IsRead, "load");
  StateDict state = inner::InNameOf("load", [&] { return format->read_tensors(path, options); });
  if (!options.want) return state;
  StateDict wanted;  // some formats leave it to us
  for (auto& [name, tensor] : state) {
    if (options.want(name)) wanted.Insert(name, tensor);
  }
  return wanted;
}

}  // namespace firn::io

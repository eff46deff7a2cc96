#include "tools/firn/files.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/tensor/error.h"

namespace firn::cli {
namespace {

std::map<std::string, ContentsReader>& Readers() {
  static auto* readers = new std::map<std::string, ContentsReader>();
  return *readers;
}

// Null if a file of the format is read as plain tensors.
ContentsReader ReaderOf(const io::Format& format) {
  const auto found = Readers().find(format.name);
  return found == Readers().end() ? nullptr : found->second;
}

}  // namespace

ContentsRegistration::ContentsRegistration(const char* format, ContentsReader read) {
  Readers()[format] = read;
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const io::Format* format : io::Formats()) {
    if (format->read_tensors || ReaderOf(*format) != nullptr) names.push_back(format->name);
  }
  return names;
}

FileContents ReadFile(const std::string& path, const io::LoadLimits& limits) {
  io::RefuseForeign(path, "file");
  const io::Format* const format = io::FormatOfFile(path);
  if (format != nullptr) {
    const ContentsReader read = ReaderOf(*format);
    if (read != nullptr || format->read_tensors) {
      FileContents contents;
      if (read != nullptr) {
        contents = read(path, limits);
      } else {
        contents.tensors = format->read_tensors(path, {.limits = limits});
      }
      if (contents.format.empty()) contents.format = format->name;
      return contents;
    }
  }
  // Any other path goes to HDF5's reader, which says what is wrong with it, and may find its
  // signature later.
  absl::StatusOr<StateDict> tensors = io::TryLoadHdf5(path, {.limits = limits});
  if (tensors.ok()) return {.format = "HDF5", .tensors = *std::move(tensors)};
  const std::string known = absl::StrCat(" (known are ", absl::StrJoin(FormatNames(), ", "), ")");
  const bool other = absl::IsDataLoss(tensors.status()) || absl::IsUnimplemented(tensors.status());
  RaiseIfError(
      absl::Status(tensors.status().code(),
                   absl::StrCat(std::string(tensors.status().message()), other ? known : "")),
      "file");
  return {};
}

FileContents ReadFileOfTensors(const std::string& path) {
  FileContents contents = ReadFile(path);
  if (contents.tensors.empty() && !contents.columns.empty()) {
    RaiseStatus(InvalidArgument(path, ": expected a file of tensors, got ", contents.format),
                "file");
  }
  return contents;
}

StateDict ReadTensors(const std::string& path) {
  return std::move(ReadFileOfTensors(path).tensors);
}

}  // namespace firn::cli

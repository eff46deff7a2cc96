#include "tools/firn/files.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/hdf5.h"
#include "firn/tensor/error.h"

namespace firn::cli {
namespace {

std::map<std::string, FileFormat>& Registry() {
  static auto* registry = new std::map<std::string, FileFormat>();
  return *registry;
}

// At the beginning, or behind a block of the user's own of 512 bytes, or twice as many, ...
bool HasHdf5Signature(std::ifstream& file) {
  constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n");
  std::string bytes(kSignature.size(), '\0');
  for (std::streamoff at = 0;; at = at == 0 ? 512 : 2 * at) {
    file.clear();
    file.seekg(at);
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return false;
    if (bytes == kSignature) return true;
  }
}

FileHead HeadOf(const std::string& path) {
  constexpr std::streamsize kBytes = 16;
  FileHead head{.name = std::filesystem::path(path).filename().string(),
                .bytes = std::string(kBytes, '\0')};
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {  // a pipe would wait
    head.bytes.clear();
    return head;
  }
  std::ifstream file(path, std::ios::binary);
  file.read(head.bytes.data(), kBytes);
  head.bytes.resize(static_cast<size_t>(file.gcount()));
  head.hdf5 = HasHdf5Signature(file);
  return head;
}

}  // namespace

FormatRegistration::FormatRegistration(const char* name, FileFormat format) {
  Registry()[name] = format;
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const auto& [name, format] : Registry()) names.push_back(name);
  return names;
}

FileContents ReadFile(const std::string& path, const io::LoadLimits& limits) {
  const FileHead head = HeadOf(path);
  for (const auto& [name, format] : Registry()) {
    if (!format.is(head)) continue;
    FileContents contents = format.read(path, limits);
    if (contents.format.empty()) contents.format = name;
    return contents;
  }
  // Whatever it is: HDF5's reader says what is wrong with a path, and may find its signature later.
  absl::StatusOr<StateDict> tensors = io::ReadHdf5(path, {.limits = limits});
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

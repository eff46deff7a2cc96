// The end of a name tells the reader of a file. Whether the file is allowed is decided from its
// path too, before it is opened.
#include "firn/io/data/internal/csv_cell_files.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/formats/formats.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

// Whether a path stays in the folder that it starts from; links are not looked at.
bool StaysInside(std::string_view path) {
  if (path.starts_with('/')) return false;
  while (!path.empty()) {
    if (TakeUpTo(&path, '/') == "..") return false;
  }
  return true;
}

// The end of a name that says what is in the file, in small letters.
std::string EndOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : absl::AsciiStrToLower(std::string(name.substr(dot)));
}

bool ReadsCells(const Format& format) { return static_cast<bool>(format.read_array); }

// Null where no format reads such a file as one tensor.
const Format* FormatOfCell(const std::string& name) {
  const Format* const format = FormatOfName(name);
  return format != nullptr && ReadsCells(*format) && EndsAsWritten(name, *format) ? format
                                                                                  : nullptr;
}

Tensor ReadByFormat(const std::string& path, DType dtype, const CsvRowsOptions& options) {
  const Format& format = *FormatOfCell(path);
  Tensor array = format.read_array(
      path,
      {.dtype = dtype, .round = options.round, .image = &options.image, .limits = options.limits});
  if (format.holds != FileHolds::kImage || !options.normalize) return array;
  return array.To(DType::kF32) / (array.dtype() == DType::kU8 ? 255 : 65535);
}

std::string WithSlashes(std::string name) {
  std::replace(name.begin(), name.end(), '\\', '/');
  return name;
}

}  // namespace

std::string_view SchemeOf(std::string_view text) {
  const size_t at = text.find("://");
  if (at == std::string_view::npos) return {};
  const std::string_view scheme = text.substr(0, at);
  const bool is_one = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  return is_one ? scheme : std::string_view();
}

absl::Status CheckCellPath(const std::string& name, const CsvRowsOptions& options,
                           const std::string& outside) {
  FIRN_RETURN_IF(!SchemeOf(name).empty(),
                 Unimplemented("expected a number or a file of this machine, got ", Shown(name),
                               ": ", SchemeOf(name), " is not read"));
  const std::string end = EndOf(name);
  FIRN_RETURN_IF(!options.readers.contains(end) && FormatOfCell(name) == nullptr,
                 DataLoss("expected a number or the path of a ", SuffixesText(ReadsCells),
                          " file, got ", Shown(name)));
  FIRN_RETURN_IF(name.find('\0') != std::string::npos,
                 DataLoss("expected a path, got ", Shown(name), " with a zero byte in it"));
  FIRN_RETURN_IF(!options.allow_outside && !StaysInside(WithSlashes(name)),
                 absl::PermissionDeniedError(
                     absl::StrCat("expected a path inside the folder of this file, got ",
                                  Shown(name), " (", outside, ")")));
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ReadCellFile(const std::string& folder, std::string name, DType dtype,
                                    const CsvRowsOptions& options, const std::string& outside) {
  FIRN_RETURN_IF_ERROR(CheckCellPath(name, options, outside));
  const std::string end = EndOf(name);
  const auto own = options.readers.find(end);
  name = WithSlashes(std::move(name));
  const std::string path = name.starts_with('/') ? name : folder + name;
  try {
    return own != options.readers.end() ? own->second(path) : ReadByFormat(path, dtype, options);
  } catch (const Error& e) {
    return e.status();
  }
}

}  // namespace firn::io::internal

#include "firn/io/monitors/line_file.h"

#include <memory>

#include "firn/device/status_macros.h"
#include "firn/io/random_access.h"

namespace firn::io {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;

}  // namespace

size_t SplitLine(std::string_view text) {
  const size_t at = text.find('\n');
  return at == std::string_view::npos ? 0 : at + 1;
}

size_t SplitCsvRecord(std::string_view text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) return i + 1;
  }
  return 0;
}

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file, RandomAccess::Open(path));
  FIRN_RETURN_IF(
      file->size() > kMaxBytes,
      ResourceExhausted(path, ": ", file->size(), " bytes (want at most ", kMaxBytes, ")"));
  std::string text(static_cast<size_t>(file->size()), '\0');
  FIRN_RETURN_IF_ERROR(file->ReadAt(0, text.data(), file->size(), "text"));
  return text;
}

}  // namespace firn::io

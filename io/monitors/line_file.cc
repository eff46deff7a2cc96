#include "firn/io/monitors/line_file.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "firn/device/status_macros.h"
#include "firn/io/random_access.h"

namespace firn::io {
namespace {

using internal::AppendFile;

constexpr int64_t kMaxBytes = int64_t{1} << 30;

}  // namespace

absl::StatusOr<AppendFile> OpenRecords(const std::string& path,
                                       const std::function<size_t(std::string_view)>& split,
                                       const std::function<bool(std::string_view)>& keep,
                                       const std::function<absl::Status()>& check) {
  std::error_code error;
  if (!keep || !std::filesystem::exists(path, error)) {
    return AppendFile::Open(path, AppendFile::Mode::kTruncate);
  }
  FIRN_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  size_t end = 0;
  const std::string_view all = text;
  for (size_t n; (n = split(all.substr(end))) != 0 && keep(all.substr(end, n));) end += n;
  if (check) FIRN_RETURN_IF_ERROR(check());
  FIRN_ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(path, AppendFile::Mode::kAppend));
  if (static_cast<int64_t>(end) != file.size()) {
    FIRN_RETURN_IF_ERROR(file.Truncate(static_cast<int64_t>(end)));
  }
  return file;
}

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

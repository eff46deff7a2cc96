// A run that goes on may begin before the end of its earlier records; later ones are cut off.
#include "firn/io/monitors/internal/open_records.h"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "firn/device/status_macros.h"
#include "firn/io/monitors/line_file.h"

namespace firn::io::internal {

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

}  // namespace firn::io::internal

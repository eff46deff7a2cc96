#ifndef FIRN_IO_MONITORS_LINE_FILE_H_
#define FIRN_IO_MONITORS_LINE_FILE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/monitors/internal/append_file.h"

namespace firn::io {

// Opens a file of text records for a run that begins, or with `keep` for one that goes on: what
// stands there is walked, and cut after the last record before the first one that `keep` refuses;
// a partial last one is cut as well. `split` gives the length of the first whole record of a text,
// 0 when there is none.
// An error of `check`, which is asked before anything is cut, leaves the file as it is.
absl::StatusOr<internal::AppendFile> OpenRecords(
    const std::string& path, const std::function<size_t(std::string_view)>& split,
    const std::function<bool(std::string_view)>& keep,
    const std::function<absl::Status()>& check = {});

// The first line of a text with its line feed; 0 when it is not closed.
size_t SplitLine(std::string_view text);
// A record of a CSV file (RFC 4180): line feeds within quotes do not end it.
size_t SplitCsvRecord(std::string_view text);

// All bytes of a file; ResourceExhausted beyond 1 GiB, else the errors of RandomAccess.
absl::StatusOr<std::string> ReadWhole(const std::string& path);

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_LINE_FILE_H_

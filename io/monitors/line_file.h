#ifndef FIRN_IO_MONITORS_LINE_FILE_H_
#define FIRN_IO_MONITORS_LINE_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace firn::io {

// The first line of a text with its line feed; 0 when it is not closed.
size_t SplitLine(std::string_view text);
// A record of a CSV file (RFC 4180): line feeds within quotes do not end it.
size_t SplitCsvRecord(std::string_view text);

// All bytes of a file; ResourceExhausted beyond 1 GiB, else the errors of RandomAccess.
absl::StatusOr<std::string> ReadWhole(const std::string& path);

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_LINE_FILE_H_

#ifndef FIRN_IO_MONITORS_INTERNAL_OPEN_RECORDS_H_
#define FIRN_IO_MONITORS_INTERNAL_OPEN_RECORDS_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/monitors/internal/append_file.h"

namespace firn::io::internal {

// Opens a file of text records for a run that begins, or with `keep` for one that goes on. Then the
// existing records are kept up to the first one that `keep` refuses; that one and all later ones
// are cut off, and so is a partial last record. `split` gives the length of the first whole record
// of a text, 0 when there is none. An error of `check`, which is asked before anything is cut,
// leaves the file as it is.
absl::StatusOr<AppendFile> OpenRecords(const std::string& path,
                                       const std::function<size_t(std::string_view)>& split,
                                       const std::function<bool(std::string_view)>& keep,
                                       const std::function<absl::Status()>& check = {});

}  // namespace firn::io::internal

#endif  // FIRN_IO_MONITORS_INTERNAL_OPEN_RECORDS_H_

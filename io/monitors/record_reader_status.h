#ifndef FIRN_IO_MONITORS_RECORD_READER_STATUS_H_
#define FIRN_IO_MONITORS_RECORD_READER_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/monitors/record_reader.h"

namespace firn::io {

// LoadRecords with a status, for text in memory; `name` stands for the path.
absl::StatusOr<Records> TryParseRecords(std::string_view text, const std::string& name,
                                        const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_RECORD_READER_STATUS_H_

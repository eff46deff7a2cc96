#ifndef FIRN_IO_MONITORS_RECORD_PARSERS_H_
#define FIRN_IO_MONITORS_RECORD_PARSERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/monitors/record_writer.h"

namespace firn::io {

// The shortest text that reads back as the same number, or `nan` and `infinity` (with a sign).
std::string NumberText(double value, std::string_view nan, std::string_view infinity);

// The meaning of a CSV field without its quotes: "true" and "false", a number, nothing, or text. A
// field that stood in quotes is always text.
RecordValue ParseCsvValue(std::string_view text, bool quoted);

// One record with its line feed, RFC 4180. DataLoss says what was expected and what came;
// ResourceExhausted for more than `most` fields.
absl::StatusOr<std::vector<RecordValue>> ParseCsvRecord(std::string_view record,
                                                        size_t most = SIZE_MAX);

// Whether the first record of a table names its columns: false if a number is in it.
bool IsCsvHeading(const std::vector<RecordValue>& first);

// One JSON object whose values are neither arrays nor objects (RFC 8259). Errors as above.
absl::StatusOr<JsonLinesWriter::Fields> ParseJsonRecord(std::string_view line,
                                                        size_t most = SIZE_MAX);

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_RECORD_PARSERS_H_

#ifndef FIRN_IO_CSV_INTERNAL_CSV_LINE_H_
#define FIRN_IO_CSV_INTERNAL_CSV_LINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/csv/csv_field.h"

namespace firn::io::internal {

// Some programs begin every text with this mark; it is no part of the first field.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Unimplemented for a text that begins with a byte order mark of UTF-16 or UTF-32; `name` stands
// for it in messages.
absl::Status CheckEncoding(std::string_view start, const std::string& name);

using Field = CsvField;

bool IsBlank(char c);
std::string_view Trim(std::string_view s);

// Cuts the text up to `end` off the front of `rest`, without the end character.
std::string_view TakeUpTo(std::string_view* rest, char end);

// The fields of a record, which they point into, without the end of its line. DataLoss, naming the
// column, for quotes that are not closed or have something behind them; ResourceExhausted for more
// than `most` fields, of which it keeps no more.
absl::Status SplitRecord(std::string_view line, char separator, std::vector<Field>* fields,
                         size_t most = SIZE_MAX);

// Reads all of `text`, blanks around it aside, as a number. invalid_argument if it is no number;
// result_out_of_range if it is too large. A number that is too small becomes 0.
std::errc ParseNumber(std::string_view text, float* value);
std::errc ParseNumber(std::string_view text, double* value);

// The beginning of a field in quotes, with unprintable bytes escaped.
std::string Shown(std::string_view text);

// "column 3 (counted from 0): ", or, where it has a name, "column 3 ("price"): ".
std::string InColumn(size_t column, std::string_view name = {});

}  // namespace firn::io::internal

#endif  // FIRN_IO_CSV_INTERNAL_CSV_LINE_H_

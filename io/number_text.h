#ifndef FIRN_IO_NUMBER_TEXT_H_
#define FIRN_IO_NUMBER_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace firn::io {

// The number that all of `text` is, by std::from_chars: "1e-3", "nan", "inf"; a plus sign too.
std::optional<double> ParseNumber(std::string_view text);
std::optional<int64_t> ParseInteger(std::string_view text);
// Like printf's %g with this many digits, a NaN without a sign.
std::string FormatNumber(double value, int digits);

}  // namespace firn::io

#endif  // FIRN_IO_NUMBER_TEXT_H_

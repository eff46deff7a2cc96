#ifndef FIRN_DEVICE_ESCAPE_H_
#define FIRN_DEVICE_ESCAPE_H_

// Text escaped for files of other programs, since names of modules may contain anything. All
// functions give valid UTF-8: a byte that is not valid becomes U+FFFD.

#include <string>
#include <string_view>

namespace firn::inner::internal {

// Whether the text is UTF-8 (RFC 3629) as a whole.
bool IsUtf8(std::string_view text);

// A string of JSON (RFC 8259), with its quotes.
std::string JsonString(std::string_view text);

// A quoted string of GraphViz's DOT language that shows as `text`, line feeds included: neither
// escapes (\N) nor entities (&lt;) in it mean anything.
std::string DotString(std::string_view text);

// A field of a CSV file (RFC 4180), in quotes only where it needs them, as for blanks at its ends.
std::string CsvField(std::string_view text);

// Whether a field gives the text back where fields end on their lines: UTF-8 without line ends.
bool IsOneLine(std::string_view text);

// A path that tables can name and all systems take for the same: control characters, backslashes
// and bytes that are no UTF-8 become "_".
std::string PortablePath(std::string_view path);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_ESCAPE_H_

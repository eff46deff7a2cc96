// One walk over the text tells well-formed UTF-8 sequences from other bytes (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF); the rules of each format treat ASCII characters.

#include "firn/device/escape.h"

#include <cstddef>
#include <cstdio>

namespace firn::inner::internal {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";  // U+FFFD

bool Continues(unsigned char c) { return (c & 0xC0u) == 0x80u; }

// Bytes of the sequence at the front of `text`, 0 when there is none.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                        : first >= 0xE0 && first <= 0xEF ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!Continues(byte(i))) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool too_large = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

// Calls `ascii` for ASCII characters; copies all other well-formed sequences, and puts `other` in
// place of each byte that remains.
template <class F>
std::string Escaped(std::string_view text, F ascii, const char* other = kReplacement) {
  std::string out;
  out.reserve(text.size() + 2);
  for (size_t i = 0; i < text.size();) {
    const size_t length = SequenceLength(text.substr(i));
    if (length == 0) {
      out += other;
    } else if (length == 1) {
      ascii(text[i], out);
    } else {
      out += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return out;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string JsonString(std::string_view text) {
  return '"' +
         Escaped(text,
                 [](char c, std::string& out) {
                   if (c == '"' || c == '\\') {
                     out += '\\';
                     out += c;
                   } else if (IsControl(c)) {
                     char code[8];
                     std::snprintf(code, sizeof(code), "\\u%04x",
                                   static_cast<unsigned>(static_cast<unsigned char>(c)));
                     out += code;
                   } else {
                     out += c;
                   }
                 }) +
         '"';
}

std::string DotString(std::string_view text) {
  return '"' +
         Escaped(text,
                 [](char c, std::string& out) {
                   if (c == '"') {
                     out += "\\\"";
                   } else if (c == '\\') {
                     out += "\\\\";
                   } else if (c == '&') {
                     out += "&amp;";
                   } else if (c == '\n') {
                     out += "\\n";
                   } else {
                     out += IsControl(c) ? ' ' : c;
                   }
                 }) +
         '"';
}

std::string CsvField(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  bool quoted = !text.empty() && (blank(text.front()) || blank(text.back()));
  std::string field = Escaped(text, [&quoted](char c, std::string& out) {
    quoted |= c == '"' || c == ',' || c == '\n' || c == '\r';
    if (c == '"') out += '"';
    out += c;
  });
  return quoted ? '"' + field + '"' : field;
}

bool IsOneLine(std::string_view text) {
  return text.find_first_of("\r\n") == std::string_view::npos &&
         Escaped(text, [](char c, std::string& out) { out += c; }) == text;
}

std::string PortablePath(std::string_view path) {
  return Escaped(
      path, [](char c, std::string& out) { out += IsControl(c) || c == '\\' ? '_' : c; }, "_");
}

}  // namespace firn::inner::internal

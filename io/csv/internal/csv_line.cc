// Records of CSV files (RFC 4180, and blanks around fields). Fields point into the record.
#include "firn/io/csv/internal/csv_line.h"

#include <charconv>
#include <cmath>

#include "absl/strings/charconv.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

// The text within the quotes that `line` begins with; cuts it off `line` with its quotes. If they
// are not closed, returns nothing and cuts nothing.
std::string_view TakeQuoted(std::string_view* line) {
  size_t end = line->find('"', 1);
  while (end != std::string_view::npos && line->substr(end, 2) == "\"\"") {
    end = line->find('"', end + 2);
  }
  if (end == std::string_view::npos) return {};
  const std::string_view text = line->substr(1, end - 1);
  line->remove_prefix(end + 1);
  return text;
}

template <class T>
std::errc Parse(std::string_view text, T* value) {
  text = Trim(text);
  const bool plus = text.starts_with('+');
  if (plus) text.remove_prefix(1);
  if (text.empty() || (plus && text[0] == '-')) return std::errc::invalid_argument;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  if (stop != end) return std::errc::invalid_argument;
  if (error != std::errc::result_out_of_range) return error;
  // std::from_chars does not tell too small from too large; this function gives the nearest number.
  absl::from_chars(text.data(), end, *value);
  return std::abs(*value) > 1 ? error : std::errc();
}

}  // namespace

absl::Status CheckEncoding(std::string_view start, const std::string& name) {
  const bool wide = start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff") ||
                    start.starts_with(std::string_view("\0\0\xfe\xff", 4));
  FIRN_RETURN_IF(wide, Unimplemented(name,
                                     ": text of 16 or 32 bits a character is not read; save "
                                     "it as UTF-8"));
  return absl::OkStatus();
}

std::errc ParseNumber(std::string_view text, float* value) { return Parse(text, value); }
std::errc ParseNumber(std::string_view text, double* value) { return Parse(text, value); }

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view Trim(std::string_view s) {
  while (!s.empty() && IsBlank(s.front())) s.remove_prefix(1);
  while (!s.empty() && IsBlank(s.back())) s.remove_suffix(1);
  return s;
}

std::string_view TakeUpTo(std::string_view* rest, char end) {
  const size_t at = rest->find(end);
  const std::string_view piece = rest->substr(0, at);
  rest->remove_prefix(at == std::string_view::npos ? rest->size() : at + 1);
  return piece;
}

std::string Shown(std::string_view text) {
  constexpr size_t kShown = 40;
  return firn::inner::internal::JsonString(text.substr(0, kShown)) +
         (text.size() > kShown ? "..." : "");
}

std::string InColumn(size_t column, std::string_view name) {
  if (!name.empty()) return absl::StrCat("column ", column, " (", Shown(name), "): ");
  return absl::StrCat("column ", column, " (counted from 0): ");
}

// A separator at the very end of a line still starts a field, an empty one.
absl::Status SplitRecord(std::string_view line, char separator, std::vector<Field>* fields,
                         size_t most) {
  fields->clear();
  for (;;) {
    size_t first = 0;
    while (first < line.size() && IsBlank(line[first]) && line[first] != separator) ++first;
    line.remove_prefix(first);
    Field field;
    field.quoted = line.starts_with('"');
    if (field.quoted) {
      const size_t before = line.size();
      field.text = TakeQuoted(&line);
      FIRN_RETURN_IF(
          line.size() == before,
          DataLoss(InColumn(fields->size()), "expected a closing quote, got ", Shown(line),
                   " up to the end of the ",
                   line.find_first_of("\r\n") == std::string_view::npos ? "line" : "text"));
    }
    const size_t end = line.find(separator);
    std::string_view rest = line.substr(0, end);
    while (!rest.empty() && IsBlank(rest.back())) rest.remove_suffix(1);
    FIRN_RETURN_IF(field.quoted && !Trim(rest).empty(),
                   DataLoss(InColumn(fields->size()), "expected a separator after the quotes, got ",
                            Shown(Trim(rest))));
    if (!field.quoted) field.text = rest;
    FIRN_RETURN_IF(fields->size() == most,
                   ResourceExhausted("more than ", most, " fields in a record"));
    fields->push_back(field);
    if (end == std::string_view::npos) return absl::OkStatus();
    line.remove_prefix(end + 1);
  }
}

}  // namespace firn::io::internal

namespace firn::io {

std::string WordOf(const CsvField& field) {
  std::string word(field.text);
  if (field.quoted) absl::StrReplaceAll({{"\"\"", "\""}}, &word);
  return word;
}

}  // namespace firn::io

#include "firn/io/monitors/internal/record_parsers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/monitors/internal/line_file.h"

namespace firn::io::internal {
namespace {

std::string Shown(std::string_view text) {
  constexpr size_t kShown = 40;
  return inner::internal::JsonString(text.substr(0, kShown));
}

// A number that is written as a whole one is one, where it fits.
RecordValue NumberOf(std::string_view text, double number) {
  const std::optional<int64_t> integer = ParseInteger(text);
  return integer.has_value() ? RecordValue(*integer) : RecordValue(number);
}

// The shortest text that reads back as the same number.
std::string Shortest(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end);
}

absl::Status TooMany(size_t most) {
  return ResourceExhausted("more than ", most, " fields in a record");
}

// Goes through one line of JSON.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  absl::StatusOr<JsonLinesWriter::Fields> Object(size_t most) {
    JsonLinesWriter::Fields fields;
    std::set<std::string> names;
    FIRN_RETURN_IF_ERROR(Take('{'));
    while (!TryTake('}')) {
      if (!fields.empty()) FIRN_RETURN_IF_ERROR(Take(','));
      FIRN_ASSIGN_OR_RETURN(std::string name, String());
      FIRN_RETURN_IF_ERROR(Take(':'));
      FIRN_ASSIGN_OR_RETURN(RecordValue value, Value());
      FIRN_RETURN_IF(!names.insert(name).second,
                     DataLoss("expected different names, got ", Shown(name), " twice"));
      FIRN_RETURN_IF(fields.size() == most, TooMany(most));
      fields.emplace_back(std::move(name), std::move(value));
    }
    SkipBlanks();
    FIRN_RETURN_IF(at_ != text_.size(), Wrong("the end of the line"));
    return fields;
  }

 private:
  absl::Status Wrong(const char* expected) const {
    return DataLoss("column ", at_ + 1, ": expected ", expected, ", got ",
                    Shown(text_.substr(at_)));
  }

  void SkipBlanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  bool TryTake(char c) {
    SkipBlanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  absl::Status Take(char c) {
    const char expected[] = {'"', c, '"', '\0'};
    return TryTake(c) ? absl::OkStatus() : Wrong(expected);
  }

  absl::StatusOr<RecordValue> Value() {
    SkipBlanks();
    if (at_ < text_.size() && text_[at_] == '"') {
      FIRN_ASSIGN_OR_RETURN(std::string text, String());
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      if (text == "NaN") return RecordValue(std::numeric_limits<double>::quiet_NaN());
      if (text == "Infinity") return RecordValue(kInfinity);
      if (text == "-Infinity") return RecordValue(-kInfinity);
      return RecordValue(std::move(text));
    }
    const size_t end = std::min(text_.find_first_of(",} \t\r\n", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    const std::optional<RecordValue> value = Word(word);
    if (!value.has_value()) return Wrong("a string, a number, true, false or null");
    at_ = end;
    return *value;
  }

  static std::optional<RecordValue> Word(std::string_view word) {
    if (word == "null") return RecordValue();
    if (word == "true" || word == "false") return RecordValue(word == "true");
    const size_t digit = word.starts_with('-') ? 1 : 0;
    // JSON has neither plus signs nor the names of what is not finite.
    if (digit >= word.size() || word[digit] < '0' || word[digit] > '9') return std::nullopt;
    const std::optional<double> number = ParseNumber(word);
    if (!number.has_value()) return std::nullopt;
    return NumberOf(word, *number);
  }

  absl::StatusOr<std::string> String() {
    FIRN_RETURN_IF_ERROR(Take('"'));
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_];
      FIRN_RETURN_IF(static_cast<unsigned char>(c) < 0x20, Wrong("no control character"));
      if (c == '\\') {
        FIRN_RETURN_IF_ERROR(Escape(&out));
      } else {
        out += c;
        ++at_;
      }
    }
    FIRN_RETURN_IF_ERROR(Take('"'));
    return out;
  }

  absl::Status Escape(std::string* out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    const size_t place = kNames.find(name);
    if (name != '\0' && place != std::string_view::npos) {
      *out += kMeanings[place];
      at_ += 2;
      return absl::OkStatus();
    }
    std::optional<uint32_t> code = CodeUnit();
    FIRN_RETURN_IF(!code.has_value(), Wrong("an escape"));
    if (*code >= 0xd800 && *code < 0xdc00) {  // the first half of a character
      at_ += 6;
      const std::optional<uint32_t> low = CodeUnit();
      FIRN_RETURN_IF(!low.has_value() || *low < 0xdc00 || *low > 0xdfff,
                     Wrong("the second half of a surrogate pair"));
      *code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
    }
    FIRN_RETURN_IF(*code >= 0xdc00 && *code <= 0xdfff, Wrong("the first half of a pair"));
    at_ += 6;
    AppendUtf8(*code, out);
    return absl::OkStatus();
  }

  // Of "\uXXXX" here.
  std::optional<uint32_t> CodeUnit() const {
    if (text_.substr(at_, 2) != "\\u" || text_.size() - at_ < 6) return std::nullopt;
    uint32_t code = 0;
    for (char c : text_.substr(at_ + 2, 4)) {
      const size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
      if (digit == std::string_view::npos) return std::nullopt;
      code = code * 16 + static_cast<uint32_t>(digit < 16 ? digit : digit - 6);
    }
    return code;
  }

  static void AppendUtf8(uint32_t code, std::string* out) {
    if (code < 0x80) {
      *out += static_cast<char>(code);
      return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr uint32_t kLeads[] = {0, 0xc0, 0xe0, 0xf0};
    *out += static_cast<char>(kLeads[more] | code >> 6 * more);
    for (int i = more - 1; i >= 0; --i) *out += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

RecordValue ParseCsvValue(std::string_view text, bool quoted) {
  if (quoted) return RecordValue(std::string(text));
  if (text.empty()) return RecordValue();
  if (text == "true" || text == "false") return RecordValue(text == "true");
  const std::optional<double> number = ParseNumber(text);
  return number.has_value() ? NumberOf(text, *number) : RecordValue(std::string(text));
}

std::string NumberText(double value, std::string_view nan, std::string_view infinity) {
  if (std::isnan(value)) return std::string(nan);
  if (std::isinf(value)) return (value < 0 ? "-" : "") + std::string(infinity);
  std::string text = Shortest(value);
  // So that it reads back as a number and not as a whole one.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

bool IsCsvHeading(const std::vector<RecordValue>& first) {
  return std::all_of(first.begin(), first.end(), [](const RecordValue& v) {
    return v.kind() == RecordValue::Kind::kText || v.kind() == RecordValue::Kind::kNone;
  });
}

absl::StatusOr<std::vector<RecordValue>> ParseCsvRecord(std::string_view record, size_t most) {
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  std::vector<RecordValue> values;
  for (bool more = true; more;) {
    std::string text;
    const bool quoted = record.starts_with('"');
    size_t at = 0;
    if (quoted) {
      for (++at;; ++at) {
        const size_t end = record.find('"', at);
        FIRN_RETURN_IF(
            end == std::string_view::npos,
            DataLoss("field ", values.size(), ": expected a closing quote, got ", Shown(record)));
        text += record.substr(at, end - at);
        at = end + 1;
        if (!record.substr(at).starts_with('"')) break;
        text += '"';
      }
    } else {
      at = std::min(record.find(','), record.size());
      text = record.substr(0, at);
    }
    more = at < record.size();
    FIRN_RETURN_IF(more && record[at] != ',',
                   DataLoss("field ", values.size(), ": expected a comma after the quotes, got ",
                            Shown(record.substr(at))));
    FIRN_RETURN_IF(values.size() == most, TooMany(most));
    values.push_back(ParseCsvValue(text, quoted));
    record.remove_prefix(more ? at + 1 : record.size());
  }
  return values;
}

absl::StatusOr<JsonLinesWriter::Fields> ParseJsonRecord(std::string_view line, size_t most) {
  return JsonParser(line).Object(most);
}

}  // namespace firn::io::internal

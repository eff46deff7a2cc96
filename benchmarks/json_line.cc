// A cursor over the line: object = '{' [ string ':' value { ',' string ':' value } ] '}'.
#include "benchmarks/json_line.h"

#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "firn/device/status_macros.h"

namespace firn::benchmarks {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view line) : line_(line) {}

  // Skips blanks, then takes `c` when it stands here.
  bool Take(char c) {
    while (at_ < line_.size() && std::string_view(" \t\r\n").find(line_[at_]) != line_.npos) ++at_;
    if (at_ == line_.size() || line_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool AtEnd() {
    Take('\n');
    return at_ == line_.size();
  }

  // A string whose opening quote has been taken. Escapes of two characters only: commands have no
  // others.
  absl::StatusOr<std::string> Text() {
    std::string text;
    for (; at_ < line_.size(); ++at_) {
      const char c = line_[at_];
      if (c == '"') {
        ++at_;
        return text;
      }
      if (c != '\\') {
        text += c;
        continue;
      }
      const size_t escape = ++at_ < line_.size() ? std::string_view("\"\\/nt").find(line_[at_])
                                                 : std::string_view::npos;
      if (escape == std::string_view::npos) return Wrong("an escape that is known");
      text += "\"\\/\n\t"[escape];
    }
    return Wrong("the end of a string");
  }

  // true, null, 1e-3, ...: what no string, array or object is.
  absl::StatusOr<std::string> Word() {
    const size_t end = line_.find_first_of(",} \t\r\n", at_);
    const std::string word(line_.substr(at_, end - at_));
    double unused;
    if (word != "true" && word != "false" && word != "null" && !absl::SimpleAtod(word, &unused)) {
      return Wrong("a string, a number, true, false or null");
    }
    at_ = end;
    return word;
  }

  absl::Status Wrong(const char* expected) const {
    return InvalidArgument("JSON: expected ", expected, " at character ", at_);
  }

 private:
  const std::string_view line_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<JsonLine> JsonLine::Parse(std::string_view line) {
  Parser p(line);
  JsonLine object;
  FIRN_RETURN_IF(!p.Take('{'), p.Wrong("'{'"));
  bool more = !p.Take('}');
  while (more) {
    FIRN_RETURN_IF(!p.Take('"'), p.Wrong("a key in quotes"));
    FIRN_ASSIGN_OR_RETURN(const std::string key, p.Text());
    FIRN_RETURN_IF(!p.Take(':'), p.Wrong("':'"));
    Value value{.is_text = p.Take('"'), .text = {}};
    FIRN_ASSIGN_OR_RETURN(value.text, value.is_text ? p.Text() : p.Word());
    object.values_[key] = std::move(value);
    more = p.Take(',');
    FIRN_RETURN_IF(!more && !p.Take('}'), p.Wrong("',' or '}'"));
  }
  FIRN_RETURN_IF(!p.AtEnd(), p.Wrong("the end of the line"));
  return object;
}

absl::StatusOr<std::string> JsonLine::Text(const std::string& key) const {
  const auto it = values_.find(key);
  FIRN_RETURN_IF(it == values_.end() || !it->second.is_text,
                 InvalidArgument("'", key, "' must be a string"));
  return it->second.text;
}

absl::StatusOr<int64_t> JsonLine::Integer(const std::string& key) const {
  const auto it = values_.find(key);
  int64_t number = 0;
  FIRN_RETURN_IF(
      it == values_.end() || it->second.is_text || !absl::SimpleAtoi(it->second.text, &number),
      InvalidArgument("'", key, "' must be an integer"));
  return number;
}

absl::StatusOr<std::string> JsonLine::TextOr(const std::string& key,
                                             const std::string& otherwise) const {
  if (!values_.contains(key)) return otherwise;
  return Text(key);
}

absl::StatusOr<int64_t> JsonLine::IntegerOr(const std::string& key, int64_t otherwise) const {
  if (!values_.contains(key)) return otherwise;
  return Integer(key);
}

}  // namespace firn::benchmarks

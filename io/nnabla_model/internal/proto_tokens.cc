#include "firn/io/nnabla_model/internal/proto_tokens.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

bool IsNameByte(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// At most `most` digits at the front of `text`, taken off; none where there is none.
std::optional<uint32_t> Digits(std::string_view* text, size_t most, int base) {
  uint32_t value = 0;
  const char* begin = text->data();
  const auto [end, error] =
      std::from_chars(begin, begin + std::min(most, text->size()), value, base);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - begin));
  return value;
}

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr int kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  *out += static_cast<char>(static_cast<uint32_t>(kFirst[more]) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) *out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
}

// Takes the escape behind a backslash off the front of `text`, and gives its bytes.
absl::Status Escape(std::string_view* text, std::string* out) {
  constexpr std::string_view kLetters = "abfnrtv?\\'\"", kBytes = "\a\b\f\n\r\t\v?\\'\"";
  const char c = text->front();
  if (const size_t known = kLetters.find(c); known != kLetters.npos) {
    *out += kBytes[known];
    text->remove_prefix(1);
    return absl::OkStatus();
  }
  if (IsDigit(c)) {
    const std::optional<uint32_t> code = Digits(text, 3, 8);
    FIRN_RETURN_IF(!code || *code > 255, DataLoss("expected \\0 to \\377"));
    *out += static_cast<char>(*code);
    return absl::OkStatus();
  }
  text->remove_prefix(1);
  if (c == 'x' || c == 'X') {
    const std::optional<uint32_t> code = Digits(text, 2, 16);
    FIRN_RETURN_IF(!code, DataLoss("expected hexadecimal digits behind \\x"));
    *out += static_cast<char>(*code);
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(c != 'u' && c != 'U', DataLoss("expected an escape, got \\", std::string(1, c)));
  const size_t digits = c == 'u' ? 4 : 8, had = text->size();
  const std::optional<uint32_t> code = Digits(text, digits, 16);
  FIRN_RETURN_IF(!code || had - text->size() != digits || *code > 0x10ffff,
                 DataLoss("expected ", digits, " hexadecimal digits of a code point behind \\",
                          std::string(1, c)));
  // Halves of surrogates give invalid UTF-8, which the reader reports.
  AppendUtf8(*code, out);
  return absl::OkStatus();
}

}  // namespace

std::string ProtoTokens::PlaceOf(size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t begin = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  return absl::StrCat("line ", lines + 1, ", column ", at - begin + 1);
}

void ProtoTokens::Advance() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      ++at_;
    } else {
      break;
    }
  }
  now_ = {ProtoToken::kEnd, {}, at_};
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  const bool number = IsDigit(c) || (c == '.' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1]));
  now_.kind = number                  ? ProtoToken::kNumber
              : c == '"' || c == '\'' ? ProtoToken::kString
              : IsNameByte(c)         ? ProtoToken::kName
                                      : ProtoToken::kMark;
  const size_t end = EndOf(at_);
  now_.text = text_.substr(at_, end - at_);
  at_ = end;
}

size_t ProtoTokens::EndOf(size_t at) const {
  const char first = text_[at++];
  const auto has = [&] { return at < text_.size(); };
  switch (now_.kind) {
    case ProtoToken::kName:
      while (has() && IsNameByte(text_[at])) ++at;
      return at;
    case ProtoToken::kNumber: {
      const bool hex = first == '0' && has() && (text_[at] == 'x' || text_[at] == 'X');
      while (has()) {
        const char before = text_[at - 1];
        const bool exponent = !hex && (before == 'e' || before == 'E');
        const bool sign = exponent && (text_[at] == '+' || text_[at] == '-');
        if (!IsNameByte(text_[at]) && text_[at] != '.' && !sign) break;
        ++at;
      }
      return at;
    }
    case ProtoToken::kString:
      while (has() && text_[at] != '\n') {
        const char c = text_[at++];
        if (c == first) break;
        if (c == '\\' && has() && text_[at] != '\n') ++at;
      }
      return at;
    default:
      return at;
  }
}

std::optional<uint64_t> ProtoWhole(std::string_view text) {
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const bool hex = text[1] == 'x' || text[1] == 'X';
    base = hex ? 16 : 8;
    text.remove_prefix(hex ? 2 : 1);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ProtoReal(std::string_view text) {
  std::string lower(text);
  absl::AsciiStrToLower(&lower);
  for (const std::string_view word : {"inf", "infinity", "nan", "inff", "infinityf", "nanf"}) {
    if (lower != word) continue;
    return word[0] == 'i' ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  }
  if (!text.empty() && (text.back() == 'f' || text.back() == 'F')) text.remove_suffix(1);
  // Words that the function below would accept although they are no numbers.
  if (text.empty() || (!IsDigit(text[0]) && text[0] != '.')) return std::nullopt;
  if (text.find_first_of("xX") != text.npos) return std::nullopt;
  double value = 0;
  if (!absl::SimpleAtod(std::string(text), &value)) return std::nullopt;
  return value;
}

absl::StatusOr<std::string> ProtoUnquote(std::string_view text) {
  const char quote = text.front();
  std::string out;
  text.remove_prefix(1);
  while (!text.empty()) {
    const char c = text.front();
    if (c == quote) return out;
    text.remove_prefix(1);
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.empty()) break;
    FIRN_RETURN_IF_ERROR(Escape(&text, &out));
  }
  return DataLoss("expected a quote at the end of the string on its line");
}

}  // namespace firn::io::internal

#include "firn/io/number_text.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "absl/strings/str_format.h"

namespace firn::io {
namespace {

template <class T>
std::optional<T> Parse(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> ParseNumber(std::string_view text) { return Parse<double>(text); }
std::optional<int64_t> ParseInteger(std::string_view text) { return Parse<int64_t>(text); }

std::string FormatNumber(double value, int digits) {
  return std::isnan(value) ? "nan" : absl::StrFormat("%.*g", digits, value);
}

}  // namespace firn::io

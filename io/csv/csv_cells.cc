// A float holds all whole numbers up to 2^24 and a double those up to 2^53, so only larger ones are
// compared with their text, digit by digit.
#include "firn/io/csv/csv_cells.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <system_error>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"

namespace firn::io {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The digits of a whole number, without its sign and zeros before them; ".000" behind it says
// nothing. Null data if `text` is no whole number.
std::string_view WholeDigits(std::string_view text) {
  text = internal::Trim(text);
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  size_t digits = 0, end = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  end = digits;
  if (end < text.size() && text[end] == '.') ++end;
  while (end > digits && end < text.size() && text[end] == '0') ++end;
  if (digits == 0 || end != text.size()) return {};
  text = text.substr(0, digits);
  while (text.size() > 1 && text[0] == '0') text.remove_prefix(1);
  return text;
}

template <class T>
CellError ParseWhole(std::string_view text, T* value) {
  double number = 0;  // to tell other numbers from text
  const std::string_view digits = WholeDigits(text);
  if (digits.data() == nullptr) {
    const std::errc error = internal::ParseNumber(text, &number);
    if (error == std::errc::invalid_argument || std::isnan(number)) return CellError::kNoNumber;
    return CellError::kInexact;
  }
  const bool negative = internal::Trim(text)[0] == '-';
  uint64_t size = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  static_cast<void>(stop);
  const auto most = static_cast<uint64_t>(std::numeric_limits<T>::max());
  const uint64_t bound = !negative ? most : std::is_signed_v<T> ? most + 1 : 0;
  if (error != std::errc() || size > bound) return CellError::kInexact;
  *value = static_cast<T>(negative ? 0 - size : size);
  return CellError::kNone;
}

// The shortest text that says the number, which is what a person would write.
std::string TextOf(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(std::begin(text), std::end(text), number);
  static_cast<void>(error);  // 24 characters are always enough
  return std::string(text, end);
}

template <class T>
absl::StatusOr<double> MissingValueOf(std::string_view who, double number, DType dtype,
                                      bool round) {
  const std::string shown = TextOf(number);
  const bool all_digits = std::is_integral_v<T> && std::trunc(number) == number;
  T value = 0;
  FIRN_RETURN_IF(
      ParseCell(all_digits ? absl::StrFormat("%.0f", number) : shown, round, &value) !=
          CellError::kNone,
      InvalidArgument(who, ": missing_value is ", shown, " (want ", WantedOf(dtype), ")"));
  return static_cast<double>(value);
}

}  // namespace

bool IsNanCell(std::string_view text) {
  double number = 0;
  return internal::ParseNumber(text, &number) == std::errc() && std::isnan(number);
}

bool IsExactCell(std::string_view text, double value) {
  const std::string_view digits = WholeDigits(text);
  if (digits.data() == nullptr) return true;
  value = std::abs(value);
  if (digits.size() <= 18) {
    uint64_t size = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), size);
    return value < 1e18 && static_cast<uint64_t>(value) == size;
  }
  return absl::StrFormat("%.0f", value) == digits;
}

template <class T>
CellError ParseCell(std::string_view text, bool round, T* value) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T kAllBelow = T(int64_t{1} << std::numeric_limits<T>::digits);
    if (internal::ParseNumber(text, value) != std::errc()) return CellError::kNoNumber;
    const T size = std::abs(*value);
    if (size < kAllBelow || round || !std::isfinite(size)) [[likely]]
      return CellError::kNone;
    return IsExactCell(text, static_cast<double>(*value)) ? CellError::kNone : CellError::kInexact;
  } else {
    return ParseWhole(text, value);
  }
}

template CellError ParseCell(std::string_view text, bool round, float* value);
template CellError ParseCell(std::string_view text, bool round, double* value);
template CellError ParseCell(std::string_view text, bool round, int64_t* value);
template CellError ParseCell(std::string_view text, bool round, int32_t* value);
template CellError ParseCell(std::string_view text, bool round, uint8_t* value);

absl::StatusOr<double> MissingValue(std::string_view who, double number, DType dtype, bool round) {
  if (dtype == DType::kI64) return MissingValueOf<int64_t>(who, number, dtype, round);
  if (dtype == DType::kI32) return MissingValueOf<int32_t>(who, number, dtype, round);
  if (dtype == DType::kU8) return MissingValueOf<uint8_t>(who, number, dtype, round);
  if (dtype == DType::kF64) return MissingValueOf<double>(who, number, dtype, round);
  return MissingValueOf<float>(who, number, dtype, round);
}

absl::Status NoValueFor(const CsvField& field, DType dtype, double number) {
  return DataLoss("expected ", WantedOf(dtype), ", got ", internal::Shown(field.text),
                  ", and missing_value is ", TextOf(number));
}

absl::Status NoMeanFor(const CsvField& field, bool number, DType dtype, const std::string& advice) {
  if (!number) {
    return DataLoss("words have no mean to take the place of ", internal::Shown(field.text), " (",
                    advice, ")");
  }
  return DataLoss("expected a number, got ", internal::Shown(field.text), ": means are no ",
                  DTypeName(dtype), " (", advice, ")");
}

std::string WantedOf(DType dtype) {
  const auto range = [&](auto zero) {
    using T = decltype(zero);
    return absl::StrCat("a whole number from ", int64_t{std::numeric_limits<T>::min()}, " to ",
                        int64_t{std::numeric_limits<T>::max()}, " (", DTypeName(dtype), ")");
  };
  if (dtype == DType::kI64) return range(int64_t{});
  if (dtype == DType::kI32) return range(int32_t{});
  if (dtype == DType::kU8) return range(uint8_t{});
  return absl::StrCat("a number that ", DTypeName(dtype), " does not round");
}

}  // namespace firn::io

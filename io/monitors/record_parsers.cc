#include "firn/io/monitors/record_parsers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/json/internal/json_events.h"
#include "firn/io/number_text.h"

namespace firn::io {
namespace {

using internal::Field;
using internal::ReadJson;
using internal::Shown;
using internal::SplitRecord;

// A number that is written as a whole one becomes an integer if it fits.
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

// Fields of an object, from what a reader of JSON tells.
class FieldEvents final : public internal::JsonEvents {
 public:
  explicit FieldEvents(size_t most) : most_(most) {}

  JsonLinesWriter::Fields& fields() { return fields_; }

  absl::Status BeginObject() override {
    FIRN_RETURN_IF(begun_, Nested("an object"));
    begun_ = true;
    return absl::OkStatus();
  }
  absl::Status Key(std::string name) override {
    FIRN_RETURN_IF(!names_.insert(name).second,
                   DataLoss("expected different names, got ", Shown(name), " twice"));
    name_ = std::move(name);
    return absl::OkStatus();
  }
  absl::Status EndObject() override { return absl::OkStatus(); }
  absl::Status BeginArray() override { return Nested("an array"); }
  absl::Status EndArray() override { return absl::OkStatus(); }
  absl::Status String(std::string text) override {
    // Names of numbers that JSON lacks.
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (text == "NaN") return Add(std::numeric_limits<double>::quiet_NaN());
    if (text == "Infinity") return Add(kInfinity);
    if (text == "-Infinity") return Add(-kInfinity);
    return Add(std::move(text));
  }
  absl::Status Whole(uint64_t value) override {
    if (std::in_range<int64_t>(value)) return Add(static_cast<int64_t>(value));
    return Add(static_cast<double>(value));
  }
  absl::Status Number(double value, std::string_view text) override {
    return Add(NumberOf(text, value));
  }
  absl::Status Bool(bool value) override { return Add(value); }
  absl::Status Null() override { return Add({}); }

 private:
  absl::Status Nested(const char* what) const {
    return DataLoss(begun_ ? "expected a string, a number, true, false or null, got "
                           : "expected an object, got ",
                    what);
  }
  absl::Status Add(RecordValue value) {
    FIRN_RETURN_IF(!begun_, DataLoss("expected an object, got another value"));
    FIRN_RETURN_IF(fields_.size() == most_,
                   ResourceExhausted("more than ", most_, " fields in a record"));
    fields_.emplace_back(std::move(name_), std::move(value));
    return absl::OkStatus();
  }

  const size_t most_;
  bool begun_ = false;
  std::string name_;
  std::set<std::string> names_;
  JsonLinesWriter::Fields fields_;
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
  std::vector<Field> fields;
  FIRN_RETURN_IF_ERROR(SplitRecord(record, ',', &fields, most));
  std::vector<RecordValue> values;
  values.reserve(fields.size());
  for (const Field& field : fields) {
    values.push_back(ParseCsvValue(WordOf(field), field.quoted));
  }
  return values;
}

absl::StatusOr<JsonLinesWriter::Fields> ParseJsonRecord(std::string_view line, size_t most) {
  FieldEvents events(most);
  FIRN_RETURN_IF_ERROR(ReadJson(line, 2, &events));
  return std::move(events.fields());
}

}  // namespace firn::io

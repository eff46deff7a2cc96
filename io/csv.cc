// One pass over the text; std::from_chars reads the numbers, so the locale does not matter.
#include "io/csv.h"

#include <charconv>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "device/status_macros.h"
#include "io/internal/byte_source.h"
#include "tensor/from.h"

namespace firn::io {
namespace {

std::string_view Trim(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

// Cuts the text up to `end` off the front of `rest`, without the end character.
std::string_view Take(std::string_view* rest, char end) {
  const size_t at = rest->find(end);
  const std::string_view piece = rest->substr(0, at);
  rest->remove_prefix(at == std::string_view::npos ? rest->size() : at + 1);
  return piece;
}

// Appends the numbers of one line; the result is how many.
absl::StatusOr<int64_t> ParseLine(std::string_view line, char separator,
                                  std::vector<float>* values) {
  const size_t before = values->size();
  // A separator at the very end still starts a (empty, hence refused) field.
  for (bool more = true; more;) {
    more = line.find(separator) != std::string_view::npos;
    std::string_view field = Trim(Take(&line, separator));
    if (field.size() > 1 && field[0] == '+') field.remove_prefix(1);
    float value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size()) {
      return DataLoss("column ", values->size() - before + 1, ": expected a number, got '",
                      field.substr(0, 40), "'");
    }
    values->push_back(value);
  }
  return static_cast<int64_t>(values->size() - before);
}

}  // namespace

absl::StatusOr<Tensor> ParseCsv(const std::string& text, const std::string& name,
                                const CsvOptions& options) {
  std::vector<float> values;
  int64_t rows = 0, columns = 0, line_number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = Take(&rest, '\n');
    if (++line_number <= options.skip_lines) continue;
    if (Trim(line).empty()) {
      if (rest.find_first_not_of(" \t\r\n") == std::string_view::npos) break;
      return DataLoss(name, ": line ", line_number, ": expected numbers, got an empty line");
    }
    const absl::StatusOr<int64_t> found = ParseLine(line, options.separator, &values);
    if (!found.ok()) {
      return DataLoss(name, ": line ", line_number, ", ", std::string(found.status().message()));
    }
    if (rows == 0) columns = *found;
    FIRN_RETURN_IF(*found != columns, DataLoss(name, ": line ", line_number, ": expected ", columns,
                                               " columns, got ", *found));
    ++rows;
  }
  return FromVector(std::move(values), {rows, columns});
}

absl::StatusOr<Tensor> ReadCsv(const std::string& path, const CsvOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<internal::ByteSource> source,
                        internal::ByteSource::Open(path));
  FIRN_ASSIGN_OR_RETURN(const std::string text, source->ReadAll(options.limits.max_total_bytes));
  return ParseCsv(text, path, options);
}

}  // namespace firn::io

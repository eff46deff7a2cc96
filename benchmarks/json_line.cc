#include "benchmarks/json_line.h"

#include <cstdint>
#include <utility>

#include "firn/device/status_macros.h"

namespace firn::benchmarks {

absl::StatusOr<JsonLine> JsonLine::Parse(std::string_view line) {
  JsonLine object;
  object.values_ = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  FIRN_RETURN_IF(!object.values_.is_object(),
                 InvalidArgument("JSON: expected an object, got ", std::string(line)));
  return object;
}

absl::StatusOr<std::string> JsonLine::Text(const std::string& key) const {
  const auto it = values_.find(key);
  FIRN_RETURN_IF(it == values_.end() || !it->is_string(),
                 InvalidArgument("'", key, "' must be a string"));
  return it->get<std::string>();
}

absl::StatusOr<int64_t> JsonLine::Integer(const std::string& key) const {
  const auto it = values_.find(key);
  FIRN_RETURN_IF(it == values_.end() || !it->is_number_integer(),
                 InvalidArgument("'", key, "' must be an integer"));
  return it->get<int64_t>();
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

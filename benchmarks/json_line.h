#ifndef FIRN_BENCHMARKS_JSON_LINE_H_
#define FIRN_BENCHMARKS_JSON_LINE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace firn::benchmarks {

// A JSON object: a command to a worker of compare.py, on one line. A plain value.
class JsonLine {
 public:
  // Reads {"key": value, ...}. InvalidArgument if the line is no JSON object.
  static absl::StatusOr<JsonLine> Parse(std::string_view line);

  // InvalidArgument when the key is missing or has a value of another kind.
  absl::StatusOr<std::string> Text(const std::string& key) const;
  absl::StatusOr<int64_t> Integer(const std::string& key) const;
  // Returns `otherwise` if the key is missing.
  absl::StatusOr<std::string> TextOr(const std::string& key, const std::string& otherwise) const;
  absl::StatusOr<int64_t> IntegerOr(const std::string& key, int64_t otherwise) const;

 private:
  nlohmann::json values_;
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_JSON_LINE_H_
